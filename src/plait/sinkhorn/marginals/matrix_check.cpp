#include "plait/sinkhorn/marginals/matrix_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"

namespace plait::sinkhorn {

namespace {

/// \param what  "row" or "column"
/// \param dead  what is all that it has: "only zeros"
/// \throws ArgumentError  it is to have a sum, but no entry that one could be made of
void expect_alive(std::string_view what, Index number, bool lives, double marginal, std::string_view dead) {
  if (lives || marginal == 0) return;
  throw ArgumentError(
      fmt::format("{} {} has {}, but is to sum up to {}: no scaling does that", what, number, dead, marginal));
}

/// Whether an entry may be there.
template <Support support, class T>
bool is_allowed(T entry) {
  return support == Support::positive ? entry >= 0 && entry <= std::numeric_limits<T>::max()
                                      : entry >= -std::numeric_limits<T>::max();
}

/// Goes through this rank's rows, once for all problems, on several threads.
///
/// \return  the largest absolute value of an entry that counts
template <Support support, class Matrix>
double look_through(mpi::Context& context, const Matrix& rows, std::span<const CheckedMarginals> problems,
                    const Columns& part = {}) {
  constexpr bool is_scaled = support == Support::positive;
  constexpr const char* dead = is_scaled ? "only zeros" : "only costs of +infinity";
  FirstFailure failure(problems.size());
  std::vector<std::uint8_t> alive;  // columns: in how many slabs
  std::vector<std::uint8_t> lives;  // rows; likewise:
  std::vector<std::uint8_t> is_wrong;
  std::vector<double> highest;
  mpi::agreed(context, [&] {
    alive.resize(static_cast<std::size_t>(columns_of(rows)));
    for (auto* of_rows : {&lives, &is_wrong}) of_rows->resize(static_cast<std::size_t>(rows.rows()));
    highest.resize(lives.size());
    const auto look = [&](const Slab<std::uint8_t>& slab) {
      const auto alive_here = slab.memory;
      for (Index i = slab.first; i < slab.first + slab.count; ++i) {
        unsigned wrong = 0;
        unsigned any = 0;
        double most = 0;
        for_each_entry(rows, i, [&](std::size_t j, auto stored) {
          const auto entry = simd::widened<simd::FloatOf<decltype(stored)>>(stored);
          const bool lives_on = counts<support>(entry);
          wrong |= static_cast<unsigned>(!is_allowed<support>(entry));
          any |= static_cast<unsigned>(lives_on);
          alive_here[j] = static_cast<std::uint8_t>(alive_here[j] | static_cast<unsigned>(lives_on));
          most = std::max(most, lives_on ? static_cast<double>(std::abs(entry)) : 0);
        });
        const auto row = static_cast<std::size_t>(i);
        lives[row] = static_cast<std::uint8_t>(any);
        is_wrong[row] = static_cast<std::uint8_t>(wrong);
        highest[row] = most;
      }
    };
    add_up<std::uint8_t>(rows.rows(), alive.size(), 1, context.topology().threads(), look,
                         [&](std::size_t) { return std::span(alive); });
  });
  const Index wrong_row = std::ranges::find(is_wrong, 1) - is_wrong.begin();
  if (part.of_row != nullptr) collective::allreduce(*part.of_row, std::span(lives), simd::ReduceOperation::max);
  failure.check_each(context, [&](std::size_t k) {
    const CheckedMarginals& marginals = problems[k];
    for (Index i = 0; i < rows.rows(); ++i) {
      const Index number = marginals.first_row + i;
      const auto expect_allowed = [&](std::size_t j, auto stored) {
        const auto entry = simd::widened<simd::FloatOf<decltype(stored)>>(stored);
        if (is_allowed<support>(entry)) return;
        throw ArgumentError(fmt::format("the entry in row {}, column {} is {}, expected {}", number,
                                        part.first + static_cast<Index>(j), entry,
                                        is_scaled ? "a finite number >= 0" : "a number above -infinity"));
      };
      if (i == wrong_row) for_each_entry(rows, i, expect_allowed);
      expect_alive("row", number, lives[static_cast<std::size_t>(i)] != 0, marginals.rows[static_cast<std::size_t>(i)],
                   dead);
    }
  });
  collective::allreduce(part.of_column != nullptr ? *part.of_column : context, std::span<std::uint8_t>(alive),
                        simd::ReduceOperation::max);
  failure.check_each(context, [&](std::size_t k) {
    for (std::size_t j = 0; j < alive.size(); ++j) {
      const Index number = part.first + static_cast<Index>(j);
      expect_alive("column", number, alive[j] != 0, problems[k].columns[static_cast<std::size_t>(number)], dead);
    }
  });
  failure.expect_none(context);
  return highest.empty() ? 0 : std::ranges::max(highest);
}

}  // namespace

template <class T>
void check_matrix(mpi::Context& context, matrix_view<const T> rows, std::span<const CheckedMarginals> problems,
                  const Columns& part) {
  static_cast<void>(look_through<Support::positive>(context, rows, problems, part));
}

template <class T>
void check_matrix(mpi::Context& context, const layout::SparseRows<T>& rows,
                  std::span<const CheckedMarginals> problems) {
  static_cast<void>(look_through<Support::positive>(context, rows, problems));
}

template <class T>
double check_costs(mpi::Context& context, matrix_view<const T> rows, std::span<const CheckedMarginals> problems) {
  const double highest = look_through<Support::finite>(context, rows, problems);
  return mpi::all_reduce(context.comm(), highest, mpi::Operation::maximum());
}

template <class T>
std::vector<CheckedMarginals> reachable(mpi::Context& context, matrix_view<const T> costs,
                                        std::span<const CheckedMarginals> problems) {
  const auto columns = static_cast<std::size_t>(costs.columns());
  std::vector<std::uint8_t> is_reached;  // all columns of one problem behind those of the one before
  std::vector<CheckedMarginals> left;
  mpi::agreed(context, [&] {
    left.assign(problems.begin(), problems.end());
    is_reached.resize(problems.size() * columns);
    const auto look = [&](const Slab<std::uint8_t>& slab) {
      for (Index i = slab.first; i < slab.first + slab.count; ++i) {
        for (std::size_t k = 0; k < left.size(); ++k) {
          double& mass = left[k].rows[static_cast<std::size_t>(i)];
          if (mass == 0) continue;
          const auto reached = slab.sums(k);
          bool reaches = false;
          for_each_entry(costs, i, [&](std::size_t j, T cost) {
            if (!std::isfinite(cost)) return;
            reached[j] = 1;
            reaches = reaches || problems[k].columns[j] > 0;
          });
          if (!reaches) mass = 0;
        }
      }
    };
    add_up<std::uint8_t>(costs.rows(), columns, problems.size(), context.topology().threads(), look,
                         [&](std::size_t k) { return std::span(is_reached).subspan(k * columns, columns); });
  });
  if (!problems.empty()) {
    collective::allreduce(context, std::span<std::uint8_t>(is_reached), simd::ReduceOperation::max);
  }
  for (std::size_t n = 0; n < is_reached.size(); ++n) {
    if (is_reached[n] == 0) left[n / columns].columns[n % columns] = 0;
  }
  return left;
}

#define PLAIT_INSTANTIATE(T) \
  template void check_matrix(mpi::Context&, matrix_view<const T>, std::span<const CheckedMarginals>, const Columns&)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
PLAIT_INSTANTIATE(simd::BFloat16);
#undef PLAIT_INSTANTIATE

#define PLAIT_INSTANTIATE(T)                                                                                  \
  template void check_matrix(mpi::Context&, const layout::SparseRows<T>&, std::span<const CheckedMarginals>); \
  template double check_costs(mpi::Context&, matrix_view<const T>, std::span<const CheckedMarginals>);        \
  template std::vector<CheckedMarginals> reachable(mpi::Context&, matrix_view<const T>,                       \
                                                   std::span<const CheckedMarginals>)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

namespace {

/// An entry of a matrix, and its mirror image.
struct Mismatch {
  Index row = 0;
  Index column = 0;
  double entry = 0;
  double mirrored = 0;

  /// Whether they should be one and are not.
  [[nodiscard]] bool is_one() const noexcept {
    if (entry == mirrored) return false;  // infinite ones, too
    const double difference = std::abs(entry - mirrored);
    return std::isinf(difference) || difference > symmetry_tolerance * std::max(std::abs(entry), std::abs(mirrored));
  }
};

/// Keeps the one that comes first in the matrix.
void keep_first(std::optional<Mismatch>& found, const Mismatch& next) {
  if (!next.is_one()) return;
  if (!found || next.row < found->row || (next.row == found->row && next.column < found->column)) found = next;
}

/// The first of what compare(n, found) finds, n < count, on several threads, and what was found before.
template <class Compare>
void find_first(std::optional<Mismatch>& found, Index count, int threads, const Compare& compare) {
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    std::optional<Mismatch> here;
#pragma omp for schedule(static)
    for (Index n = 0; n < count; ++n) compare(n, here);
#pragma omp critical
    if (here) keep_first(found, *here);
  }
}

/// \throws ArgumentError  on all ranks: one of them has found one. Collective over `context`
void expect_none(mpi::Context& context, const std::optional<Mismatch>& found) {
  mpi::agreed(context, [&] {
    if (!found) return;
    Mismatch told = *found;  // whichever of the two was found
    if (told.row > told.column) told = {told.column, told.row, told.mirrored, told.entry};
    throw ArgumentError(
        fmt::format("the entry in row {0}, column {1} is {2}, that in row {1}, column {0} is {3}, expected a symmetric "
                    "matrix",
                    told.row, told.column, told.entry, told.mirrored));
  });
}

/// Which rows the ranks have: rank r those from first[r] on, up to first[r + 1].
std::vector<Index> first_rows(mpi::Context& context, Index own) {
  const auto counts = mpi::all_gather(context.comm(), own);
  return mpi::agreed(context, [&] {
    std::vector<Index> first{0};
    for (const Index rows : counts) first.push_back(first.back() + rows);
    return first;
  });
}

/// Compares the matrix with its transpose, whose rows come from their owners in pieces that need little memory.
template <class T>
std::optional<Mismatch> first_mismatch(mpi::Context& context, matrix_view<const T> rows) {
  constexpr Index piece_bytes = Index{4} << 20;
  constexpr Index rows_of_group = 32;  // whose lines a column of the piece finds in a cache
  const int threads = threads_for(rows.rows() * rows.columns(), context.topology().threads());
  const auto ranks = static_cast<std::size_t>(context.size());
  const auto own_rank = static_cast<std::size_t>(context.rank());
  const std::vector<Index> first = first_rows(context, rows.rows());
  const Index at_a_time = std::max(Index{1}, piece_bytes / (std::max(Index{1}, rows.columns()) * Index{sizeof(T)}));
  const auto rows_of = [&](std::size_t rank) { return first[rank + 1] - first[rank]; };
  Index most = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) most = std::max(most, rows_of(rank));
  std::vector<T> sent;
  std::vector<Index> counts;
  mpi::agreed(context, [&] {
    sent.reserve(static_cast<std::size_t>(std::min(at_a_time, rows.rows()) * rows.columns()));
    counts.resize(ranks);
  });
  std::optional<Mismatch> found;
  for (Index begin = 0; begin < most; begin += at_a_time) {
    const auto rows_here = [&](std::size_t rank) { return std::clamp(rows_of(rank) - begin, Index{0}, at_a_time); };
    sent.clear();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (Index i = begin; i < begin + rows_here(own_rank); ++i) {
        const T* row = rows.data() + i * rows.leading_dimension();
        sent.insert(sent.end(), row + first[rank], row + first[rank + 1]);
      }
      counts[rank] = rows_here(own_rank) * rows_of(rank);
    }
    const std::vector<T> came = mpi::all_to_all(context.comm(), std::span<const T>(sent), counts);
    find_first(found, (rows.rows() + rows_of_group - 1) / rows_of_group, threads, [&](Index group, auto& here) {
      const Index end = std::min(rows.rows(), (group + 1) * rows_of_group);
      const T* mirrored = came.data();
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        for (Index k = 0; k < rows_here(rank); ++k, mirrored += rows.rows()) {
          const Index column = first[rank] + begin + k;
          for (Index i = group * rows_of_group; i < end; ++i) {
            const T entry = rows.data()[i * rows.leading_dimension() + column];
            if (entry == mirrored[i]) continue;
            keep_first(here,
                       {first[own_rank] + i, column, static_cast<double>(entry), static_cast<double>(mirrored[i])});
          }
        }
      }
    });
  }
  return found;
}

template <class T>
T entry_at(const layout::SparseRows<T>& rows, Index row, Index column) {
  const auto columns = rows.columns_of(row);
  const auto at = std::ranges::lower_bound(columns, column, {}, [](std::uint32_t of) { return Index{of}; });
  return at != columns.end() && Index{*at} == column
             ? rows.values_of(row)[static_cast<std::size_t>(at - columns.begin())]
             : T{0};
}

/// Compares each entry with its mirror image: it goes to the rank that has that.
template <class T>
std::optional<Mismatch> first_mismatch(mpi::Context& context, const layout::SparseRows<T>& rows) {
  struct Mirrored {
    Index row;
    Index column;
    T value;
  };
  constexpr Index box_entries = Index{1} << 18;  // that come to a rank at once
  const std::vector<Index> first = first_rows(context, rows.rows());
  const Index own = first[static_cast<std::size_t>(context.rank())];
  const auto at_a_time = static_cast<std::size_t>(std::max(Index{1}, box_entries / context.size()));
  const Index all = mpi::all_reduce(context.comm(), rows.entries(), mpi::Operation::maximum());
  std::vector<Mirrored> sent;
  std::vector<Index> counts;
  mpi::agreed(context, [&] {
    sent.reserve(at_a_time);
    counts.resize(first.size() - 1);
  });
  std::optional<Mismatch> found;
  Index row = 0;  // and entry of it, which is the next one to go
  std::size_t next = 0;
  for (Index done = 0; done < all; done += static_cast<Index>(at_a_time)) {
    sent.clear();
    while (row < rows.rows() && sent.size() < at_a_time) {
      if (next == rows.columns_of(row).size()) {
        ++row;
        next = 0;
      } else {
        sent.push_back({own + row, Index{rows.columns_of(row)[next]}, rows.values_of(row)[next]});
        ++next;
      }
    }
    std::ranges::sort(sent, {}, &Mirrored::column);  // and so by rank
    std::ranges::fill(counts, 0);
    for (const Mirrored& entry : sent) {
      ++counts[static_cast<std::size_t>(std::ranges::upper_bound(first, entry.column) - first.begin() - 1)];
    }
    const auto came = mpi::all_to_all(context.comm(), std::span<const Mirrored>(sent), counts);
    const int threads = threads_for(std::ssize(came), context.topology().threads());
    find_first(found, std::ssize(came), threads, [&](Index n, auto& here) {
      const auto& [row, column, value] = came[static_cast<std::size_t>(n)];
      const T mirrored = entry_at(rows, column - own, row);
      keep_first(here, {column, row, static_cast<double>(mirrored), static_cast<double>(value)});
    });
  }
  return found;
}

}  // namespace

template <class T>
void expect_symmetric(mpi::Context& context, matrix_view<const T> rows) {
  expect_none(context, first_mismatch<T>(context, rows));
}

template <class T>
void expect_symmetric(mpi::Context& context, const layout::SparseRows<T>& rows) {
  expect_none(context, first_mismatch<T>(context, rows));
}

template void expect_symmetric(mpi::Context&, matrix_view<const double>);
template void expect_symmetric(mpi::Context&, matrix_view<const float>);
template void expect_symmetric(mpi::Context&, const layout::SparseRows<double>&);
template void expect_symmetric(mpi::Context&, const layout::SparseRows<float>&);

}  // namespace plait::sinkhorn
