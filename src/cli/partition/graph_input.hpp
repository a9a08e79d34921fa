#pragma once

#include <cstdint>

#include "plait/graph/graph.hpp"
#include "plait/graph/mesh.hpp"
#include "plait/mpi/node_copy.hpp"
#include "plait/partition/geometric.hpp"
#include "plait/partition/quality.hpp"

#include "cli/host/job.hpp"

namespace plait::cli {

/// The graph that a job cuts, with what belongs to its vertices: read by rank 0, in memory once a node.
class GraphInput {
 public:
  void declare(Options& options);
  /// The graph alone, without weights and points.
  void declare_graph(Options& options);

  /// Reads all files. Collective.
  /// \param parts_file  of the parts that vertices have so far; empty: none
  void read(Work& work, const std::string& parts_file = {});

  [[nodiscard]] const graph::GraphView& view() const noexcept { return view_; }
  [[nodiscard]] const partition::Points& points() const noexcept { return points_; }
  [[nodiscard]] std::span<const int> parts() const noexcept { return old_parts_; }
  /// \throws ArgumentError  on every rank: there are no points
  void expect_points(Work& work, const std::string& what_for) const;

  /// States what was read.
  /// \param result  what became of it, for the head of the page
  void report(Report& report, const std::string& result) const;
  /// States what parts are worth, as lines and rows of the page.
  static void report_quality(Report& report, const partition::Quality& quality, double imbalance);
  /// Writes the parts of cells, or of points where the graph is none of a mesh, for --vtu. Collective.
  void write_vtu(Work& work, std::span<const int> part) const;
  /// Draws parts, where there are points, and their quotient graph.
  void draw(Report& report, std::span<const int> part, int parts) const;

 private:
  std::string path_;
  std::string points_path_;
  std::string weights_path_;
  std::string vtu_path_;
  bool symmetrise_ = false;
  graph::Graph graph_;  // on rank 0
  graph::Mesh mesh_;    // on rank 0, where a file has one
  std::vector<double> coordinates_;
  std::vector<int> old_;
  std::optional<mpi::NodeCopy> copy_;
  graph::GraphView view_;
  partition::Points points_;
  std::span<const int> old_parts_;
};

/// Writes a number for each vertex on rank 0, as the name of the file says. Collective.
void write_numbers(Work& work, const std::string& path, std::span<const int> numbers);

/// \throws ArgumentError  no number of parts
[[nodiscard]] int parse_parts(const std::string& text);

/// --imbalance and --seed.
void add_balance(Options& options, double& imbalance, std::uint64_t& seed);

void add_seed(Options& options, std::uint64_t& seed);

/// -o of numbers, of which `what` says what they are.
void add_numbers_output(Options& options, std::string& path, const std::string& what);

}  // namespace plait::cli
