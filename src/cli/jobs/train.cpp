// plait train: networks of layers, trained on samples by all ranks.

#include "plait/io/hdf5/hdf5.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/learn/network/training.hpp"

#include "cli/learn/labelled_samples.hpp"
#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

constexpr const char* network_group = "/network";

/// A matrix of f64 that all ranks read.
std::vector<double> read_matrix(Work& work, const std::string& path, const std::string& name, layout::Shape shape) {
  const io::Hdf5Header header = io::read_hdf5_header(work.context, {path, fmt::format("{}/{}", network_group, name)});
  return mpi::agreed(work.context, [&] {
    if (header.dtype != io::DType::f64 || header.shape != shape) {
      throw FileError(fmt::format("{}: {} is {} of {}, expected {} of f64", path, header.data_set,
                                  layout::to_string(header.shape), io::name(header.dtype), layout::to_string(shape)));
    }
    std::vector<double> all(at(shape.rows * shape.columns));
    io::read_hdf5_rows(path, header, 0, shape.rows, std::as_writable_bytes(std::span(all)).data());
    const auto wrong = std::ranges::find_if_not(all, [](double each) { return std::isfinite(each); });
    if (wrong != all.end()) {
      const Index k = wrong - all.begin();
      throw FileError(fmt::format("{}: {} has {} in row {}, column {} (counted from 0), expected finite numbers", path,
                                  header.data_set, *wrong, k / shape.columns, k % shape.columns));
    }
    return all;
  });
}

/// No file of another kind is lost by writing a network there. Local.
/// \throws FileError
void expect_replaceable_network(const std::string& path) {
  io::expect_replaceable_hdf5({path, fmt::format("{}/", network_group)});
}

/// Writes a network as the group /network of a new HDF5 file: of layer i the data set i, a row of each unit, its bias
/// last; `scaling`, what columns and labels are taken less and divided by; and what layers there are. Collective.
void write_network(Work& work, const std::string& path, const learn::Network& network) {
  std::vector<std::vector<double>> numbers{network.means};
  std::vector<io::Hdf5Array> arrays;
  Index bytes = 0;
  mpi::agreed(work.context, [&] {
    numbers[0].insert(numbers[0].end(), network.scales.begin(), network.scales.end());
    std::vector<std::pair<std::string, layout::Shape>> shapes{
        {"scaling", {2, static_cast<Index>(network.means.size())}}};
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
      const learn::Layer& layer = network.layers[l];
      if (layer.parameters() == 0) continue;
      numbers.push_back(network.parameters[l]);
      shapes.emplace_back(fmt::format("{}", l + 1), layout::Shape{layer.outputs(), layer.inputs() + 1});
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      arrays.push_back({shapes[i].first, {2, {shapes[i].second.rows, shapes[i].second.columns}}, numbers[i]});
      bytes += static_cast<Index>(numbers[i].size() * sizeof(double));
    }
  });
  work.meter.stage("writing " + path, bytes, bytes);
  const JointStopwatch watch(work.context);
  io::write_hdf5_group(work.context, path, network_group, arrays,
                       {{"layers", to_string(network.layers)}, {"input", to_string(network.layers.front().in)}});
  work.written.emplace_back(path, Moved{bytes, watch.seconds()});
}

/// The network of such a file, on all ranks. Collective.
/// \throws FileError, ArgumentError  on all ranks: the file can't be read, or is not as it would be written
learn::Network read_network(Work& work, const std::string& path) {
  const auto text = [&](const char* what) { return io::read_hdf5_text(work.context, {path, network_group}, what); };
  const std::string layers = text("layers"), input = text("input");
  learn::Network network;
  mpi::agreed(work.context, [&] {
    try {
      network.layers = learn::parse_layers(layers, learn::parse_volume(input));
    } catch (const ArgumentError& error) {
      throw ArgumentError(fmt::format("{}: {}", path, error.what()));
    }
  });
  const Index columns = network.layers.front().in.size() + 1;
  const auto scaling = read_matrix(work, path, "scaling", {2, columns});
  network.means.assign(scaling.begin(), scaling.begin() + columns);
  network.scales.assign(scaling.begin() + columns, scaling.end());
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const learn::Layer& layer = network.layers[l];
    learn::Parameters& parameters = network.parameters.emplace_back();
    if (layer.parameters() == 0) continue;
    parameters = read_matrix(work, path, fmt::format("{}", l + 1), {layer.outputs(), layer.inputs() + 1});
  }
  return network;
}

class Train : public Job {
  using Optimizer = learn::Optimizer;
  using Parallelism = learn::Parallelism;

 public:
  void options(Options& options) override {
    options.describe(
        "Train a neural network on samples, of numbers or classes",
        R"(Samples are the rows of IN, each with a label. NETWORK is what is made of one, layer by layer, separated by commas:

    dense UNITS [ACTIVATION]                     all numbers of the layer before, weighted
    conv HEIGHTxWIDTHxCHANNELS [ACTIVATION]      those around each place of an image, zeros beyond its sides
    pool SIZE                                    the largest of SIZE x SIZE places

ACTIVATION is relu, tanh, sigmoid or identity (default). A softmax at the end tells classes, which are whole numbers from
0 on; a last layer of one unit tells numbers.

Ranks share the samples of a batch (data): gradients of a layer are added up over the ranks while those of others are
computed. Or they share the units of dense layers and the channels of others (model); the rows of images, and behind
these samples (domain); or the layers, through which parts of a batch follow each other (pipeline). All come to the same
network, but for rounding; auto takes what the description of the machine says to be quickest.

Example:
  mpirun -n 4 plait train X.npy --labels y.npy --net "dense 128 relu, dense 10 softmax" --held-out 0.2 -o model.h5)");
    samples_.options(options);
    add_value(
        options, "--net", net_, [](const std::string& text) { return text; }, "NETWORK",
        "Its layers, as below; those of --start by default");
    static constexpr std::array<std::string_view, 2> hdf5{".h5", ".hdf5"};
    options
        .writes(
            "-o,--output", output_, hdf5,
            "The network: an HDF5 file with a data set of each layer, /network/1 and so on, which has a row of each "
            "unit, its bias last; and /network/scaling, what columns and labels are taken less and divided by")
        ->group(group::one_of);
    samples_.prediction_options(options);
    add_value(options, "--image", image_, learn::parse_volume, "HEIGHTxWIDTH[xCHANNELS]",
              "What image the columns of a sample are; channels lie side by side, then places of a row");
    options.group(group::iteration);
    add_choice(options, "--method", options_.optimizer,
               named({Optimizer::adam, Optimizer::sgd, Optimizer::momentum, Optimizer::lars}), "METHOD", "{}");
    add_value(options, "--step", options_.step, parse_positive_number, "NUMBER",
              "Of a step; 0.001 with adam, 0.1 with sgd, 0.01 with momentum and 1 with lars by default");
    add_value(options, "--batch", options_.batch, parse_positive_count, "COUNT", "Samples of a step; 64 by default");
    add_value(options, "--epochs", options_.epochs, parse_count_from_0, "COUNT",
              "How often to go through all samples; 10 by default, and 0 only with --start");
    add_value(options, "--l2", options_.l2, parse_not_negative, "LAMBDA",
              "The weight of the squares of weights, |W|^2 / 2, in the loss; 1e-4 by default");
    add_choice(options, "--parallel", parallel_,
               {{"data", {Parallelism::data}},
                {"model", {Parallelism::model}},
                {"domain", {Parallelism::domain}},
                {"pipeline", {Parallelism::pipeline}},
                {"auto", {}}},
               "WHAT", "What ranks share: {}");
    add_flag(options, "--reproducible", options_.reproducible,
             "The same bits on any number of ranks, data parallel or in a pipeline: by gradients of 16 to 64 samples "
             "each and sums without rounding");
    options.host({.checkpoint_every = 10, .page = "the loss over epochs", .trace = true});
  }

  void check() override {
    samples_.check("--epochs", options_.epochs);
    if (samples_.start() == samples_.input().path) {
      throw UsageError("--start is {}, which is IN, expected a network", samples_.start());
    }
    if (net_.empty() && samples_.start().empty()) throw UsageError("--net is required, unless there is a --start");
    for (const auto& [option, path] : {std::pair{"--output", output_}, std::pair{"--start", samples_.start()}}) {
      if (io::parse_hdf5_name(path).data_set.empty()) continue;
      throw UsageError("{}: {} names a data set, expected a file", option, path);
    }
    if (options_.reproducible && (parallel_ == Parallelism::model || parallel_ == Parallelism::domain)) {
      throw UsageError("--reproducible is given, but --parallel is {}, expected data, pipeline or auto",
                       name(*parallel_));
    }
  }

  std::vector<Index> prepare(Work& work) override {
    const std::vector<Index> phases = samples_.prepare(work);
    options_.seed = samples_.seed();
    if (!samples_.start().empty()) start_ = read_network(work, samples_.start());
    std::string fault;  // the same on all ranks
    mpi::agreed(work.context, [&] {
      const Index columns = samples_.input().shape.columns;
      const auto usual = start_ ? start_->layers.front().in : learn::Volume{1, 1, columns};
      const learn::Volume input = image_.value_or(usual);
      if (input.size() != columns) {
        throw ArgumentError(fmt::format("{}: {} has {} numbers, expected {}, as {} has so many columns",
                                        image_ ? "--image" : "--start " + samples_.start(), to_string(input),
                                        input.size(), columns, samples_.input().path));
      }
      std::string_view option = "--image";
      try {
        if (start_ && input != usual) {
          throw ArgumentError(
              fmt::format("it is {}, expected {}, as of {}", to_string(input), to_string(usual), samples_.start()));
        }
        option = "--net";
        layers_ = net_.empty() ? start_->layers : learn::parse_layers(net_, input);
        if (start_ && start_->layers != layers_) {
          throw ArgumentError(fmt::format("it is '{}', expected the layers of {}, which are '{}'", to_string(layers_),
                                          samples_.start(), to_string(start_->layers)));
        }
        option = "--parallel";
        static_cast<void>(learn::Sharing(layers_, parallel_.value_or(Parallelism::data), work.context.size()));
      } catch (const ArgumentError& error) {
        fault = fmt::format("{}: {}", option, error.what());
      }
    });
    if (!output_.empty()) io::on_rank_zero(work.context, [&] { expect_replaceable_network(output_); });
    if (!fault.empty()) throw UsageError(fault);
    return phases;
  }

  void run(Work& work) override {
    if (!samples_.has_labels()) {
      use(work, *start_);
      return;
    }
    const auto model = tells_numbers() ? learn::Model::linear : learn::Model::logistic;
    samples_.read(work, model, [&](const learn::Samples& samples) { train(work, samples); });
  }

  void report(Report& report, Work& work) override {
    report.head("network for {}: {}", samples_.input().path, samples_.report_input(report));
    Index parameters = 0;
    for (const learn::Layer& layer : layers_) parameters += layer.parameters();
    report.fact("parameters", parameters);
    report.line("network", "{}; {}", report.fact_in_row("network", "network", to_string(layers_)),
                counted(parameters, "parameter"));
    if (samples_.has_labels()) report_training(report, work.context.size());
    samples_.report(report, quality_, tells_numbers());
    report.fact("output", output_json(output_));
    work.report_end(report, "");
  }

  void draw(Report& report, Work& work) override {
    report.page_head(samples_.input().path,
                     fmt::format("{} on {}", svg::escaped(to_string(layers_)), counted(work.context.size(), "rank")));
    samples_.draw(report, quality_, tells_numbers());
    if (losses_.empty()) return;
    report.figure(
        objective_figure("loss", losses_, "The mean loss of the samples in each epoch, without the term of lambda."));
  }

 private:
  [[nodiscard]] bool tells_numbers() const { return layers_.back().activation != learn::Activation::softmax; }

  void report_training(Report& report, int ranks) const {
    report.line("method", "{}, step {}, batches of {}, lambda {}{}",
                report.fact_in_row("method", "method", name(options_.optimizer)),
                report.fact_in_row("step", "step", options_.step, "{:g}"),
                counted(report.fact("batch", options_.batch), "sample"),
                report.fact_in_row("l2", "lambda", options_.l2, "{:g}"),
                report.fact("reproducible", options_.reproducible) ? ", reproducible" : "");
    report_parallel(report, ranks);
    report.fact("seed", samples_.seed());
    report.iterations(iterated_);
    report.fact("losses", losses_);
    if (losses_.empty()) return;
    report.line("loss", report.fact_in_row("loss", "loss of the last epoch, without the term of lambda", losses_.back(),
                                           "{:.6g}"));
  }

  void report_parallel(Report& report, int ranks) const {
    const std::string mine = report.fact("parallel", name(options_.parallelism));
    std::vector<std::string> others;
    std::string own;
    for (const learn::Estimate& each : estimates_) {
      const double seconds = report.fact(fmt::format("estimates.{}", name(each.parallelism)), each.seconds());
      const std::string time = seconds_text(seconds);
      if (each.parallelism == options_.parallelism)
        own = time;
      else
        others.push_back(fmt::format("{} {}", name(each.parallelism), time));
    }
    const int idle = ranks - report.fact("working_ranks", working_ranks_);
    std::string words = fmt::format("{}, estimated {} a step", mine, own);
    if (!others.empty()) words += fmt::format(" ({})", fmt::join(others, ", "));
    if (idle > 0) words += fmt::format("; {} without work", counted(Index{idle}, "rank"));
    if (ranks == 1) return;
    report.line("parallel", words);
    report.row("parallel", words);
  }

  void train(Work& work, const learn::Samples& samples) {
    options_.batch = std::min(options_.batch, samples.training());
    estimates_ = mpi::agreed(work.context, [&] { return learn::estimates(work.context, layers_, options_); });
    options_.parallelism = parallel_.value_or(estimates_.front().parallelism);
    samples_.expect_memory(work, learn::Training::bytes(samples, layers_, options_));
    Checkpoints checkpoints(work.context, settings, options_.epochs,
                            samples_.identity({{"network", to_string(layers_)},
                                               {"image", to_string(layers_.front().in)},
                                               {"method", name(options_.optimizer)},
                                               {"step", options_.step},
                                               {"batch", options_.batch},
                                               {"l2", options_.l2},
                                               {"reproducible", options_.reproducible}},
                                              "--epochs"));
    learn::Training training(samples, layers_, options_, start_ ? &*start_ : nullptr);
    options_ = training.options();
    iterated_ = work.iterate(training, checkpoints, [&] {
      return fmt::format("epoch {}, loss {:.6g}", training.state().step, training.losses().back());
    });
    checkpoints.end(iterated_.state.end, iterated_.state.reason);
    working_ranks_ = training.sharing().working_ranks();
    losses_ = training.losses();
    const learn::Network network = training.network();
    quality_ = network.quality(samples);
    use(work, network);
  }

  /// Writes it, and what it says.
  void use(Work& work, const learn::Network& network) {
    if (!output_.empty()) write_network(work, output_, network);
    auto pass = mpi::agreed(work.context, [&] { return network.pass_to_predict(); });
    samples_.predict(work, tells_numbers(),
                     [&](const learn::Rows& others, std::span<const Index> rows, std::vector<double>& said) {
                       network.predict(others, rows, pass, said);
                     });
  }

  LabelledSamples samples_;
  std::string net_, output_;
  std::optional<learn::Volume> image_;
  std::optional<learn::Network> start_;
  learn::TrainingOptions options_;
  std::optional<Parallelism> parallel_ = Parallelism::data;  // empty: the quickest
  std::vector<learn::Layer> layers_;
  // What was found.
  Iterated iterated_;
  std::vector<double> losses_;
  learn::Quality quality_;
  std::vector<learn::Estimate> estimates_;
  int working_ranks_ = 1;
};

}  // namespace

PLAIT_JOB(train, Train)

}  // namespace plait::cli
