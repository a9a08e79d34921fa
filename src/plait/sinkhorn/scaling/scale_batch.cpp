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
#include "plait/sinkhorn/scaling/relaxed_factors.hpp"
#include "plait/sinkhorn/scaling/scaled_row.hpp"
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
  Batch(mpi::Context& context, matrix_view<const T> rows, std::vector<Problem<A>>& problems, const Limits& limits,
        const Update& update)
      : context_(context),
        rows_(rows),
        problems_(problems),
        limits_(limits),
        is_plain_(update.is_plain()),
        is_balanced_(update.is_balanced()),
        of_rows_(update.row_exponent, update.over_relaxation),
        of_columns_(update.column_exponent, update.over_relaxation) {}

  void to_the_end() {
    while (true) {
      choose_who_goes_on();
      if (active_.empty()) return;
      sweep();
      (*sums_over_ranks_)(sums_);
      end_or_move_columns();
      double largest = 0;
      for (const Problem<A>* problem : active_) largest = std::max(largest, problem->course.outcome().error);
      ++iterations_;
      if (limits_.listener) limits_.listener(iterations_, largest);
    }
  }

 private:
  /// The sums of one problem's columns, what its rows are off by, what they are to sum up to, and how many of them have
  /// no factor.
  [[nodiscard]] std::size_t stride() const { return static_cast<std::size_t>(rows_.columns()) + 3; }
  [[nodiscard]] std::span<const A> sums_of(std::size_t slot) const {
    return std::span<const A>(sums_).subspan(slot * stride(), stride());
  }

  void choose_who_goes_on() {
    end_at_limit();
    active_.clear();
    for (Problem<A>& problem : problems_) {
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
    distances_.assign(active_.size(), 0.0);
    wanted_of_rows_.assign(active_.size(), 0.0);
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
    for (std::size_t slot = 0; slot < active_.size(); ++slot) {
      sums_[(slot + 1) * stride() - 3] = static_cast<A>(distances_[slot]);
      sums_[(slot + 1) * stride() - 2] = static_cast<A>(wanted_of_rows_[slot]);
    }
  }

  void move_row(std::size_t slot, Index i, A sum) {
    const auto row = static_cast<std::size_t>(i);
    Problem<A>& problem = *active_[slot];
    const double marginal = problem.marginals.rows[row];
    A& u = problem.u[row];
    const auto ratio = factor(marginal, is_plain_ ? sum : u * sum);
    if (!ratio) {
      sums_[(slot + 1) * stride() - 1] += 1;
      u = 0;
    } else if (is_plain_ || marginal == 0) {
      u = *ratio;
    } else {
      u = relaxed_factor(of_rows_, u, *ratio);
      const double wanted = of_rows_.wanted(marginal, std::log(static_cast<double>(u)));
      distances_[slot] += std::abs(static_cast<double>(u) * static_cast<double>(sum) - wanted);
      wanted_of_rows_[slot] += wanted;
    }
  }

  [[nodiscard]] double error_of(const Problem<A>& problem, std::span<const A> sums) const {
    const std::vector<double>& marginals = problem.marginals.columns;
    double distance = 0;
    double whole = is_plain_ ? problem.marginals.total : 0;
    for (std::size_t j = 0; j < marginals.size(); ++j) {
      const double wanted = is_plain_ ? marginals[j] : wanted_sum(of_columns_, marginals[j], problem.v[j]);
      distance += std::abs(static_cast<double>(problem.v[j]) * static_cast<double>(sums[j]) - wanted);
      if (!is_plain_) whole += wanted;
    }
    distance += static_cast<double>(sums[marginals.size()]);
    return whole > 0 ? distance / whole : distance;
  }

  /// Whether all columns that are to have a sum got a factor.
  [[nodiscard]] bool move_columns(Problem<A>& problem, std::span<const A> sums) const {
    const std::vector<double>& marginals = problem.marginals.columns;
    double of_columns = 0;
    for (std::size_t j = 0; j < marginals.size(); ++j) {
      A& v = problem.v[j];
      const auto ratio = factor(marginals[j], is_plain_ ? sums[j] : v * sums[j]);
      if (!ratio) return false;
      v = is_plain_ || marginals[j] == 0 ? *ratio : relaxed_factor(of_columns_, v, *ratio);
      if (!is_balanced_) of_columns += wanted_sum(of_columns_, marginals[j], v);
    }
    const auto of_rows = static_cast<double>(sums[marginals.size() + 1]);
    return is_balanced_ || translate<A>(of_rows_, of_columns_, of_rows, of_columns, problem.u, problem.v);
  }

  /// Problems end for their own reasons, but whatever takes messages is asked for all of them at once.
  void end_or_move_columns() {
    std::vector<Problem<A>*> out_of_range;
    std::vector<Problem<A>*> in_doubt;
    for (std::size_t slot = 0; slot < active_.size(); ++slot) {
      Problem<A>& problem = *active_[slot];
      const auto sums = sums_of(slot);
      const double error = error_of(problem, sums);
      problem.course.took(error);
      if (sums.back() > 0 || !std::isfinite(error)) {
        out_of_range.push_back(&problem);
        in_doubt.push_back(&problem);
      } else if (problem.course.is_over()) {
        problem.is_over = true;
      } else if (problem.course.is_slow()) {
        in_doubt.push_back(&problem);
      }
    }
    static_cast<void>(end_infeasible(in_doubt));
    for (Problem<A>* problem : out_of_range) end_out_of_range(*problem);
    out_of_range.clear();
    for (std::size_t slot = 0; slot < active_.size(); ++slot) {
      Problem<A>& problem = *active_[slot];
      if (problem.is_over || problem.course.is_at_limit()) continue;
      if (!move_columns(problem, sums_of(slot))) out_of_range.push_back(&problem);
    }
    static_cast<void>(end_infeasible(out_of_range));
    for (Problem<A>* problem : out_of_range) end_out_of_range(*problem);
  }

  /// Ends those for which there is proof that they can't have their marginals.
  ///
  /// \return  what was found, of each; of sums that are not given nothing, as they can be had of any matrix
  std::vector<Feasibility> end_infeasible(const std::vector<Problem<A>*>& in_doubt) {
    if (!is_balanced_ || in_doubt.empty()) return std::vector<Feasibility>(in_doubt.size());
    std::vector<std::vector<double>> heights;
    std::vector<RowHeights> asked;
    mpi::agreed(context_, [&] {
      for (const Problem<A>* problem : in_doubt) heights.emplace_back(problem->u.begin(), problem->u.end());
      for (std::size_t n = 0; n < in_doubt.size(); ++n) asked.push_back({&in_doubt[n]->marginals, heights[n]});
    });
    auto found = feasibility_of_each<T>(context_, rows_, Support::positive, asked);
    for (std::size_t n = 0; n < in_doubt.size(); ++n) {
      Problem<A>& problem = *in_doubt[n];
      problem.is_over = problem.course.is_proof(found[n], problem.marginals);
    }
    return found;
  }

  void end_at_limit() {
    std::vector<Problem<A>*> ending;
    for (Problem<A>& problem : problems_) {
      if (problem.is_over || !problem.course.is_at_limit()) continue;
      if (problem.course.outcome().iterations > 0) {
        ending.push_back(&problem);
        continue;
      }
      problem.course.at_limit();
      problem.is_over = true;
    }
    const auto found = end_infeasible(ending);
    for (std::size_t n = 0; n < ending.size(); ++n) {
      if (!ending[n]->is_over) ending[n]->course.at_limit(found[n]);
      ending[n]->is_over = true;
    }
  }

  /// Where there is no proof that there is no plan.
  static void end_out_of_range(Problem<A>& problem) {
    if (problem.is_over) return;
    problem.is_over = true;
    problem.course.ended(Status::numerical_limit,
                         fmt::format("sums of rows or columns left the range of numbers in iteration {}",
                                     problem.course.outcome().iterations));
  }

  mpi::Context& context_;
  matrix_view<const T> rows_;
  std::vector<Problem<A>>& problems_;
  const Limits& limits_;
  bool is_plain_;
  bool is_balanced_;
  LogUpdate of_rows_;
  LogUpdate of_columns_;
  simd::ScalingKernels<T, A> kernels_ = simd::scaling_kernels<T, A>();
  std::optional<SumOverRanks<A>> sums_over_ranks_;
  std::size_t room_ = 0;  // for so many problems
  std::vector<Problem<A>*> active_;
  std::vector<A> sums_;
  std::vector<double> distances_;  // of the rows of those that go on
  std::vector<double> wanted_of_rows_;
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
  if (!all.empty()) largest.names = all.front().names;
  const auto raise = [](std::vector<double>& to, const std::vector<double>& from) {
    std::ranges::transform(to, from, to.begin(), [](double a, double b) { return std::max(a, b); });
  };
  for (const CheckedMarginals& marginals : all) {
    raise(largest.rows, marginals.rows);
    raise(largest.columns, marginals.columns);
  }
  return largest;
}

/// The factors of columns to begin with: ones, or those that are given.
template <class A>
std::vector<A> start_of(std::span<const A> given, const std::vector<double>& marginals) {
  if (given.empty()) return std::vector<A>(marginals.size(), A{1});
  std::vector<A> start(given.begin(), given.end());
  for (std::size_t j = 0; j < start.size(); ++j) {
    if (marginals[j] == 0) start[j] = 0;
  }
  return start;
}

}  // namespace

template <class T, class A>
std::vector<Scaling<A>> scale_batch(mpi::Context& context, matrix_view<const T> rows,
                                    std::span<const Marginals> marginals, const Limits& limits, const Update& update,
                                    std::span<const std::vector<A>> starts) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    name_arguments(limits, arguments);
    name_arguments(update, arguments);
    expect_valid(limits);
    expect_valid(update);
    if (!rows.empty() && rows.order() != StorageOrder::row_major) {
      throw ArgumentError("the matrix is column-major, expected row-major: its transpose is, with marginals exchanged");
    }
  });
  expect_as_many(context, marginals.size());
  auto checked = update.is_balanced() ? checked_marginals_of_each(context, rows.rows(), rows.columns(), marginals)
                                      : checked_masses_of_each(context, rows.rows(), rows.columns(), marginals);
  const Index first = mpi::sum_below(context.comm(), rows.rows());
  const auto largest = mpi::agreed(context, [&] { return largest_of(checked, rows.rows(), rows.columns(), first); });
  check_matrix<T>(context, rows, largest);
  auto problems = mpi::agreed(context, [&] {
    Limits silent = limits;
    silent.listener = {};
    std::vector<Problem<A>> made;
    for (std::size_t k = 0; k < checked.size(); ++k) {
      auto start = start_of(starts.empty() ? std::span<const A>() : std::span<const A>(starts[k]), checked[k].columns);
      made.push_back({std::move(checked[k]), Course(silent, roundoff_of<A>()),
                      std::vector<A>(static_cast<std::size_t>(rows.rows()), A{1}), std::move(start)});
    }
    return made;
  });
  Batch<T, A>(context, rows, problems, limits, update).to_the_end();
  std::vector<Scaling<A>> results;
  for (Problem<A>& problem : problems) {
    results.push_back({problem.course.outcome(), std::move(problem.u), std::move(problem.v)});
  }
  return results;
}

template <class T, class A>
std::vector<MarginalErrors> marginal_errors_of_each(mpi::Context& context, matrix_view<const T> rows,
                                                    std::span<const Scaling<A>> scalings,
                                                    std::span<const CheckedMarginals> marginals) {
  std::vector<MarginalSums> sums;
  mpi::agreed(context, [&] {
    std::vector<A> entries(static_cast<std::size_t>(rows.columns()));
    sums.reserve(scalings.size());
    for (const CheckedMarginals& of_problem : marginals) sums.emplace_back(of_problem);
    for (Index i = 0; i < rows.rows(); ++i) {
      for (std::size_t k = 0; k < scalings.size(); ++k) {
        scaled_row<T, A>(rows, i, scalings[k].u[static_cast<std::size_t>(i)], scalings[k].v, entries);
        sums[k].add(i, std::span<const A>(entries));
      }
    }
  });
  return errors_of_each(context, sums);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type can not stand in them
#define PLAIT_INSTANTIATE(T, A)                                                                                 \
  template std::vector<Scaling<A>> scale_batch(mpi::Context&, matrix_view<const T>, std::span<const Marginals>, \
                                               const Limits&, const Update&, std::span<const std::vector<A>>);  \
  template std::vector<MarginalErrors> marginal_errors_of_each(                                                 \
      mpi::Context&, matrix_view<const T>, std::span<const Scaling<A>>, std::span<const CheckedMarginals>)
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(simd::BFloat16, float);
#undef PLAIT_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace plait::sinkhorn
