#pragma once

#include "plait/graph/mesh.hpp"
#include "plait/mpi/node_copy.hpp"
#include "plait/partition/geometric.hpp"
#include "plait/partition/quality.hpp"

#include "cli/host/job.hpp"
#include "cli/partition/moved_rows.hpp"

namespace plait::cli {

/// A job that finds a number for each vertex of a graph: read by rank 0, in memory once a node.
class GraphJob : public Job {
 public:
  std::vector<Index> prepare(Work& work) override;
  void run(Work& work) final;
  void report(Report& report, Work& work) final;

 protected:
  /// \param act  "order": how long it took to be ordered is `order_seconds`
  explicit GraphJob(std::string act) : act_(std::move(act)) {}

  /// GRAPH, --symmetrise.
  void add_graph(Options& options);
  /// -o, of which `what` says what the numbers are.
  void add_output(Options& options, const std::string& what);
  void add_seed(Options& options);

  /// Looks at what was read. Collective.
  /// \throws ArgumentError  on every rank: it does not fit
  virtual void expect_fitting(Work& /*work*/) {}
  /// The number of each vertex. Collective.
  [[nodiscard]] virtual std::vector<int> find(Work& work) = 0;
  /// What else is made of them, once they are written. Collective.
  virtual void use(Work& /*work*/) {}
  /// What was found, for the head of the page.
  [[nodiscard]] virtual std::string result() const = 0;
  virtual void report_own(Report& report) const = 0;

  std::string path_, points_path_, weights_path_, old_path_, vtu_path_, output_;
  std::uint64_t seed_ = 0;
  graph::GraphView view_;
  partition::Points points_;
  std::span<const int> old_;  // parts that vertices have so far, where there is a file of them
  graph::Mesh mesh_;          // on rank 0, where GRAPH has one and --vtu is to show it
  std::vector<int> found_;

 private:
  void read_all();
  void read(Work& work);

  std::string act_;
  bool symmetrise_ = false;
  graph::Graph graph_;  // these on rank 0, until each node has them
  std::vector<double> coordinates_;
  std::vector<int> read_old_;
  std::optional<mpi::NodeCopy> copy_;
  double seconds_ = 0;
};

/// One of which the numbers are parts.
class PartsJob : public GraphJob {
 public:
  void check() override { rows_.check(); }
  std::vector<Index> prepare(Work& work) override;
  void draw(Report& report, Work& work) override;

 protected:
  PartsJob() : GraphJob("partition") {}

  /// GRAPH, and what belongs to its vertices.
  void add_graph_with_weights(Options& options);
  /// -k, -o, --imbalance and --seed; returns the first.
  CLI::Option* add_parts(Options& options, const std::string& how_many);
  /// Why points are needed, "" if they are not.
  [[nodiscard]] virtual std::string why_points() const { return ""; }
  void expect_fitting(Work& work) final;
  void use(Work& work) final;
  void report_quality(Report& report) const;

  std::optional<int> parts_;
  double imbalance_ = .03;
  MovedRows rows_;
  std::span<const int> rows_before_;  // parts that rows of --move are sorted by; empty: by the numbers of vertices
  partition::Quality quality_;

 private:
  void write_vtu(Work& work) const;
};

}  // namespace plait::cli
