#include "cli/scaling/cost_job.hpp"

#include "cli/pictures/matrix_picture.hpp"

namespace plait::cli {

using sinkhorn::Domain;

void CostJob::check_costs(const char* precisions) {
  for (const InputFile& file : options_.points) files.also_read.push_back({file.path, "a file of --points"});
  for (const InputFile& file : options_.images) files.also_read.push_back({file.path, "a file of --images"});
  const ScalingOptions& options = options_;
  if (options.how.first_epsilon != 0 && options.how.first_epsilon < options.how.epsilon) {
    throw UsageError("--first-epsilon is {}, expected {} at least, the value of --epsilon", options.how.first_epsilon,
                     options.how.epsilon);
  }
  if (options.images.empty() && !options.spacing.empty()) {
    throw UsageError("--spacing is given, but --images is missing: it is the distance of their elements");
  }
  if (!options.images.empty()) {
    if (!options.points.empty()) throw UsageError("--images is given, and so is --points, expected one of them");
    for (const auto& [path, option] : {std::pair{options.rows, "--rows"}, {options.columns, "--columns"}}) {
      if (!path.empty()) throw UsageError("{} is given, but masses are those of --images", option);
    }
  } else if (options.points.empty()) {
    const bool has_metric = options.metric != sinkhorn::Metric::squared_euclidean;
    if (!has_metric && !options.p && options.power == 1) return;
    throw UsageError("{} is given, but --points or --images is missing: IN has the costs", has_metric  ? "--metric"
                                                                                           : options.p ? "--p"
                                                                                                       : "--power");
  }
  const char* const given = options.images.empty() ? "--points" : "--images";
  if (file_) {
    throw UsageError("{} is given, and so is IN ({}), expected one of them", given, file_.path);
  }
  if ((options.metric == sinkhorn::Metric::minkowski) != options.p.has_value()) {
    throw UsageError("--metric minkowski and --p need each other");
  }
  if (options.how.domain == Domain::factors) {
    throw UsageError("--method is factors, which are stored, expected logarithms or auto with {}", given);
  }
  if (options.precision == Precision::mixed) {
    throw UsageError("--precision is mixed, expected {} with {}, which are few numbers", precisions, given);
  }
}

std::vector<ErrorWord> CostJob::error_words() const {
  auto words = ScalingJob::error_words();
  words.push_back({"rho of the ", "--unbalanced"});
  if (extents_.dimensions > 0 && options_.images.size() == 2) {
    words.insert(words.begin(), {{"the marginal of row ", options_.images[0].path},
                                 {"the marginal of column ", options_.images[1].path},
                                 {"the spacing of the grid ", "--spacing"}});
  }
  if (has_points()) {
    const std::string &x = options_.points[0].path, &y = options_.points[1].path;
    words.insert(words.end(), {{" of X has ", x}, {" of Y has ", y}, {"costs between the points ", x + " and " + y}});
  }
  return words;
}

void CostJob::describe_images() {
  std::vector<InputFile>& images = options_.images;
  for (InputFile& image : images) image.describe(context(), io::arrays);
  mpi::agreed(context(), [&] {
    extents_ = images[0].extents;
    for (const InputFile& image : images) {
      expect_real(image);
      if (image.extents != extents_) {
        throw ArgumentError(fmt::format("--images: {} is {}, {} is {}, expected the same extents", images[0].path,
                                        io::to_string(extents_), image.path, io::to_string(image.extents)));
      }
      if (extents_.dimensions == 3 && image.order == StorageOrder::column_major) {
        throw ArgumentError(
            fmt::format("--images: {} is in Fortran order, expected C order: numpy.ascontiguousarray", image.path));
      }
    }
    const auto given = options_.spacing.size();
    const auto& [height, breadth, channels] = extents_.values;
    if (extents_.dimensions == 3 && given != 3 && std::min(height, breadth) > 4 && (channels == 3 || channels == 4)) {
      throw ArgumentError(
          fmt::format("--images: {} is {}, {} channels of an image or a volume; expected an array for each channel, or "
                      "for a volume a --spacing of 3 numbers",
                      images[0].path, io::to_string(extents_), channels));
    }
    if (given > 1 && given != at(extents_.dimensions)) {
      throw ArgumentError(fmt::format("--spacing: {} numbers are given, expected 1 or {}, as {} is {}", given,
                                      extents_.dimensions, images[0].path, io::to_string(extents_)));
    }
    const auto norm = sinkhorn::norm_of(options_.metric, options_.p.value_or(2), options_.power);
    if (options_.metric == sinkhorn::Metric::cosine || !norm.is_sum(extents_.dimensions)) {
      throw ArgumentError(
          fmt::format("--metric is {}, expected a sum over axes with --images of {} dimensions: sqeuclidean, "
                      "cityblock, or minkowski with --power of its --p",
                      options_.cost_name(), extents_.dimensions));
    }
    const Index nodes = grid().nodes();
    file_ = static_cast<const io::MatrixFile&>(images[0]);
    file_.shape = {nodes, nodes};
  });
}

sinkhorn::NodeGrid CostJob::grid() const {
  sinkhorn::NodeGrid grid{extents_.dimensions};
  for (std::size_t a = 0; a < at(extents_.dimensions); ++a) {
    grid.extents[a] = extents_.values[a];
    if (!options_.spacing.empty()) grid.spacing[a] = options_.spacing[options_.spacing.size() == 1 ? 0 : a];
  }
  return grid;
}

void CostJob::describe_costs() {
  if (!makes_costs()) return describe_input();
  precision_ = options_.precision == Precision::automatic ? Precision::f64 : options_.precision;
  if (has_images()) return describe_images();
  InputFile &x = options_.points[0], &y = options_.points[1];
  x.describe(context(), io::columns);
  y.describe(context(), io::columns);
  file_ = static_cast<const io::MatrixFile&>(x);
  file_.shape = {x.shape.rows, y.shape.rows};
  mpi::agreed(context(), [&] {
    y = io::with_columns_of(x.path, x, y.path, y);
    for (const InputFile& points : options_.points) {
      if (layout::elements(points.shape) > 0) continue;
      throw ArgumentError(fmt::format("--points: {} is {}, expected points with coordinates", points.path,
                                      layout::to_string(points.shape)));
    }
    if (x.shape.columns == y.shape.columns) return;
    throw ArgumentError(fmt::format("--points: the points of {} have {} coordinates, those of {} have {}", x.path,
                                    x.shape.columns, y.path, y.shape.columns));
  });
}

Index CostJob::kernel_bytes() const noexcept {
  if (options_.how.domain == Domain::logarithmic) return 0;
  return precision_ == Precision::f32 ? 4 : 8;
}

Index CostJob::bytes_of_images(Index vectors) const noexcept {
  const Index all = file_.shape.columns;
  const Index of_acceleration = options_.how.limits.acceleration == sinkhorn::Acceleration::none ? 0 : 15;
  Index of_axes = 0;  // exponents and powers between the nodes of an axis
  for (const Index extent : extents_.list()) of_axes += 2 * extent * extent;
  return (vectors + of_acceleration) * all * Index{sizeof(double)} +
         (4 * all / context().size() + of_axes) * element_bytes(precision_);
}

sinkhorn::TransportOptions CostJob::transports() {
  sinkhorn::TransportOptions how = options_.how;
  how.limits = limits();
  return how;
}

Checkpoints::Identity CostJob::identity(std::vector<std::string> before, const std::vector<std::string>& after) const {
  const std::vector<std::string> costs = made_of();
  before.insert(before.end(), costs.begin(), costs.end());
  before.insert(before.end(), after.begin(), after.end());
  return {std::move(before),
          {{"precision", name(precision_)},
           {"epsilon", options_.how.epsilon},
           {"first epsilon", options_.how.first_epsilon},
           {"method", name(options_.how.domain)},
           {"metric", name(options_.metric)},
           {"spacing", options_.spacing},
           {"power", options_.power},
           {"p", options_.p.value_or(2)}}};
}

std::string CostJob::costs_text() const {
  const std::string costs =
      has_images() ? fmt::format("C = {} of the elements of {}", options_.cost_name(), io::to_string(extents_))
      : has_points()
          ? fmt::format("C = {} of {} and {} points", options_.cost_name(), file_.shape.rows, file_.shape.columns)
          : fmt::format("C is {}", layout::to_string(file_.shape));
  return fmt::format("{}, {}, epsilon {}", costs, name(precision_), options_.how.epsilon);
}

nlohmann::ordered_json CostJob::input_facts() const {
  if (!makes_costs()) return ScalingJob::input_facts();
  nlohmann::ordered_json facts{{has_images() ? "images" : "points", made_of()}, {"metric", name(options_.metric)}};
  if (has_images()) facts["spacing"] = options_.spacing;
  if (options_.p) facts["p"] = *options_.p;
  if (options_.power != 1) facts["power"] = options_.power;
  return facts;
}

std::string CostJob::read_text() const {
  if (has_images()) return fmt::format("{}: {} of {}", input(), io::to_string(extents_), io::name(file_.dtype));
  if (!has_points()) return ScalingJob::read_text();
  const InputFile &x = options_.points[0], &y = options_.points[1];
  return fmt::format("{}: {} of {}, {}: {} of {}", x.path, layout::to_string(x.shape), io::name(x.dtype), y.path,
                     layout::to_string(y.shape), io::name(y.dtype));
}

void CostJob::draw_image(const std::string& what, std::span<const double> own) {
  if (settings.page.empty()) return;
  auto picture = mpi::agreed(context(), [&] {
    const sinkhorn::NodeGrid nodes = grid();
    FieldPicture drawn(extents_.list(), std::span(nodes.spacing).first(at(nodes.dimensions)));
    drawn.add_all(own_elements(context(), extents_).first, own);
    return drawn;
  });
  picture.unite(context());
  if (context().rank() == 0) page_.figures.push_back(picture.figure(what));
}

void CostJob::draw_masses(const sinkhorn::Marginals& masses, std::string_view what) {
  const auto [first, count] = own_elements(context(), extents_);
  draw_image(fmt::format("{}{}", what, options_.images[0].path), masses.rows);
  draw_image(fmt::format("{}{}", what, options_.images[1].path), masses.columns.subspan(at(first), at(count)));
}

void CostJob::report_stages(Report& report) const {
  const auto& stages = page_.stages;
  report.fact("stages", json_of(stages));
  report.line("method", "{}{}", name(stages.back().domain),
              stages.size() > 1
                  ? fmt::format("; {} stages, epsilon from {:.3g} down", stages.size(), stages.front().epsilon)
                  : "");
}

std::vector<double> medians(std::span<const double> points, Index coordinates) {
  std::vector<double> medians(at(coordinates));
  for (std::size_t k = 0; k < medians.size(); ++k) {
    std::vector<double> all;
    for (std::size_t n = k; n < points.size(); n += medians.size()) {
      if (std::isfinite(points[n])) all.push_back(points[n]);
    }
    if (all.empty()) continue;
    const auto middle = all.begin() + static_cast<Index>(all.size() / 2);
    std::ranges::nth_element(all, middle);
    medians[k] = *middle;
  }
  return medians;
}

Index iterations_of(const std::vector<sinkhorn::TransportStage>& stages) {
  Index iterations = 0;
  for (const auto& stage : stages) iterations += stage.iterations;
  return iterations;
}

}  // namespace plait::cli
