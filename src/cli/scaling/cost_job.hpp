#pragma once

#include "cli/scaling/job.hpp"

namespace plait::cli {

/// Two clouds in memory: a rank's share of X, and all of Y.
template <class A>
struct PointsRead {
  layout::DistributedMatrix<A> x;
  std::vector<A> y;
  matrix_view<const A> all_y;
  const ScalingOptions& options;

  [[nodiscard]] sinkhorn::PointClouds<A> clouds() const {
    return {x.const_tiles()[0], all_y, options.metric, options.p.value_or(2)};
  }
};

/// A job of transport, with the costs of a file, or with points between which they are made.
class CostJob : public ScalingJob {
 public:
  void check() override {
    for (const std::string& path : options_.points) files.also_read.push_back({path, "a file of --points"});
  }

 protected:
  [[nodiscard]] bool has_points() const noexcept { return !options_.points.empty(); }
  [[nodiscard]] std::vector<ErrorWord> error_words() const override;

  /// Looks at IN, or at both files of points, which stand for one matrix of costs. Collective.
  void describe_costs();
  /// Where a matrix has the exponentials of costs beside it: the bytes of one.
  [[nodiscard]] Index kernel_bytes() const noexcept;
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
  /// Of the only problem.
  void report_stages(Report& report) const;

  io::MatrixFile x_ = {};
  io::MatrixFile y_ = {};
};

/// Of all stages.
[[nodiscard]] Index iterations_of(const std::vector<sinkhorn::TransportStage>& stages);

template <class A>
PointsRead<A> CostJob::read_points() {
  LostEntries ignored;  // a coordinate that is next to 0 may be it
  auto x = read_rows<A>(work(), options_.points[0], x_, ignored);
  auto y = read_all_rows<A>(work(), options_.points[1], y_);
  const auto [points, coordinates] = y_.shape;
  const matrix_view<const A> all_y(y.data(), points, coordinates, std::max(Index{1}, coordinates),
                                   StorageOrder::row_major);
  return {std::move(x), std::move(y), all_y, options_};
}

}  // namespace plait::cli
