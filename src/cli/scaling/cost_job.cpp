#include "cli/scaling/cost_job.hpp"

#include <algorithm>
#include <cmath>

#include "cli/pictures/field_picture.hpp"

namespace plait::cli {

using sinkhorn::Domain;

std::vector<ErrorWord> CostJob::error_words() const {
  auto words = ScalingJob::error_words();
  words.push_back({"rho of the ", "--unbalanced"});
  if (extents_.dimensions > 0 && options_.images.size() == 2) {
    words.insert(words.begin(), {{"the marginal of row ", options_.images[0]},
                                 {"the marginal of column ", options_.images[1]},
                                 {"the spacing of the grid ", "--spacing"}});
  }
  if (has_points()) words.insert(words.end(), {{" of X has ", options_.points[0]}, {" of Y has ", options_.points[1]}});
  return words;
}

void CostJob::describe_images() {
  for (const std::string& path : options_.images) {
    images_.push_back(io::describe_file(context(), path, io::arrays));
  }
  mpi::agreed(context(), [&] {
    extents_ = images_[0].extents;
    for (std::size_t k = 0; k < images_.size(); ++k) {
      const std::string& path = options_.images[k];
      expect_real(path, images_[k]);
      if (images_[k].extents != extents_) {
        throw ArgumentError(fmt::format("--images: {} is {}, {} is {}, expected the same extents", options_.images[0],
                                        io::to_string(extents_), path, io::to_string(images_[k].extents)));
      }
      if (extents_.dimensions == 3 && images_[k].order == StorageOrder::column_major) {
        throw ArgumentError(
            fmt::format("--images: {} is in Fortran order, expected C order: numpy.ascontiguousarray", path));
      }
    }
    const auto given = options_.spacing.size();
    const auto& [height, breadth, channels] = extents_.values;
    if (extents_.dimensions == 3 && given != 3 && std::min(height, breadth) > 4 && (channels == 3 || channels == 4)) {
      throw ArgumentError(
          fmt::format("--images: {} is {}, {} channels of an image or a volume; expected an array for each channel, or "
                      "for a volume a --spacing of 3 numbers",
                      options_.images[0], io::to_string(extents_), channels));
    }
    if (given > 1 && given != at(extents_.dimensions)) {
      throw ArgumentError(fmt::format("--spacing: {} numbers are given, expected 1 or {}, as {} is {}", given,
                                      extents_.dimensions, options_.images[0], io::to_string(extents_)));
    }
    const auto norm = sinkhorn::norm_of(options_.metric, options_.p.value_or(2), options_.power);
    if (options_.metric == sinkhorn::Metric::cosine || !norm.is_sum(extents_.dimensions)) {
      throw ArgumentError(
          fmt::format("--metric is {}, expected a sum over axes with --images of {} dimensions: sqeuclidean, "
                      "cityblock, or minkowski with --power of its --p",
                      options_.cost_name(), extents_.dimensions));
    }
    const Index nodes = grid().nodes();
    file_ = images_[0];
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
  x_ = io::describe_file(context(), options_.points[0], io::columns);
  y_ = io::describe_file(context(), options_.points[1], io::columns);
  file_ = x_;
  file_.shape = {x_.shape.rows, y_.shape.rows};
  mpi::agreed(context(), [&] {
    y_ = io::with_columns_of(options_.points[0], x_, options_.points[1], y_);
    if (x_.shape.columns == y_.shape.columns) return;
    throw ArgumentError(fmt::format("--points: the points of {} have {} coordinates, those of {} have {}",
                                    options_.points[0], x_.shape.columns, options_.points[1], y_.shape.columns));
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
  if (makes_costs()) {
    before.insert(before.end(), options_.points.begin(), options_.points.end());
    before.insert(before.end(), options_.images.begin(), options_.images.end());
  } else {
    before.push_back(input());
  }
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
  nlohmann::ordered_json facts{{has_images() ? "images" : "points", has_images() ? options_.images : options_.points},
                               {"metric", name(options_.metric)}};
  if (has_images()) facts["spacing"] = options_.spacing;
  if (options_.p) facts["p"] = *options_.p;
  if (options_.power != 1) facts["power"] = options_.power;
  return facts;
}

std::string CostJob::read_text() const {
  if (has_images()) return fmt::format("{}: {} of {}", input(), io::to_string(extents_), io::name(file_.dtype));
  if (!has_points()) return ScalingJob::read_text();
  return fmt::format("{}: {} of {}, {}: {} of {}", options_.points[0], layout::to_string(x_.shape), io::name(x_.dtype),
                     options_.points[1], layout::to_string(y_.shape), io::name(y_.dtype));
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
  draw_image(fmt::format("{}{}", what, options_.images[0]), masses.rows);
  draw_image(fmt::format("{}{}", what, options_.images[1]), masses.columns.subspan(at(first), at(count)));
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
