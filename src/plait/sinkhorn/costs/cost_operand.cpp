#include "plait/sinkhorn/costs/cost_operand.hpp"

#include <algorithm>
#include <cmath>

#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/cache_lines.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"

namespace plait::sinkhorn {

namespace {

template <class A>
constexpr A nothing = -std::numeric_limits<A>::infinity();

template <class A>
bool is_sound(A sum) {
  return sum >= lowest_sum<A> && sum <= std::numeric_limits<A>::max();
}

/// One of the rows of a block.
template <class A>
simd::RowBlock<A> row_of(const simd::RowBlock<A>& block, Index i) {
  return {block.data + i * block.leading_dimension, 1, block.columns, block.leading_dimension};
}

}  // namespace

template <class A>
void CostOperand<A>::make_room(std::size_t problems, std::size_t in_common, RowsAtATime rows) {
  in_common_ = in_common;
  // Those of several problems that have sums in common are all there at the same time.
  const Index least = in_common == 1 ? rows.least : 1;
  const Index row_bytes = columns_ * static_cast<Index>(in_common * sizeof(A));
  rows_at_a_time_ = rows.most;
  while (rows_at_a_time_ > least && rows_at_a_time_ * row_bytes > cache_bytes()) rows_at_a_time_ /= 2;
  slabs_.emplace(rows_, columns_, rows_ * columns_, static_cast<Index>(problems), threads_);
  const std::size_t buffers = static_cast<std::size_t>(slabs_->threads()) * in_common;
  constexpr Index line = simd::line_bytes / Index{sizeof(A)};
  pitch_ = (columns_ / line + 1) * line;
  powers_.resize(buffers * static_cast<std::size_t>(rows_at_a_time_ * pitch_));
  of_rows_.resize(buffers);
  prepared_.resize(problems);
}

template <class A>
simd::RowBlock<A> CostOperand<A>::powers(std::size_t thread, Index count, std::size_t k) {
  const auto buffer = static_cast<Index>(thread * in_common_ + k);
  return {powers_.data() + buffer * rows_at_a_time_ * pitch_, count, columns_, pitch_};
}

template <class A>
bool CostOperand<A>::make_sound(const LogVectors<A>& problem, Index i, A& sum, const simd::RowBlock<A>& e) const {
  if (is_sound(sum)) return true;
  A& f = problem.f[static_cast<std::size_t>(i)];
  f = -maximum(i, factor_, problem.g.data());
  exponentials(i, factor_, &f, problem.g.data(), e, &sum);
  return is_sound(sum);
}

template <class A>
void CostOperand<A>::sweep_block(const LogVectors<A>& problem, std::size_t k, const LogUpdate& update,
                                 const Slab<A>& slab, Index first, const simd::RowBlock<A>& e, Pending& pending) const {
  SumsOfRows of_rows{};
  exponentials_after(pending, first, factor_, problem.f.data() + first, prepared_[k], e, of_rows.data());
  pending = {e, {}, slab.sums(k)};
  for (Index n = 0; n < e.rows; ++n) {
    const auto i = static_cast<std::size_t>(first + n);
    const double marginal = problem.marginals[i];
    A& f = problem.f[i];
    A& sum = of_rows[static_cast<std::size_t>(n)];
    A& weight = pending.weights[static_cast<std::size_t>(n)];
    if (marginal == 0) {
      f = nothing<A>;
      exponentials(first + n, factor_, &f, problem.g.data(), row_of(e, n), &sum);
      continue;
    }
    if (!make_sound(problem, first + n, sum, row_of(e, n))) {
      ++slab.swept[k].unreached;
      continue;
    }
    const double ratio = marginal / static_cast<double>(sum);
    const double change = update.change(static_cast<double>(f), std::log(ratio));
    weight = static_cast<A>(update.is_balanced() ? ratio : std::exp(change));
    f = static_cast<A>(static_cast<double>(f) + change);
    slab.swept[k].wanted += update.wanted(marginal, static_cast<double>(f));
  }
}

template <class A>
void CostOperand<A>::sweep(std::span<const LogVectors<A>> problems, const LogUpdate& update,
                           std::span<RowsSwept> swept) {
  for (std::size_t k = 0; k < problems.size(); ++k) prepared_[k] = prepared(k, problems[k].g);
  const auto work = [&](const Slab<A>& slab) {
    Pending pending;
    for (Index done = 0; done < slab.count; done += rows_at_a_time_) {
      const auto e = powers(slab.thread, std::min(rows_at_a_time_, slab.count - done));
      for (std::size_t k = 0; k < problems.size(); ++k) {
        sweep_block(problems[k], k, update, slab, slab.first + done, e, pending);
      }
    }
    add(pending);
  };
  slabs_->sweep(problems.size(), work, [&](std::size_t k) { return SumsOfSlabs<A>{problems[k].sums, swept[k]}; });
}

template <class A>
double CostOperand<A>::move_in_common(std::span<const LogVectors<A>> problems, std::span<const double> weights, Index i,
                                      std::size_t in_block, std::size_t thread, std::span<SumsOfRows> of_rows) {
  const auto row = static_cast<std::size_t>(i);
  const auto exponentials_of = [&](std::size_t k) {
    return row_of(powers(thread, 1, k), static_cast<Index>(in_block));
  };
  bool is_reached = true;
  double mean = 0;
  for (std::size_t k = 0; k < problems.size() && is_reached; ++k) {
    A& sum = of_rows[k][in_block];
    is_reached = make_sound(problems[k], i, sum, exponentials_of(k));
    mean += weights[k] * (std::log(static_cast<double>(sum)) - static_cast<double>(problems[k].f[row]));
  }
  for (std::size_t k = 0; k < problems.size(); ++k) {
    A& f = problems[k].f[row];
    A& sum = of_rows[k][in_block];
    if (is_reached) {
      const double logarithm = std::log(static_cast<double>(sum));
      sum = static_cast<A>(std::exp(mean - logarithm));
      f = static_cast<A>(mean + static_cast<double>(f) - logarithm);
    } else {
      f = nothing<A>;
      exponentials(i, factor_, &f, problems[k].g.data(), exponentials_of(k), &sum);
      sum = 0;
    }
  }
  return is_reached ? mean : nothing<double>;
}

template <class A>
void CostOperand<A>::sweep_in_common(std::span<const LogVectors<A>> problems, std::span<const double> weights,
                                     std::span<double> log_sums) {
  const auto work = [&](const Slab<A>& slab) {
    const auto of_rows = std::span(of_rows_).subspan(slab.thread * in_common_, in_common_);
    for (Index done = 0; done < slab.count; done += rows_at_a_time_) {
      const Index first = slab.first + done;
      const Index count = std::min(rows_at_a_time_, slab.count - done);
      for (std::size_t k = 0; k < problems.size(); ++k) {
        exponentials(first, factor_, problems[k].f.data() + first, problems[k].g.data(), powers(slab.thread, count, k),
                     of_rows[k].data());
      }
      for (Index n = 0; n < count; ++n) {
        log_sums[static_cast<std::size_t>(first + n)] =
            move_in_common(problems, weights, first + n, static_cast<std::size_t>(n), slab.thread, of_rows);
      }
      for (std::size_t k = 0; k < problems.size(); ++k) {
        add_rows(powers(slab.thread, count, k), of_rows[k], slab.sums(k));
      }
    }
  };
  RowsSwept none;
  slabs_->sweep(problems.size(), work, [&](std::size_t k) { return SumsOfSlabs<A>{problems[k].sums, none}; });
}

template <class A>
void CostOperand<A>::plan_row(Index i, std::span<const A> f, std::span<const A> g, std::span<A> plan) const {
  A sum{};
  exponentials(i, factor_, f.data() + i, g.data(), {plan.data(), 1, columns_, std::max(Index{1}, columns_)}, &sum);
}

template <class A>
void CostOperand<A>::for_each_row(std::span<const A> f, std::span<const A> g,
                                  const std::function<void(Index, std::span<const A>)>& visit) const {
  const Index at_a_time = threads_ == 1 ? 1 : threads_ * simd::most_rows_at_a_time;
  std::vector<A> plans(static_cast<std::size_t>(std::min(at_a_time, rows_) * columns_));
  const auto row = [&](Index k) {
    return std::span(plans).subspan(static_cast<std::size_t>(k * columns_), static_cast<std::size_t>(columns_));
  };
  for (Index first = 0; first < rows_; first += at_a_time) {
    const Index count = std::min(at_a_time, rows_ - first);
#pragma omp parallel for schedule(static) num_threads(threads_) if (threads_ > 1)
    for (Index k = 0; k < count; ++k) plan_row(first + k, f, g, row(k));
    for (Index k = 0; k < count; ++k) visit(first + k, row(k));
  }
}

template <class A>
A CostOperand<A>::fill_row(Index i, std::span<const A> g, A* row) const {
  const A largest = maximum(i, factor_, g.data());
  const A f = std::isfinite(largest) ? -largest : A{0};
  A sum{};
  exponentials(i, factor_, &f, g.data(), {row, 1, columns_, std::max(Index{1}, columns_)}, &sum);
  return f;
}

template <class A>
void CostOperand<A>::fill(matrix_view<A> kernel, std::span<A> f, std::span<const A> g, std::span<A> sums) const {
  const auto work = [&](const Slab<A>& slab) {
    for (Index i = slab.first; i < slab.first + slab.count; ++i) {
      A* const row = kernel.data() + i * kernel.leading_dimension();
      f[static_cast<std::size_t>(i)] = fill_row(i, g, row);
      for (std::size_t j = 0; j < sums.size(); ++j) slab.memory[j] += row[j];
    }
  };
  add_up<A>(rows_, sums.size(), 1, threads_, work, [&](std::size_t) { return sums; });
}

template <class A>
PlanTotals CostOperand<A>::sum_up(std::span<const A> f, std::span<const A> g, std::span<double> rows,
                                  std::span<double> columns) {
  // The totals of a slab stand behind its sums of columns.
  const std::size_t n = columns.size();
  Slabs<double> slabs(rows_, static_cast<Index>(n + 3), rows_ * columns_, 1, threads_);
  std::vector<A> plans(static_cast<std::size_t>(slabs.threads()) * g.size());
  std::vector<double> all(n + 3);
  const auto work = [&](const Slab<double>& slab) {
    const auto row = std::span(plans).subspan(slab.thread * g.size(), g.size());
    const auto totals = slab.memory.subspan(n);
    for (Index i = slab.first; i < slab.first + slab.count; ++i) {
      plan_row(i, f, g, row);
      const auto of_row = static_cast<double>(f[static_cast<std::size_t>(i)]);
      double mass = 0;
      for (std::size_t j = 0; j < row.size(); ++j) {
        const auto entry = static_cast<double>(row[j]);
        if (entry == 0) continue;
        mass += entry;
        totals[2] += (of_row + static_cast<double>(g[j])) * entry;
        if (n > 0) slab.memory[j] += entry;
      }
      rows[static_cast<std::size_t>(i)] = mass;
      totals[0] += cost_of(i, row);
      totals[1] += mass;
    }
  };
  RowsSwept none;
  slabs.sweep(1, work, [&](std::size_t) { return SumsOfSlabs<double>{all, none}; });
  for (std::size_t j = 0; j < n; ++j) columns[j] += all[j];
  return {all[n], all[n + 1], all[n + 2]};
}

template <class A>
std::vector<CheckedMarginals> CostOperand<A>::reachable(mpi::Context& context,
                                                        std::span<const CheckedMarginals> problems) {
  const auto has_mass = [](const std::vector<double>& masses) {
    return std::ranges::any_of(masses, [](double mass) { return mass > 0; });
  };
  std::vector<CheckedMarginals> reached;
  std::vector<int> rows_have;
  mpi::agreed(context, [&] {
    reached.assign(problems.begin(), problems.end());
    for (const CheckedMarginals& marginals : problems) rows_have.push_back(has_mass(marginals.rows) ? 1 : 0);
  });
  mpi::all_reduce(context.comm(), std::span<int>(rows_have), mpi::Operation::maximum());
  for (std::size_t k = 0; k < problems.size(); ++k) {
    if (!has_mass(problems[k].columns)) std::ranges::fill(reached[k].rows, 0.0);
    if (rows_have[k] == 0) std::ranges::fill(reached[k].columns, 0.0);
  }
  return reached;
}

template class CostOperand<double>;
template class CostOperand<float>;

}  // namespace plait::sinkhorn
