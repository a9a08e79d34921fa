#include "plait/partition/partition.hpp"

#include "plait/partition/quality.hpp"

#include "cli/host/job.hpp"
#include "cli/partition/graph_input.hpp"
#include "cli/partition/moved_rows.hpp"

namespace plait::cli {

namespace {

/// Cuts a graph into parts.
class PartitionJob : public Job {
 public:
  void options(Options& options) override {
    options.describe(
        "Cut a graph into parts of even weight with few edges between them",
        R"(Every part has a vertex and weighs at most (1 + imbalance) of the even share, or the command says why that
can't be. By default all methods are tried, those that need --points where there are some, and the least cut is kept.
What belongs to the vertices, --move deals out to the parts.

Example:
  mpirun -n 4 plait partition mesh.graph -k 16 --points xyz.npy -o parts.npy --report parts.html
  mpirun -n 4 plait partition mesh.graph -k 16 -o parts.npy --move u.npy --moved u-by-parts.npy)");
    input_.declare(options);
    add_value(options, "-k,--parts", how_.parts, parse_parts, "COUNT", "How many parts")->required();
    add_numbers_output(options, output_, "The part of each vertex");
    add_balance(options, how_.imbalance, how_.seed);
    using partition::Method;
    add_choice(options, "--method", how_.method,
               named({Method::best, Method::multilevel, Method::spectral, Method::levels, Method::kl, Method::orb,
                      Method::inertial, Method::hilbert, Method::morton}),
               "METHOD", "How to begin: {}; from orb on they need points, and all are refined");
    moved_rows_.declare(options, "by their numbers");
    options.host({.machine = false, .page = "the parts and how they touch"});
  }

  void check() override { moved_rows_.check(); }

  std::vector<Index> prepare(Work& work) override {
    moved_rows_.describe(work);
    return {};
  }

  void run(Work& work) override {
    input_.read(work);
    using partition::Method;
    if (how_.method >= Method::orb) {
      input_.expect_points(work, fmt::format("--method is {}", name(how_.method)));
    }
    moved_rows_.expect_rows(work, input_.view().vertices());
    work.meter.stage("partitioning", 0, 0);
    seconds_ = work.timed([&] { result_ = partition::partition(work.context, input_.view(), input_.points(), how_); });
    write_numbers(work, output_, result_.part);
    input_.write_vtu(work, result_.part);
    moved_rows_.move(work, {}, result_.part);
    quality_ = partition::quality_of(input_.view(), result_.part, how_.parts);
  }

  void report(Report& report, Work& work) override {
    input_.report(report, fmt::format("{} by {} ({})", counted(how_.parts, "part"), name(how_.method), result_.start));
    report.label(12);
    report.line("parts", "{} by {} ({})", how_.parts, report.fact("method", name(how_.method)),
                report.fact("start", result_.start));
    GraphInput::report_quality(report, quality_, how_.imbalance);
    if (result_.least_cut) {
      report.line("certificate", "any two parts of as many vertices are cut by {:.6g} at least, as λ₂ tells",
                  report.fact("least_cut", *result_.least_cut));
    }
    report.fact("seed", how_.seed);
    report.line("partitioned", "in " + seconds_text(report.fact("partition_seconds", seconds_)));
    moved_rows_.report(report);
    report.line("total", seconds_text(report.fact("seconds", work.seconds)));
    report.line("output", report.fact("output.path", output_));
    report.fact_or_null("report", settings.page);
  }

  void draw(Report& report, Work& /*work*/) override { input_.draw(report, result_.part, how_.parts); }

 private:
  GraphInput input_;
  MovedRows moved_rows_;
  partition::Options how_;
  std::string output_;
  partition::Partition result_;
  partition::Quality quality_;
  double seconds_ = 0;
};

}  // namespace

PLAIT_JOB(partition, PartitionJob)

}  // namespace plait::cli
