#include "plait/sinkhorn/scaling/scale_batch.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/course/stagnation.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"
#include "plait/sinkhorn/sweep/batch_sweep.hpp"

namespace plait::sinkhorn {

namespace {

template <class A>
struct Problem {
  CheckedMarginals marginals;
  Course course;
  std::vector<A> u;
  std::vector<A> v;
  bool is_over = false;
};

/// Null where there is none in the range of numbers.
template <class A>
std::optional<A> factor(double marginal, A sum) {
  if (marginal == 0) return A{0};
  const auto quotient = static_cast<A>(marginal / static_cast<double>(sum));
  if (!(quotient > 0) || !std::isfinite(quotient)) return std::nullopt;
  return quotient;
}

template <class T, class A>
class Batch {
 public:
  Batch(mpi::Context& context, matrix_view<const T> rows, std::vector<Problem<A>>& problems, const Limits& limits)
      : context_(context), rows_(rows), problems_(problems), limits_(limits) {}

  void to_the_end() {
    while (true) {
      choose_who_goes_on();
      if (active_.empty()) return;
      sweep();
      (*sums_over_ranks_)(sums_);
      double largest = 0;
      for (std::size_t slot = 0; slot < active_.size(); ++slot) {
        Problem<A>& problem = *active_[slot];
        const auto sums = std::span<const A>(sums_).subspan(slot * stride(), stride());
        end_or_move_columns(problem, sums);
        largest = std::max(largest, problem.course.outcome().error);
      }
      ++iterations_;
      if (limits_.listener) limits_.listener(iterations_, largest);
    }
  }

 private:
  /// The sums of one problem's columns, and how many of its rows have no factor.
  [[nodiscard]] std::size_t stride() const { return static_cast<std::size_t>(rows_.columns()) + 1; }

  void choose_who_goes_on() {
    active_.clear();
    for (Problem<A>& problem : problems_) {
      if (!problem.is_over && problem.course.is_at_limit()) at_limit(problem);
      if (!problem.is_over) active_.push_back(&problem);
    }
    // Messages are made anew when half of them would be nobody's.
    if (active_.empty() || (sums_over_ranks_ && 2 * active_.size() > room_)) return;
    room_ = active_.size();
    mpi::agreed(context_, [&] {
      sums_.resize(room_ * stride());
      of_block_.resize(room_);
    });
    sums_over_ranks_.reset();
    sums_over_ranks_.emplace(context_, static_cast<Index>(sums_.size()));
  }

  void sweep() {
    std::ranges::fill(sums_, A{0});
    vectors_.clear();
    for (std::size_t slot = 0; slot < active_.size(); ++slot) {
      vectors_.push_back({active_[slot]->v.data(), active_[slot]->u.data(), sums_.data() + slot * stride()});
    }
    batch_sweep<T, A>(kernels_, rows_, vectors_, of_block_,
                      [this](Index first, Index count, const std::vector<SumsOfBlock<A>>& of_block) {
                        for (std::size_t slot = 0; slot < active_.size(); ++slot) {
                          for (Index k = 0; k < count; ++k)
                            move_row(slot, first + k, of_block[slot][static_cast<std::size_t>(k)]);
                        }
                      });
  }

  void move_row(std::size_t slot, Index i, A sum) {
    const auto row = static_cast<std::size_t>(i);
    const auto u = factor(active_[slot]->marginals.rows[row], sum);
    active_[slot]->u[row] = u.value_or(A{0});
    if (!u) sums_[(slot + 1) * stride() - 1] += 1;
  }

  void end_or_move_columns(Problem<A>& problem, std::span<const A> sums) {
    const std::vector<double>& marginals = problem.marginals.columns;
    double distance = 0;
    for (std::size_t j = 0; j < marginals.size(); ++j) {
      distance += std::abs(static_cast<double>(problem.v[j]) * static_cast<double>(sums[j]) - marginals[j]);
    }
    const double error = problem.marginals.total > 0 ? distance / problem.marginals.total : distance;
    problem.course.took(error);
    problem.is_over = true;
    if (sums.back() > 0 || !std::isfinite(error)) return out_of_range(problem);
    if (problem.course.is_over()) return;
    if (problem.course.is_slow() && problem.course.is_proof(look_for_a_proof(problem), problem.marginals)) return;
    problem.is_over = false;
    if (problem.course.is_at_limit()) return;
    for (std::size_t j = 0; j < marginals.size(); ++j) {
      const auto v = factor(marginals[j], sums[j]);
      if (!v) return out_of_range(problem);
      problem.v[j] = *v;
    }
  }

  [[nodiscard]] Feasibility look_for_a_proof(const Problem<A>& problem) {
    const auto heights = mpi::agreed(context_, [&] { return std::vector<double>(problem.u.begin(), problem.u.end()); });
    return feasibility<T>(context_, rows_, Support::positive, problem.marginals, heights);
  }

  void at_limit(Problem<A>& problem) {
    problem.is_over = true;
    if (problem.course.outcome().iterations == 0) {
      problem.course.at_limit();
      return;
    }
    const Feasibility found = look_for_a_proof(problem);
    if (!problem.course.is_proof(found, problem.marginals)) problem.course.at_limit(found);
  }

  void out_of_range(Problem<A>& problem) {
    problem.is_over = true;
    if (problem.course.is_proof(look_for_a_proof(problem), problem.marginals)) return;
    problem.course.ended(Status::numerical_limit,
                         fmt::format("sums of rows or columns left the range of numbers in iteration {}",
                                     problem.course.outcome().iterations));
  }

  mpi::Context& context_;
  matrix_view<const T> rows_;
  std::vector<Problem<A>>& problems_;
  const Limits& limits_;
  simd::ScalingKernels<T, A> kernels_ = simd::scaling_kernels<T, A>();
  std::optional<SumOverRanks<A>> sums_over_ranks_;
  std::size_t room_ = 0;  // for so many problems
  std::vector<Problem<A>*> active_;
  std::vector<A> sums_;
  std::vector<BatchVectors<A>> vectors_;
  std::vector<SumsOfBlock<A>> of_block_;
  Index iterations_ = 0;
};

/// Each row and column with the largest of its marginals.
CheckedMarginals largest_of(const std::vector<CheckedMarginals>& all, Index rows, Index columns, Index first_row) {
  CheckedMarginals largest;
  largest.rows.resize(static_cast<std::size_t>(rows));
  largest.columns.resize(static_cast<std::size_t>(columns));
  largest.first_row = first_row;
  const auto raise = [](std::vector<double>& to, const std::vector<double>& from) {
    std::ranges::transform(to, from, to.begin(), [](double a, double b) { return std::max(a, b); });
  };
  for (const CheckedMarginals& marginals : all) {
    raise(largest.rows, marginals.rows);
    raise(largest.columns, marginals.columns);
  }
  return largest;
}

}  // namespace

template <class T, class A>
std::vector<Scaling<A>> scale_batch(mpi::Context& context, matrix_view<const T> rows,
                                    std::span<const Marginals> marginals, const Limits& limits) {
  const auto count = static_cast<Index>(marginals.size());
  const Index most = mpi::all_reduce(context.comm(), count, mpi::Operation::maximum());
  mpi::agreed(context, [&] {
    expect_valid(limits);
    if (!rows.empty() && rows.order() != StorageOrder::row_major) {
      throw ArgumentError("the matrix is column-major, expected row-major: its transpose is, with marginals exchanged");
    }
    if (count != most) {
      throw ArgumentError(fmt::format("{} marginals are given, but {} on another rank", count, most));
    }
  });
  std::vector<CheckedMarginals> checked;
  for (std::size_t k = 0; k < marginals.size(); ++k) {
    try {
      checked.push_back(checked_marginals(context, rows.rows(), rows.columns(), marginals[k]));
    } catch (const ArgumentError& error) {  // the same on all ranks
      throw ArgumentError(fmt::format("marginals {}: {}", k, error.what()));
    }
  }
  const Index first = mpi::sum_below(context.comm(), rows.rows());
  const auto largest = mpi::agreed(context, [&] { return largest_of(checked, rows.rows(), rows.columns(), first); });
  static_cast<void>(check_matrix<T>(context, rows, largest));
  auto problems = mpi::agreed(context, [&] {
    Limits silent = limits;
    silent.listener = {};
    std::vector<Problem<A>> made;
    for (CheckedMarginals& given : checked) {
      made.push_back({std::move(given), Course(silent, roundoff_of<A>()),
                      std::vector<A>(static_cast<std::size_t>(rows.rows()), A{1}),
                      std::vector<A>(static_cast<std::size_t>(rows.columns()), A{1})});
    }
    return made;
  });
  Batch<T, A>(context, rows, problems, limits).to_the_end();
  std::vector<Scaling<A>> results;
  for (Problem<A>& problem : problems) {
    results.push_back({problem.course.outcome(), std::move(problem.u), std::move(problem.v)});
  }
  return results;
}

#define PLAIT_INSTANTIATE(T, A)                                                                                 \
  template std::vector<Scaling<A>> scale_batch(mpi::Context&, matrix_view<const T>, std::span<const Marginals>, \
                                               const Limits&)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::sinkhorn
