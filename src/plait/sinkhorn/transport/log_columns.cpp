#include "plait/sinkhorn/transport/log_columns.hpp"

#include <cmath>
#include <limits>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::sinkhorn {

namespace {

template <class A>
void move_potential(A& g, const LogUpdate& update, double log_ratio) {
  const auto old = static_cast<double>(g);
  g = static_cast<A>(old + update.change(old, log_ratio));
}

/// Columns of which nothing is left in the sums, of all problems, one problem behind the other.
struct LostColumns {
  std::vector<std::size_t> columns;
  std::vector<std::size_t> ends;  // of each problem

  [[nodiscard]] std::size_t begin_of(std::size_t k) const { return k == 0 ? 0 : ends[k - 1]; }
  [[nodiscard]] std::span<const std::size_t> of(std::size_t k) const {
    return std::span(columns).subspan(begin_of(k), ends[k] - begin_of(k));
  }
  [[nodiscard]] std::span<double> of(std::size_t k, std::vector<double>& values) const {
    return std::span(values).subspan(begin_of(k), ends[k] - begin_of(k));
  }
};

template <class A>
LostColumns move_sound_columns(const LogUpdate& update, std::span<const LogColumns<A>> problems) {
  LostColumns lost;
  for (const LogColumns<A>& problem : problems) {
    for (std::size_t j = 0; j < problem.g.size(); ++j) {
      if (problem.marginals[j] == 0) {
        problem.g[j] = -std::numeric_limits<A>::infinity();
      } else if (!(problem.sums[j] >= lowest_sum<A>)) {
        lost.columns.push_back(j);
      } else {
        move_potential(problem.g[j], update, std::log(problem.marginals[j] / static_cast<double>(problem.sums[j])));
      }
    }
    lost.ends.push_back(lost.columns.size());
  }
  return lost;
}

}  // namespace

template <class A>
std::vector<std::optional<std::size_t>> move_columns(mpi::Context& context, CostOperand<A>& costs,
                                                     const LogUpdate& update, std::span<const LogColumns<A>> problems) {
  std::vector<std::optional<std::size_t>> out_of_range(problems.size());
  const LostColumns lost = move_sound_columns(update, problems);
  if (lost.columns.empty()) return out_of_range;
  std::vector<double> maxima;
  std::vector<double> exact;
  mpi::agreed(context, [&] {
    maxima.resize(lost.columns.size(), -std::numeric_limits<double>::infinity());
    exact.resize(lost.columns.size());
  });
  for (std::size_t k = 0; k < problems.size(); ++k) {
    if (!lost.of(k).empty()) costs.column_maxima(lost.of(k), problems[k].f, lost.of(k, maxima));
  }
  collective::allreduce(context, std::span<double>(maxima), simd::ReduceOperation::max);
  bool is_any_left = false;
  for (std::size_t k = 0; k < problems.size(); ++k) {
    for (std::size_t n = lost.begin_of(k); n < lost.ends[k] && !out_of_range[k]; ++n) {
      if (!std::isfinite(maxima[n])) out_of_range[k] = lost.columns[n];
    }
    if (out_of_range[k] || lost.of(k).empty()) continue;
    is_any_left = true;
    costs.column_sums(lost.of(k), problems[k].f, lost.of(k, maxima), lost.of(k, exact));
  }
  if (!is_any_left) return out_of_range;
  collective::allreduce(context, std::span<double>(exact), simd::ReduceOperation::sum);
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const LogColumns<A>& problem = problems[k];
    for (std::size_t n = lost.begin_of(k); n < lost.ends[k] && !out_of_range[k]; ++n) {
      const std::size_t j = lost.columns[n];
      const double log_sum = maxima[n] + std::log(exact[n]) + static_cast<double>(problem.g[j]);
      move_potential(problem.g[j], update, std::log(problem.marginals[j]) - log_sum);
      if (!std::isfinite(problem.g[j])) out_of_range[k] = j;
    }
  }
  return out_of_range;
}

template std::vector<std::optional<std::size_t>> move_columns(mpi::Context&, CostOperand<double>&, const LogUpdate&,
                                                              std::span<const LogColumns<double>>);
template std::vector<std::optional<std::size_t>> move_columns(mpi::Context&, CostOperand<float>&, const LogUpdate&,
                                                              std::span<const LogColumns<float>>);

}  // namespace plait::sinkhorn
