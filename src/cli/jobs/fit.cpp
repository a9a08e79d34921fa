// plait fit: linear models of samples, the same on any number of ranks.

#include "plait/base/rounding.hpp"
#include "plait/kmeans/balance.hpp"
#include "plait/kmeans/solver.hpp"
#include "plait/kmeans/start.hpp"
#include "plait/learn/pieces.hpp"
#include "plait/learn/solver.hpp"

#include "cli/learn/labelled_samples.hpp"
#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

class Fit : public Job {
  using Exchange = iterate::Exchange;
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
the sample: weights have the same bits on any number of ranks, but by the last two methods.

Methods: lbfgs, which converges best; batch, gradient descent; minibatch and sgd, gradients of some samples or of one at
a time, made to converge by that of all before each epoch (SVRG); parallel-sgd, where each rank goes through its own
samples and then weights are averaged (SimuParallelSGD), which only comes near, and depends on the ranks; asgd, the same
by minibatches that converge, where ranks send each other their weights without waiting: a slow rank does less, others
more. Its weights depend on the clock, to the tolerance.

With --pieces k-means cuts the samples into pieces of at most 1/P of them, and each gets a model of its own (CA-SVM), on
ranks of its own: no message goes from piece to piece. A sample is said what the model of the nearest centre says of it.

Example:
  mpirun -n 4 plait fit X.npy --labels y.npy --model logistic --held-out 0.2 -o W.npy)");
    samples_.options(options);
    add_choice(options, "--model", chosen_,
               {{"linear", {Model::linear}}, {"logistic", {Model::logistic}}, {"svm", {Model::svm}}}, "MODEL", "{}")
        ->required();
    options
        .writes("-o,--output", output_, kind::matrix,
                "The weights: a .npy or HDF5 file with a row of each class, or one of numbers or two classes; the "
                "intercept is last; with --pieces those of each piece after the other")
        ->group(group::one_of);
    samples_.prediction_options(options);
    add_value(options, "--l2", options_.l2, parse_not_negative, "LAMBDA",
              "The weight of |W|^2 / 2; 1e-4 by default. scikit-learn's C is 1/(n LAMBDA), its alpha n LAMBDA");
    add_flag(options, "--no-intercept", no_intercept_, "Without b");
    add_value(options, "--pieces", pieces_, parse_positive_count, "P", "Pieces of samples with a model each");
    options.writes("--centres", centres_path_, kind::matrix, "The centres of --pieces: a .npy or HDF5 file, P rows");
    options.group(group::iteration);
    add_choice(options, "--method", options_.method,
               {{"lbfgs", Method::lbfgs},
                {"batch", Method::batch},
                {"minibatch", Method::minibatch},
                {"sgd", Method::sgd},
                {"parallel-sgd", Method::parallel_sgd},
                {"asgd", Method::asgd}},
               "METHOD", "{}");
    add_value(options, "--batch", batch_, parse_positive_count, "COUNT",
              "Samples of a minibatch, also of asgd; 64 by default");
    add_value(options, "--step", options_.step, parse_positive_number, "NUMBER",
              "Steps along the gradient, for columns of variance 1; as it turns out to be best by default");
    add_value(options, "--tolerance", options_.limits.tolerance, parse_positive_number, "NUMBER",
              "Of the gradient, for columns of variance 1; 1e-4 by default; a smaller one rarely predicts better");
    add_value(options, "--max-iterations", most_iterations_, parse_count_from_0, "COUNT",
              "Steps, or epochs of minibatches; 10000 by default, 100 of parallel-sgd, and 0 only with --start");
    add_choice(options, "--exchange", exchange_,
               {{"states", {Exchange::states}},
                {"gossip", {Exchange::gossip}},
                {"server", {Exchange::server}},
                {"nothing", {Exchange::nothing}}},
               "EXCHANGE",
               "What ranks tell each other in asgd: {}; states by default. With minibatch and sgd, server lets rank 0 "
               "add up, instead of all ranks together");
    options.host({.checkpoint_every = 100, .page = "the objective over iterations", .trace = true});
  }

  void check() override {
    model_ = *chosen_;
    Index& most = options_.limits.most_iterations;
    most = most_iterations_.value_or(options_.method == Method::parallel_sgd ? 100 : most);
    samples_.check("--max-iterations", most);
    const auto refuse = [&](const char* option, const char* expected) {
      throw UsageError("{} is given, but --method is {}, expected {}", option, name(options_.method), expected);
    };
    if (options_.step > 0 && options_.method == Method::lbfgs) refuse("--step", "another one");
    if (batch_ && options_.method != Method::minibatch && options_.method != Method::asgd) {
      refuse("--batch", "minibatch or asgd");
    }
    options_.batch = batch_.value_or(options_.batch);
    if (exchange_) {
      const bool has_steps = options_.method == Method::minibatch || options_.method == Method::sgd;
      if (has_steps ? *exchange_ != Exchange::server : options_.method != Method::asgd) {
        refuse(fmt::format("--exchange {}", name(*exchange_)).c_str(),
               *exchange_ == Exchange::server ? "minibatch, sgd or asgd" : "asgd");
      }
      options_.exchange = *exchange_;
    }
    if (!centres_path_.empty() && !pieces_) throw UsageError("--centres is given, but not --pieces");
    if (!pieces_) return;
    if (!samples_.start().empty()) throw UsageError("--start is given, but --pieces have other weights");
    if (options_.method == Method::parallel_sgd || options_.method == Method::asgd) {
      refuse("--pieces", "lbfgs, batch, minibatch or sgd");
    }
    if (!settings.checkpoint.empty()) throw UsageError("--checkpoint is given, but pieces are fitted without a stop");
  }

  std::vector<Index> prepare(Work& work) override { return samples_.prepare(work); }

  [[nodiscard]] std::vector<ErrorWord> error_words() const override { return {{"weights to begin with", "--start"}}; }

  void run(Work& work) override {
    if (!samples_.has_labels()) {
      say(work);
      return;
    }
    samples_.read(work, model_, [&](const learn::Samples& samples) { find(work, samples); });
  }

  void report(Report& report, Work& work) override {
    const bool is_linear = model_ == Model::linear;
    const std::string samples = samples_.report_input(report);
    report.head("{} of {}: {}{}", report.fact("model", model_name()), samples_.input().path, samples,
                is_linear ? "" : fmt::format(", {} classes", report.fact("classes", classes_).size()));
    if (samples_.has_labels()) report_fitting(report);
    samples_.report(report, quality_, is_linear);
    report.fact("output", output_json(output_));
    if (pieces_) report.fact_or_null("centres", centres_path_);
    work.report_end(report, "");
    using iterate::End;
    if (const End end = iterated_.state.end; samples_.has_labels() && end != End::converged && end != End::finished) {
      print_warning("{}: {}", status_of(end), iterated_.state.reason);
    }
  }

  void draw(Report& report, Work& work) override {
    report.page_head(samples_.input().path,
                     fmt::format("{} on {}", model_name(), counted(work.context.size(), "rank")));
    samples_.draw(report, quality_, model_ == Model::linear);
    if (!pieces_ && !objectives_.empty()) report.figure(objective_figure("objective", objectives_, {}));
  }

 private:
  [[nodiscard]] const char* model_name() const {
    return std::array{"linear", "logistic", "svm"}[static_cast<std::size_t>(model_)];
  }

  void report_fitting(Report& report) const {
    const std::string method = report.fact_in_row("method", "method", name(options_.method));
    report.line("method", "{}, lambda {}", method, report.fact_in_row("l2", "lambda", options_.l2, "{:g}"));
    report.fact("seed", samples_.seed());
    report.iterations(iterated_);
    if (options_.method == Method::asgd) {
      report.line("exchange", "{}; {} of other ranks taken into account",
                  report.fact("exchange", name(options_.exchange)),
                  counted(report.fact("states_taken", mixed_), "state"));
    }
    if (pieces_) report_pieces(report);
    report.row("status", "{}: {}", status_of(iterated_.state.end), svg::escaped(iterated_.state.reason));
    if (objectives_.empty()) return;
    const std::string objective = report.fact_in_row("objective", "objective", objectives_.back(), "{:.10g}");
    const std::string gradient = fmt::format("{:.2e}, tolerance {:g}", report.fact("gradient", iterated_.state.error),
                                             options_.limits.tolerance);
    report.row("gradient", gradient);
    report.line("objective", "{}; gradient {}", objective, gradient);
  }

  void find(Work& work, const learn::Samples& samples) {
    mpi::Context& context = work.context;
    options_.seed = samples_.seed();
    options_.intercept = !no_intercept_;
    classes_ = samples.classes();
    if (pieces_) {
      samples.own().element_bytes() == Index{sizeof(float)} ? find_pieces<float>(work, samples)
                                                            : find_pieces<double>(work, samples);
      return;
    }
    // How many classes there are was not known.
    samples_.expect_memory(work, learn::bytes_of_solver(context, options_, samples.outputs(), samples.dimension()));
    Checkpoints checkpoints(context, settings, options_.limits.most_iterations,
                            samples_.identity({{"model", model_name()},
                                               {"method", name(options_.method)},
                                               {"l2", options_.l2},
                                               {"intercept", options_.intercept},
                                               {"batch", options_.batch},
                                               {"step", options_.step}},
                                              "--max-iterations"));
    learn::Weights start;
    if (!samples_.start().empty()) start = read_start(work, samples.dimension() + 1);
    learn::Solver solver(samples, options_, start.empty() ? nullptr : &start);
    iterated_ = work.iterate(solver, checkpoints, [&] {
      return fmt::format("iteration {}, objective {:.10g}, gradient {:.2e}", solver.state().step + 1,
                         solver.objectives().back(), solver.state().error);
    });
    objectives_ = solver.objectives();
    quality_ = solver.quality();
    mixed_ = mpi::all_reduce(context.comm(), solver.mixed(), mpi::Operation::sum());
    const learn::LinearModel model = solver.model();
    write(work, output_, model.weights(), samples.dimension() + 1);
    say_by(work, model);
    checkpoints.end(iterated_.state.end, iterated_.state.reason);
  }

  template <class T>
  void find_pieces(Work& work, const learn::Samples& samples) {
    const Index d = samples.dimension();
    const Index own = quotient_up(samples.training(), work.context.size()) * (d * Index{sizeof(T)} + 32);
    // Samples to learn from, on their way, and those of pieces.
    samples_.expect_memory(work, 4 * own + *pieces_ * (samples.outputs() + 2) * (d + 1) * 4 * Index{sizeof(double)});
    std::vector<T> x;
    mpi::agreed(work.context, [&] {
      samples.for_each_block(false, [&](std::span<const Index> rows) {
        for (const Index i : rows) {
          x.resize(x.size() + at(d));
          std::ranges::copy(samples.own().bytes(i), std::as_writable_bytes(std::span(x).last(at(d))).begin());
        }
      });
    });
    const std::vector<ErrorWord> words{{"the number of clusters ", "--pieces"}, {"the data ", samples_.input().path}};
    const kmeans::Pieces<T> cut = work.in_words(words, [&] {
      work.meter.stage("cutting into pieces", 0, 0);
      const kmeans::Points<T> points(work.context, {x.data(), static_cast<Index>(x.size()) / d, d, d});
      kmeans::Solver<T> clusters(points, kmeans::spread_centres(points, *pieces_, samples_.seed()), {});
      iterate::run(clusters);
      return kmeans::balanced(points, clusters.centres(), clusters.assignment().labels());
    });
    std::vector<T>().swap(x);
    work.meter.stage("fitting pieces", 0, 0);
    iterated_.seconds = work.timed([&] { found_ = learn::fit_pieces(samples, cut.labels, *pieces_, options_); });
    objectives_ = {0};
    iterate::State& state = iterated_.state;
    state = {.end = iterate::End::converged, .reason = "all pieces are within the tolerance"};
    learn::Weights weights;
    for (std::size_t p = 0; p < found_.size(); ++p) {
      const learn::FittedPiece& piece = found_[p];
      objectives_[0] += piece.objective * static_cast<double>(piece.samples) / static_cast<double>(samples.training());
      state.step = std::max(state.step, piece.state.step);
      state.error = std::max(state.error, piece.state.error);
      if (piece.state.end != iterate::End::converged && state.end == iterate::End::converged) {
        state.end = piece.state.end;
        state.reason = fmt::format("the error of piece {} is {:.2g}", p, piece.state.error);
      }
      const learn::Weights its = piece.model.weights();
      weights.insert(weights.end(), its.begin(), its.end());
    }
    const auto centres = cut.rows(d);
    std::vector<double> z;
    std::vector<T> point(at(d));
    const auto predict = [&](const learn::Rows& others, std::span<const Index> rows, std::vector<double>& said) {
      said.clear();
      for (const Index& row : rows) {
        std::ranges::copy(others.bytes(row), std::as_writable_bytes(std::span(point)).begin());
        const Index nearest = kmeans::nearest_centre(point.data(), centres);
        found_[at(nearest)].model.outputs(others, {&row, 1}, z);
        said.push_back(learn::prediction(model_, classes_, z));
      }
    };
    quality_ = learn::quality_of(
        samples, [&](std::span<const Index> rows, std::vector<double>& said) { predict(samples.own(), rows, said); });
    write(work, output_, weights, d + 1);
    write(work, centres_path_, std::vector<double>(cut.centres.begin(), cut.centres.end()), d);
    samples_.predict(work, model_ == Model::linear, predict);
  }

  void report_pieces(Report& report) const {
    std::vector<Index> sizes, steps, alone;
    for (std::size_t p = 0; p < found_.size(); ++p) {
      sizes.push_back(found_[p].samples);
      steps.push_back(found_[p].state.step);
      if (found_[p].classes == 1) alone.push_back(static_cast<Index>(p));
    }
    const auto [least, most] = std::ranges::minmax(sizes);
    report.fact("pieces.samples", sizes);
    report.fact("pieces.iterations", steps);
    std::string words = fmt::format("{} of {} to {}", *pieces_, least, counted(most, "sample"));
    if (!report.fact("pieces.of_one_class", alone).empty()) {
      words += fmt::format("; {} with one class, which they say always: {}", alone.size(), fmt::join(alone, ", "));
    }
    report.line("pieces", words);
  }

  /// What --start has, on all ranks; so many columns.
  learn::Weights read_start(Work& work, Index columns) {
    return work.in_words({{" ", "--start"}}, [&] {
      InputFile file{{}, samples_.start()};
      file.describe(work.context, io::columns);
      mpi::agreed(work.context, [&] {
        expect_real(file);
        const auto [rows, own_columns] = file.shape;
        if (own_columns != columns) {
          throw ArgumentError(fmt::format("it is {}, expected {} columns: a weight for each of {}, and the intercept",
                                          io::shape_text(file), columns, samples_.input().path));
        }
        if (rows == 0 || (rows > 1 && model_ == Model::linear)) {
          throw ArgumentError(fmt::format("it is {}, expected {}", io::shape_text(file),
                                          model_ == Model::linear ? "one row, as --model is linear" : "a row or more"));
        }
      });
      const auto own = work.read_rows<double>(file);
      const auto& tile = own.const_tiles()[0];
      const std::span<const double> weights(tile.data(), at(tile.rows() * columns));
      learn::Weights all{mpi::gather_on_all(work.context.comm(), weights)};
      for (Index k = 0; k < all.count(); ++k) {
        if (std::isfinite(all[k])) continue;
        throw ArgumentError(fmt::format("it has {} in row {}, column {} (counted from 0), expected finite numbers",
                                        all[k], k / columns, k % columns));
      }
      return all;
    });
  }

  /// What --start says of IN, whose labels are not known: classes are counted from 0.
  void say(Work& work) {
    const Index columns = samples_.input().shape.columns + 1;
    const learn::LinearModel model{Vector<double>(columns), read_start(work, columns)};
    const Index outputs = model.slopes.count() / columns;
    for (Index k = 0; model_ != Model::linear && k < std::max<Index>(2, outputs); ++k) {
      classes_.push_back(static_cast<double>(k));
    }
    say_by(work, model);
    write(work, output_, model.slopes, columns);
  }

  void say_by(Work& work, const learn::LinearModel& model) {
    samples_.predict(work, model_ == Model::linear,
                     [&](const learn::Rows& others, std::span<const Index> rows, std::vector<double>& said) {
                       model.predict(model_, classes_, others, rows, said);
                     });
  }

  /// Rows of so many columns that all ranks have, unless the path is empty.
  static void write(Work& work, const std::string& path, const std::vector<double>& numbers, Index columns) {
    work.write_elements<double>(path, {2, {std::ssize(numbers) / columns, columns}},
                                [&](Index k, Index c) { return numbers[at(k * columns + c)]; });
  }

  LabelledSamples samples_;
  std::string output_, centres_path_;
  std::optional<Index> pieces_;
  std::optional<Model> chosen_;
  Model model_ = Model::linear;
  learn::Options options_;
  std::optional<Index> batch_, most_iterations_;
  std::optional<Exchange> exchange_;
  bool no_intercept_ = false;
  // What was found.
  Iterated iterated_;
  std::vector<double> objectives_, classes_;
  learn::Quality quality_;
  Index mixed_ = 0;
  std::vector<learn::FittedPiece> found_;
};

}  // namespace

PLAIT_JOB(fit, Fit)

}  // namespace plait::cli
