#include "bench/simulated/scaling.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/sinkhorn/coffee/scale_in_place.hpp"

#include "bench/simulated/measure.hpp"

namespace plait::bench {

namespace {

constexpr Index riders = 1;  // beside the sums of columns

class SimulatedIteration final : public sinkhorn::InPlaceIteration<double> {
 public:
  SimulatedIteration(const SimulatedScaling& scaling, Index rows)
      : InPlaceIteration<double>({}, {}), scaling_(scaling), rows_(rows) {}

  void rows(std::span<double> /*sums*/) override { pass(scaling_.n); }
  void columns(std::span<const double> /*sums*/) override {
    if (!scaling_.fuses) pass(scaling_.n);
  }
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

  SimulatedScaling scaling_;
  Index rows_;
};

struct Run {
  Run(mpi::Context& context, const SimulatedScaling& scaling)
      : overlaps(scaling.overlaps),
        iteration(scaling, (scaling.n + context.size() - 1) / context.size()),
        sums(static_cast<std::size_t>(scaling.n + riders)),
        exchange(context, scaling.way, scaling.n, riders, scaling.overlaps ? &iteration : nullptr) {}

  void once() {
    iteration.rows(sums);
    exchange(sums);
    if (!overlaps) iteration.columns(sums);
  }

  bool overlaps;
  SimulatedIteration iteration;
  std::vector<double> sums;
  sinkhorn::ExchangedSums<double> exchange;
};

}  // namespace

std::function<void()> prepare(mpi::Context& context, const SimulatedScaling& scaling) {
  if (scaling.fuses && scaling.overlaps)
    throw ArgumentError("a fused pass has nothing to do while sums travel, expected Algorithm 3's");
  if (scaling.way == sinkhorn::SumWay::mpi && scaling.overlaps)
    throw ArgumentError("MPI_Allreduce returns everything at once, expected another exchange to overlap with");
  const auto run = std::make_shared<Run>(context, scaling);
  return [run] { run->once(); };
}

}  // namespace plait::bench
