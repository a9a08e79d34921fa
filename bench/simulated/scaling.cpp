#include "bench/simulated/scaling.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/sinkhorn/coffee/exchange.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/scaling/iteration.hpp"
#include "plait/sinkhorn/scaling/scaling_method.hpp"

#include "bench/simulated/measure.hpp"

namespace plait::bench {

namespace {

using sinkhorn::SumAndRescale;
using sinkhorn::SumUp;

class SimulatedIteration final : public sinkhorn::PartwiseIteration<double> {
 public:
  SimulatedIteration(const SimulatedScaling& scaling, Index rows)
      : PartwiseIteration<double>({}, {}), scaling_(scaling), rows_(rows) {}

  void add_rows(std::span<double> /*sums*/) override { pass(scaling_.n); }
  [[nodiscard]] Index steps(Index columns) const override {
    constexpr Index elements = Index{1} << 16;  // as the iterations of Algorithms 1 to 3 have them
    return std::max<Index>(1, rows_ * columns / elements);
  }
  void rescale(Index /*first*/, std::span<const double> sums, Index /*step*/) override {
    const auto count = static_cast<Index>(sums.size());
    pass(static_cast<double>(count) / static_cast<double>(steps(count)));
  }

 private:
  // Reads and writes so many columns of the rows.
  void pass(double columns) const {
    const double bytes = 2 * static_cast<double>(rows_) * columns * sizeof(double);
    compute(bytes * scaling_.seconds_per_byte * scaling_.operations_per_second);
  }
  void pass(Index columns) const { pass(static_cast<double>(columns)); }
  void all_columns(std::span<const double> /*sums*/) override {
    if (!scaling_.fuses) pass(scaling_.n);
  }

  SimulatedScaling scaling_;
  Index rows_;
};

struct Run {
  Run(mpi::Context& context, const SimulatedScaling& scaling)
      : iteration(scaling, (scaling.n + context.size() - 1) / context.size()),
        sums(static_cast<std::size_t>(scaling.n + sinkhorn::scaling_riders)) {
    if (scaling.overlaps) {
      meanwhile =
          std::make_unique<SumAndRescale<double>>(context, scaling.way, iteration, scaling.n, sinkhorn::scaling_riders);
    } else {
      before = sinkhorn::sum_up<double>(context, scaling.n + sinkhorn::scaling_riders, scaling.way);
    }
  }
  void once() {
    iteration.add_rows(sums);
    meanwhile ? (*meanwhile)(sums) : before(sums);
    static_cast<sinkhorn::Iteration<double>&>(iteration).columns(std::span(sums).first(sums.size() - 2));
  }

  SimulatedIteration iteration;
  std::vector<double> sums;
  SumUp<double> before;
  std::unique_ptr<SumAndRescale<double>> meanwhile;
};

}  // namespace

std::function<void()> prepare(mpi::Context& context, const SimulatedScaling& scaling) {
  if (scaling.fuses && scaling.overlaps)
    throw ArgumentError("a fused pass has nothing to do while sums travel, expected Algorithm 3's");
  const auto run = std::make_shared<Run>(context, scaling);
  return [run] { run->once(); };
}

}  // namespace plait::bench
