// plait fit: linear models of samples, the same on any number of ranks.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"
#include "plait/io/slab.hpp"
#include "plait/learn/solver.hpp"

#include "cli/host/job.hpp"
#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/plane.hpp"
#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

class Fit : public Job {
  using Method = learn::Method;
  using Model = learn::Model;

 public:
  void options(Options& options) override {
    options.describe(
        "Fit a linear model to samples: numbers, or classes by logistic regression or an SVM",
        R"(Samples are the rows x of IN, each with a label y. Found are the weights W and intercepts b that make

    1/n sum of loss(W x + b, y) + 1/2 LAMBDA |W|^2

least: loss is (z - y)^2 / 2 (linear), -log of the probability of the right class (logistic), or max(0, 1 -+ z)^2, the
squared hinge, of each class against the rest (svm). Sums over samples are exact, random numbers depend on the seed and
the sample: weights have the same bits on any number of ranks.

Methods: lbfgs, which converges best; batch, gradient descent; minibatch and sgd, gradients of some samples or of one at
a time, made to converge by that of all before each epoch (SVRG); parallel-sgd, where each rank goes through its own
samples and then weights are averaged (SimuParallelSGD), which only comes near, and depends on the ranks.

Example:
  mpirun -n 4 plait fit X.npy --labels y.npy --model logistic --held-out 0.2 -o W.npy)");
    options.reads("IN", input_, fmt::format("The samples: {} of real numbers; .svm files become dense", matrix_file))
        ->required();
    options.reads(
        "--labels", labels_path_,
        "A label of each sample: numbers, or for classes whole ones; those of a .svm file where none is given");
    add_choice(options, "--model", chosen_,
               {{"linear", {Model::linear}}, {"logistic", {Model::logistic}}, {"svm", {Model::svm}}}, "MODEL", "{}")
        ->required();
    options
        .writes("-o,--output", output_, kind::matrix,
                "The weights: a .npy or HDF5 file with a row of each class, or one of numbers or two classes; the "
                "intercept is last")
        ->group(group::one_of);
    options.writes("--predictions", predictions_, kind::matrix, "What the model says of the samples of --predict")
        ->group(group::one_of);
    options.reads("--predict", others_, "Other samples, as many columns, to say the labels of");
    add_value(options, "--l2", options_.l2, parse_not_negative, "LAMBDA",
              "The weight of |W|^2 / 2; 1e-4 by default. scikit-learn's C is 1/(n LAMBDA), its alpha n LAMBDA");
    add_flag(options, "--no-intercept", no_intercept_, "Without b");
    add_value(options, "--held-out", held_out_.share, parse_held_out, "SHARE",
              "Samples to look at afterwards, and not to learn from, as 20% or 0.2, drawn at random; 0 by default");
    add_value(
        options, "--seed", seed_, [](const std::string& text) { return parse_count(text, 0); }, "NUMBER",
        "Of random numbers; 0 by default");
    add_choice(options, "--method", options_.method,
               {{"lbfgs", Method::lbfgs},
                {"batch", Method::batch},
                {"minibatch", Method::minibatch},
                {"sgd", Method::sgd},
                {"parallel-sgd", Method::parallel_sgd}},
               "METHOD", "{}")
        ->group(group::iteration);
    add_value(options, "--batch", options_.batch, parse_positive_count, "COUNT",
              "Samples of a minibatch; 64 by default")
        ->group(group::iteration);
    add_value(options, "--step", options_.step, parse_positive_number, "NUMBER",
              "Steps along the gradient, for columns of variance 1; as it turns out to be best by default")
        ->group(group::iteration);
    add_value(options, "--tolerance", options_.limits.tolerance, parse_positive_number, "NUMBER",
              "Of the gradient, for columns of variance 1; 1e-8 by default")
        ->group(group::iteration);
    add_value(options, "--max-iterations", options_.limits.most_iterations, parse_positive_count, "COUNT",
              "Steps, or epochs of minibatches; 10000 by default")
        ->group(group::iteration);
    options.host({.checkpoint_every = 100, .page = "the objective over iterations", .trace = true});
  }

  void check() override {
    model_ = *chosen_;
    if (others_.empty() != predictions_.empty()) throw UsageError("--predict and --predictions belong together");
    if (options_.step > 0 && options_.method == Method::lbfgs) {
      throw UsageError("--step is given, but --method is lbfgs");
    }
  }

  std::vector<Index> prepare(Work& work) override {
    file_ = io::describe_file(work.context, input_, io::columns);
    const bool has_own_labels = labels_path_.empty();
    if (has_own_labels) labels_path_ = input_;
    labels_file_ = io::describe_file(work.context, labels_path_, io::columns);
    if (labels_file_.kind == io::FileKind::svm) {
      labels_file_ = io::labels_of(labels_file_);
    } else if (has_own_labels) {
      throw ArgumentError(fmt::format("{} has no labels, expected them in a file of --labels", input_));
    }
    if (!others_.empty()) others_file_ = io::describe_file(work.context, others_, io::columns);
    return mpi::agreed(work.context, [&] {
      const auto expect = [](const std::string& path, const io::MatrixFile& file, layout::Shape shape,
                             const std::string& what) {
        expect_real(path, file);
        if (file.shape == shape) return;
        throw ArgumentError(
            fmt::format("{} is {}, expected {}: {}", path, io::shape_text(file), layout::to_string(shape), what));
      };
      expect(input_, file_, file_.shape, "");
      expect(labels_path_, labels_file_, {file_.shape.rows, 1}, "a label for each row of " + input_);
      if (!others_.empty()) {
        others_file_ = io::with_columns_of(input_, file_, others_, others_file_);
        expect(others_, others_file_, {others_file_.shape.rows, file_.shape.columns},
               fmt::format("the columns of {}, which is {}", input_, io::shape_text(file_)));
      }
      const auto phase = [&](const io::MatrixFile& file) {
        return quotient_up(file.shape.rows, work.context.size()) *
               (file.shape.columns * (Index{sizeof(double)} + io::bytes(file.dtype)) + 32);
      };
      phases_ = {phase(file_), others_.empty() ? 0 : phase(file_) + phase(others_file_)};
      return phases_;
    });
  }

  void run(Work& work) override { file_.dtype == io::DType::f32 ? find<float>(work) : find<double>(work); }

  void report(Report& report, Work& work) override {
    report.fact("input", input_json(input_, file_));
    report.fact("labels", labels_path_);
    const bool is_linear = model_ == Model::linear;
    report.head(fmt::format("{} of {}: {} of {}{}", report.fact("model", model_name()), input_,
                            counted(report.fact("samples", file_.shape.rows), "sample"),
                            counted(report.fact("columns", file_.shape.columns), "column"),
                            is_linear ? "" : fmt::format(", {} classes", report.fact("classes", classes_).size())));
    const std::string method = report.fact_in_row("method", "method", name(options_.method));
    report.line("method",
                fmt::format("{}, lambda {}", method, report.fact_in_row("l2", "lambda", options_.l2, "{:g}")));
    report.fact("seed", seed_);
    report.iterations(state_, iterate_seconds_, resumed_at_);
    report.fact("objectives", objectives_);
    report.row("status", fmt::format("{}: {}", status_of(state_.end), svg::escaped(state_.reason)));
    const std::string objective = report.fact_in_row("objective", "objective", objectives_.back(), "{:.10g}");
    const std::string gradient =
        fmt::format("{:.2e}, tolerance {:g}", report.fact("gradient", state_.error), options_.limits.tolerance);
    report.row("gradient", gradient);
    report.line("objective", fmt::format("{}; gradient {}", objective, gradient));
    const std::string key = is_linear ? "r2" : "accuracy";
    std::string quality =
        fmt::format("{:.6g} of those to learn from", report.fact(key + ".training", quality_.training));
    if (report.fact("held_out", quality_.samples_held_out) > 0) {
      report.fact(key + ".held_out", quality_.held_out);
      quality +=
          fmt::format(", {:.6g} of {} held out", quality_.held_out, counted(quality_.samples_held_out, "sample"));
    }
    report.line(is_linear ? "R^2" : "accuracy", quality);
    report.fact("output", output_json(output_));
    report.fact_or_null("predictions", predictions_);
    report.fact_or_null("report", settings.page);
    work.report_end(report, "");
    if (state_.end != iterate::End::converged) {
      print_warning(fmt::format("{}: {}", status_of(state_.end), state_.reason));
    }
  }

  void draw(Report& report, Work& work) override {
    report.page_head(input_, fmt::format("{} on {}", model_name(), counted(work.context.size(), "rank")));
    const std::string quality = model_ == Model::linear ? "R²" : "accuracy";
    report.tile(fmt::format("{:.4g}", quality_.training), quality + " of samples to learn from");
    if (quality_.samples_held_out > 0) {
      report.tile(fmt::format("{:.4g}", quality_.held_out),
                  fmt::format("{} of {} held out", quality, counted(quality_.samples_held_out, "sample")));
    }
    report.figure(objective_figure("objective", objectives_, {}));
  }

 private:
  [[nodiscard]] static double parse_held_out(const std::string& text) {
    const double share = parse_share(text);
    if (share < 1) return share;
    throw ArgumentError(fmt::format("'{}' leaves no sample to learn from; expected a share below 1", text));
  }
  [[nodiscard]] const char* model_name() const {
    return std::array{"linear", "logistic", "svm"}[static_cast<std::size_t>(model_)];
  }

  template <class T>
  static simd::RowBlock<const T> block(const layout::DistributedMatrix<T>& matrix) {
    const auto& tile = matrix.const_tiles()[0];
    return {tile.data(), tile.rows(), tile.columns(), tile.leading_dimension()};
  }

  template <class T>
  void find(Work& work) {
    mpi::Context& context = work.context;
    const auto matrix = work.read_rows<T>(input_, file_);
    const auto labels = work.read_rows<double>(labels_path_, labels_file_);
    const auto* const first = labels.const_tiles()[0].data();
    held_out_.seed = options_.seed = static_cast<std::uint64_t>(seed_);
    options_.intercept = !no_intercept_;
    const learn::Samples<T> samples(context, block(matrix), {first, at(block(labels).rows)}, model_, held_out_);
    for (Index& phase : phases_) {  // how many classes there are was not known
      phase += learn::bytes_of_solver(options_.method, samples.outputs(), samples.dimension());
    }
    work.expect_memory(phases_);
    Checkpoints checkpoints(context, settings, options_.limits.most_iterations,
                            {{input_, labels_path_},
                             {{"model", model_name()},
                              {"method", name(options_.method)},
                              {"l2", options_.l2},
                              {"intercept", options_.intercept},
                              {"batch", options_.batch},
                              {"step", options_.step},
                              {"held out", held_out_.share},
                              {"seed", seed_}}});
    resumed_at_ = checkpoints.resumed_at();
    learn::Solver<T> solver(samples, options_);
    iterate_seconds_ = work.timed([&] {
      work.iterate(solver, checkpoints, [&] {
        return fmt::format("iteration {}, objective {:.10g}, gradient {:.2e}", solver.state().step + 1,
                           solver.objectives().back(), solver.state().error);
      });
    });
    state_ = solver.state();
    objectives_ = solver.objectives();
    classes_ = samples.classes();
    quality_ = solver.quality();
    const learn::Weights weights = solver.weights();
    if (!output_.empty()) {
      const layout::Shape shape{samples.outputs(), samples.dimension() + 1};
      auto result = work.allocated<double>(
          mpi::agreed(context, [&] { return io::slab_layout(shape, StorageOrder::row_major, context.size()); }),
          output_);
      result.for_each_element([&](Index k, Index c, double& each) { each = weights[k * shape.columns + c]; });
      work.write_matrix(output_, result);
    }
    if (!predictions_.empty()) {
      model_ == Model::linear ? predict<T, double>(work, samples, solver)
                              : predict<T, std::int32_t>(work, samples, solver);
    }
    checkpoints.end(state_.end, state_.reason);
  }

  template <class T, class Label>
  void predict(Work& work, const learn::Samples<T>& samples, const learn::Solver<T>& solver) const {
    const auto matrix = work.read_rows<T>(others_, others_file_);
    const layout::Shape shape{others_file_.shape.rows, 1};
    auto result = work.allocated<Label>(
        mpi::agreed(work.context, [&] { return io::slab_layout(shape, StorageOrder::row_major, work.context.size()); }),
        predictions_);
    mpi::agreed(work.context, [&] {
      std::vector<double> z;
      Vector<Index> rows;
      for (Index i = 0; i < block(matrix).rows; ++i) {
        rows.push_back(i);
        if (rows.count() < samples.rows_at_once() && i + 1 < block(matrix).rows) continue;
        solver.outputs(block(matrix), rows, z);
        for (Index r = 0; r < rows.count(); ++r) {
          const std::span<const double> its = std::span(z).subspan(at(r * samples.outputs()), at(samples.outputs()));
          result.tiles()[0].data()[rows[r]] = static_cast<Label>(learn::prediction(model_, samples.classes(), its));
        }
        rows.clear();
      }
    });
    work.write(predictions_, result.layout(), Index{sizeof(Label)}, [&](const io::Progress& progress) {
      io::write_matrix_file(work.context, predictions_, {1, {shape.rows}}, result, progress);
    });
  }

  std::string input_, labels_path_, output_, others_, predictions_;
  std::optional<Model> chosen_;
  Model model_ = Model::linear;
  learn::Options options_;
  learn::HeldOut held_out_;
  Index seed_ = 0;
  bool no_intercept_ = false;
  io::MatrixFile file_, labels_file_, others_file_;
  std::vector<Index> phases_;  // of memory
  // What was found.
  iterate::State state_;
  double iterate_seconds_ = 0;
  std::vector<double> objectives_, classes_;
  learn::Quality quality_;
  Index resumed_at_ = 0;
};

}  // namespace

PLAIT_JOB(fit, Fit)

}  // namespace plait::cli
