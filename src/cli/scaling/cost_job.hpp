#pragma once

#include "cli/scaling/job.hpp"

namespace plait::cli {

/// Two clouds in memory: a rank's share of X, and all of Y; or elements of images.
template <class A>
struct PointsRead {
  std::optional<layout::DistributedMatrix<A>> x = {};
  std::vector<A> y = {};
  sinkhorn::PointClouds<A> clouds = {};
  std::vector<double> origin = {};  // what coordinates are taken less, each its own; none without points
};

/// A job of transport, with the costs of a file, or with points between which they are made.
class CostJob : public ScalingJob {
 protected:
  /// \param precisions  that there are with points
  /// \throws UsageError  IN and points, an option of the one with the other, a first epsilon below the last one
  void check_costs(const char* precisions);

  [[nodiscard]] bool has_points() const noexcept { return !options_.points.empty(); }
  [[nodiscard]] bool has_images() const noexcept { return !options_.images.empty(); }
  [[nodiscard]] bool makes_costs() const noexcept { return has_points() || has_images(); }
  [[nodiscard]] std::vector<ErrorWord> error_words() const override;

  /// Looks at IN, or at the files of points or images, which stand for one matrix of costs. Collective.
  void describe_costs();
  /// Where a matrix has the exponentials of costs beside it: the bytes of one.
  [[nodiscard]] Index kernel_bytes() const noexcept;
  /// What a rank needs for images, with so many vectors of all their elements, beside those of the acceleration.
  [[nodiscard]] Index bytes_of_images(Index vectors) const noexcept;
  /// Collective.
  template <class A>
  [[nodiscard]] PointsRead<A> read_points();
  [[nodiscard]] sinkhorn::TransportOptions transports();
  /// Of a checkpoint, with the files that are read beside the costs before these and after them.
  [[nodiscard]] Checkpoints::Identity identity(std::vector<std::string> before,
                                               const std::vector<std::string>& after) const;
  /// The costs in words, with precision and epsilon: "C is 3 x 4, f64, epsilon 0.1", or of points.
  [[nodiscard]] std::string costs_text() const;
  [[nodiscard]] nlohmann::ordered_json input_facts() const override;
  [[nodiscard]] std::string read_text() const override;
  /// That of images.
  [[nodiscard]] sinkhorn::NodeGrid grid() const;
  /// Draws numbers of this rank's elements of images on the page, if there is one. Collective.
  void draw_image(const std::string& what, std::span<const double> own);
  /// The masses of two images, of this rank's elements and of all.
  void draw_masses(const sinkhorn::Marginals& masses, std::string_view what = "");
  /// Of the only problem.
  void report_stages(Report& report) const;

 private:
  void describe_images();
};

/// Of all stages.
[[nodiscard]] Index iterations_of(const std::vector<sinkhorn::TransportStage>& stages);

/// Of each coordinate, over the points where it is finite: one that a point has, so that differences of whole numbers
/// stay exact.
[[nodiscard]] std::vector<double> medians(std::span<const double> points, Index coordinates);

template <class A>
PointsRead<A> CostJob::read_points() {
  PointsRead<A> read;
  read.clouds.metric = options_.metric;
  read.clouds.p = options_.p.value_or(2);
  read.clouds.power = options_.power;
  if (has_images()) {
    const auto [first, count] = own_elements(context(), extents_);
    read.clouds.x = {nullptr, count, 0, 1, StorageOrder::row_major};
    read.clouds.y = {nullptr, file_.shape.columns, 0, 1, StorageOrder::row_major};
    read.clouds.grid = grid();
    read.clouds.first_node = first;
    return read;
  }
  LostEntries ignored;  // a coordinate that is next to 0 may be it
  const InputFile &x_file = options_.points[0], &y_file = options_.points[1];
  const Index coordinates = y_file.shape.columns;
  if (std::is_same_v<A, double> || options_.metric == sinkhorn::Metric::cosine) {
    read.x = read_rows<A>(work(), x_file, ignored);
    read.y = read_all_rows<A>(work(), y_file);
    read.origin = mpi::agreed(context(), [&] { return std::vector<double>(at(coordinates)); });
  } else {  // only differences count, which float has to more digits near 0
    auto x = read_rows<double>(work(), x_file, ignored);
    const auto y = read_all_rows<double>(work(), y_file);
    mpi::agreed(context(), [&] {
      read.origin = medians(y, coordinates);
      x.for_each_element([&](Index, Index k, double& each) { each -= read.origin[at(k)]; });
      LostEntries of_y{.path = y_file.path};
      for (Index n = 0; n < static_cast<Index>(y.size()); ++n) {
        const Index k = n % coordinates;
        read.y.push_back(stored<A>(y[at(n)] - read.origin[at(k)], n / coordinates, k, of_y));
      }
    });
    read.x = converted<A>(context(), std::move(x), ignored);
  }
  read.clouds.x = read.x->const_tiles()[0];
  read.clouds.y = {read.y.data(), y_file.shape.rows, coordinates, std::max(Index{1}, coordinates),
                   StorageOrder::row_major};
  return read;
}

}  // namespace plait::cli
