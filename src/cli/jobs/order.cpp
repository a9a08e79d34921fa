#include "plait/partition/order.hpp"

#include "cli/host/job.hpp"
#include "cli/partition/graph_input.hpp"

namespace plait::cli {

namespace {

/// Orders the rows of a sparse symmetric matrix.
class OrderJob : public Job {
 public:
  void options(Options& options) override {
    options.describe(
        "Order a sparse symmetric matrix so that factorising it fills in little",
        R"(Nested dissection: rows and columns taken in the order that is written, permuted = A[order][:, order], have a
Cholesky factor with few entries.

Example:
  mpirun -n 4 plait order A.mtx -o order.npy)");
    input_.declare_graph(options);
    add_numbers_output(options, output_, "The vertex, or row, that comes first, second, ...");
    add_seed(options, seed_);
    options.host({.machine = false});
  }

  void run(Work& work) override {
    input_.read(work);
    work.meter.stage("ordering", 0, 0);
    seconds_ = work.timed([&] { order_ = partition::nested_dissection(work.context, input_.view(), seed_); });
    write_numbers(work, output_, order_);
    fill_ = partition::fill_of(input_.view(), order_);
  }

  void report(Report& report, Work& work) override {
    input_.report(report, "an order of elimination");
    const Index lower = input_.view().edges() + input_.view().vertices();
    report.label(12);
    report.line("factor", "{} entries, {:.3g} for each one of the matrix' lower half",
                report.fact("factor_entries", fill_.entries),
                report.fact("fill", lower > 0 ? static_cast<double>(fill_.entries) / static_cast<double>(lower) : 1.));
    report.line("operations", "{:.4g} multiplications and additions", report.fact("operations", fill_.operations));
    report.line("height", "{} columns one after the other", report.fact("height", fill_.height));
    report.fact("seed", seed_);
    report.line("ordered", "in " + seconds_text(report.fact("order_seconds", seconds_)));
    report.line("total", seconds_text(report.fact("seconds", work.seconds)));
    report.line("output", report.fact("output.path", output_));
  }

 private:
  GraphInput input_;
  std::string output_;
  std::uint64_t seed_ = 0;
  std::vector<graph::Vertex> order_;
  partition::Fill fill_;
  double seconds_ = 0;
};

}  // namespace

PLAIT_JOB(order, OrderJob)

}  // namespace plait::cli
