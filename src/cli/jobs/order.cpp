// plait order: an order of elimination in which factorising fills in little.
#include "plait/partition/order.hpp"

#include "cli/partition/graph_job.hpp"
#include "cli/pictures/matrix_picture.hpp"

namespace plait::cli {

namespace {

class Order : public GraphJob {
 public:
  Order() : GraphJob("order") {}

  void options(Options& options) override {
    options.describe(
        "Order a sparse symmetric matrix so that factorising it fills in little",
        R"(Nested dissection: rows and columns taken in the order that is written, permuted = A[order][:, order], have a
Cholesky factor with few entries.

Example:
  mpirun -n 4 plait order A.mtx -o order.npy --report order.html)");
    add_graph(options);
    add_output(options, "The vertex, or row, that comes first, second, ...");
    add_seed(options);
    options.host({.machine = false, .page = "the matrix in this order"});
  }

  void draw(Report& report, Work& /*work*/) override {
    const Index n = view_.vertices();
    if (n == 0) return;
    std::vector<Index> place(at(n));
    for (Index i = 0; i < n; ++i) place[at(found_[at(i)])] = i;
    MatrixPicture picture({n, n});
    for (Index v = 0; v < n; ++v) {
      const auto add = [&](Index other) { picture.add(place[at(v)], place[at(other)], 1); };
      add(v);
      view_.for_each_neighbour(v, [&](graph::Vertex u, Index) { add(u); });
    }
    report.figure("<h2>The matrix in this order</h2>\n" + drawn(picture, "the pattern of the matrix"));
  }

 private:
  std::vector<int> find(Work& work) override { return partition::nested_dissection(work.context, view_, seed_); }
  void use(Work& /*work*/) override { fill_ = partition::fill_of(view_, found_); }
  [[nodiscard]] std::string result() const override { return "an order of elimination"; }

  void report_own(Report& report) const override {
    const Index lower = view_.edges() + view_.vertices();
    const double fill = lower > 0 ? static_cast<double>(fill_.entries) / static_cast<double>(lower) : 1;
    const Index entries = report.fact("factor_entries", fill_.entries);
    report.line("factor", "{} entries, {:.3g} times those of the matrix' lower triangle", entries,
                report.fact("fill", fill));
    report.line("operations", "{:.4g} multiplications and additions", report.fact("operations", fill_.operations));
    report.line("height", "{} columns one after the other", report.fact("height", fill_.height));
    report.tile(fmt::format("{}", entries), "entries of the factor");
    report.tile(fmt::format("{:.3g}", fill), "times the entries of the matrix' lower triangle");
    report.tile(fmt::format("{:.4g}", fill_.operations), "multiplications and additions");
  }

  partition::Fill fill_;
};

}  // namespace

PLAIT_JOB(order, Order)

}  // namespace plait::cli
