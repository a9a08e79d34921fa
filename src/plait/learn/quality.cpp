#include "plait/learn/quality.hpp"

#include <array>
#include <limits>

#include "plait/collective/reproducible_sum.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::learn {

template <class T>
Quality quality_of(const Samples<T>& samples,
                   const std::function<void(std::span<const Index> rows, std::vector<double>& said)>& predict) {
  std::array<simd::ExactSum, 6> sums;  // of each kind: Σ (z - y)² or how many are right, Σ y, Σ y²
  std::array<Index, 2> counts{};
  std::vector<double> said;
  const bool is_linear = samples.model() == Model::linear;
  for (std::size_t kind = 0; kind < 2; ++kind) {
    samples.for_each_block(kind == 1, [&](std::span<const Index> rows) {
      predict(rows, said);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (is_linear) {
          const double y = samples.target(rows[i]), rest = y - samples.means().back();
          sums[3 * kind].add((said[i] - y) * (said[i] - y));
          sums[3 * kind + 1].add(rest);
          sums[3 * kind + 2].add(rest * rest);
        } else if (said[i] == samples.classes()[at(samples.label(rows[i]))]) {
          sums[3 * kind].add(1);
        }
      }
      counts[kind] += static_cast<Index>(rows.size());
    });
  }
  collective::merge(samples.context(), sums);
  mpi::all_reduce(samples.context().comm(), counts, mpi::Operation::sum());
  const auto share = [&](std::size_t kind) {
    const auto n = static_cast<double>(counts[kind]);
    const auto first = sums[3 * kind].template rounded<double>();
    if (!is_linear) return first / n;
    const auto sum = sums[3 * kind + 1].template rounded<double>();
    sums[3 * kind + 2].add(-sum / n * sum);
    return 1 - first / sums[3 * kind + 2].template rounded<double>();
  };
  const double training = share(0);
  return {training, counts[1] == 0 ? std::numeric_limits<double>::quiet_NaN() : share(1), counts[1]};
}

#define PLAIT_INSTANTIATE(T)                     \
  template Quality quality_of(const Samples<T>&, \
                              const std::function<void(std::span<const Index>, std::vector<double>&)>&);
PLAIT_INSTANTIATE(float)
PLAIT_INSTANTIATE(double)
#undef PLAIT_INSTANTIATE

}  // namespace plait::learn
