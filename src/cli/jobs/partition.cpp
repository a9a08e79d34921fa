// plait partition: parts of a graph with few edges between them.
#include "plait/partition/partition.hpp"

#include "cli/partition/graph_job.hpp"

namespace plait::cli {

namespace {

class Partition : public PartsJob {
  using Method = partition::Method;

 public:
  void options(Options& options) override {
    options.describe(
        "Cut a graph into parts of even weight with few edges between them",
        R"(Every part has a vertex and weighs at most (1 + imbalance) of the even share, or the command says why that
can't be. By default the least cut is kept of multilevel, of those that need --points where there are some, and of all
others up to 512 vertices.
What belongs to the vertices, --move deals out to the parts.

Example:
  mpirun -n 4 plait partition mesh.graph -k 16 --points xyz.npy -o parts.npy --report parts.html
  mpirun -n 4 plait partition mesh.graph -k 16 -o parts.npy --move u.npy --moved u-by-parts.npy)");
    add_graph_with_weights(options);
    add_parts(options, "How many parts")->required();
    add_choice(options, "--method", method_,
               named({Method::best, Method::multilevel, Method::spectral, Method::levels, Method::kl, Method::orb,
                      Method::inertial, Method::hilbert, Method::morton}),
               "METHOD", "How to begin: {}; from orb on they need points, and all are refined");
    rows_.declare(options, "by their numbers");
    options.host({.machine = false, .page = "the parts and how they touch"});
  }

 private:
  std::vector<int> find(Work& work) override {
    found_by_ = partition::partition(work.context, view_, points_, {*parts_, imbalance_, method_, seed_});
    return std::move(found_by_.part);
  }
  [[nodiscard]] std::string why_points() const override {
    return method_ < Method::orb ? "" : fmt::format("--method is {}", name(method_));
  }
  [[nodiscard]] std::string result() const override {
    return fmt::format("{} by {} ({})", counted(*parts_, "part"), name(method_), found_by_.start);
  }

  void report_own(Report& report) const override {
    report.line("parts", "{} by {} ({})", *parts_, report.fact("method", name(method_)),
                report.fact("start", found_by_.start));
    report_quality(report);
    if (const auto& least = found_by_.least_cut) {
      report.line("certificate", "any two parts of as many vertices are cut by {:.6g} at least, as λ₂ tells",
                  report.fact("least_cut", *least));
    }
  }

  Method method_ = Method::best;
  partition::Partition found_by_;  // but for the parts
};

}  // namespace

PLAIT_JOB(partition, Partition)

}  // namespace plait::cli
