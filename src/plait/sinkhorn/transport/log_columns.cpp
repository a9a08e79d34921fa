#include "plait/sinkhorn/transport/log_columns.hpp"

#include <cmath>
#include <limits>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::sinkhorn {

template <class A>
std::optional<std::size_t> move_columns(mpi::Context& context, CostOperand<A>& costs, std::span<const double> marginals,
                                        const LogUpdate& update, std::span<const A> f, std::vector<A>& g,
                                        std::span<const A> sums) {
  const auto move = [&](std::size_t j, double log_ratio) {
    const auto old = static_cast<double>(g[j]);
    g[j] = static_cast<A>(old + update.change(old, log_ratio));
  };
  std::vector<std::size_t> lost;  // columns of which nothing is left in the sums
  for (std::size_t j = 0; j < g.size(); ++j) {
    if (marginals[j] == 0) {
      g[j] = -std::numeric_limits<A>::infinity();
    } else if (!(sums[j] >= lowest_sum<A>)) {
      lost.push_back(j);
    } else {
      move(j, std::log(marginals[j] / static_cast<double>(sums[j])));
    }
  }
  if (lost.empty()) return std::nullopt;
  std::vector<double> maxima;
  std::vector<double> exact;
  mpi::agreed(context, [&] {
    maxima.resize(lost.size(), -std::numeric_limits<double>::infinity());
    exact.resize(lost.size());
  });
  costs.column_maxima(lost, f, maxima);
  collective::allreduce(context, std::span<double>(maxima), simd::ReduceOperation::max);
  for (std::size_t k = 0; k < lost.size(); ++k) {
    if (!std::isfinite(maxima[k])) return lost[k];
  }
  costs.column_sums(lost, f, maxima, exact);
  collective::allreduce(context, std::span<double>(exact), simd::ReduceOperation::sum);
  for (std::size_t k = 0; k < lost.size(); ++k) {
    const double log_sum = maxima[k] + std::log(exact[k]) + static_cast<double>(g[lost[k]]);
    move(lost[k], std::log(marginals[lost[k]]) - log_sum);
    if (!std::isfinite(g[lost[k]])) return lost[k];
  }
  return std::nullopt;
}

template std::optional<std::size_t> move_columns(mpi::Context&, CostOperand<double>&, std::span<const double>,
                                                 const LogUpdate&, std::span<const double>, std::vector<double>&,
                                                 std::span<const double>);
template std::optional<std::size_t> move_columns(mpi::Context&, CostOperand<float>&, std::span<const double>,
                                                 const LogUpdate&, std::span<const float>, std::vector<float>&,
                                                 std::span<const float>);

}  // namespace plait::sinkhorn
