#include "plait/sparse/entries.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/graph/sets.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::sparse {

namespace {

template <class T>
struct Entry {
  Index row, column;
  T value;
};

template <class T>
void sort(std::vector<Entry<T>>& entries) {
  std::ranges::sort(entries, [](const Entry<T>& a, const Entry<T>& b) {
    return std::tie(a.row, a.column) < std::tie(b.row, b.column);
  });
}

/// The rows that this rank has by `ranges` of entries that ranks have in any order. Those at one place are added up, of
/// which there are two at most, or the order would matter.
template <class T>
Rows<T> dealt(mpi::Context& context, std::vector<Entry<T>> entries, std::span<const Index> ranges) {
  const auto counts = mpi::agreed(context, [&] {
    sort(entries);
    std::vector<Index> result;
    auto begin = entries.begin();
    for (const Index end_row : ranges.subspan(1)) {
      const auto end = std::ranges::lower_bound(begin, entries.end(), end_row, {}, &Entry<T>::row);
      result.push_back(end - begin);
      begin = end;
    }
    return result;
  });
  entries = mpi::all_to_all(context.comm(), std::span<const Entry<T>>(entries), counts);
  return mpi::agreed(context, [&] {
    sort(entries);
    Rows<T> rows;
    Index row = ranges[at(context.rank())];
    const Index end = ranges[at(context.rank()) + 1];
    const Entry<T>* before = nullptr;
    for (const Entry<T>& entry : entries) {
      for (; row < entry.row; ++row) rows.offsets.push_back(std::ssize(rows.columns));
      if (before != nullptr && before->row == entry.row && before->column == entry.column) {
        rows.values.back() += entry.value;
      } else {
        rows.columns.push_back(entry.column);
        rows.values.push_back(entry.value);
      }
      before = &entry;
    }
    for (; row < end; ++row) rows.offsets.push_back(std::ssize(rows.columns));
    return rows;
  });
}

template <class T>
void expect_square(const Matrix<T>& a) {
  if (std::ranges::equal(a.row_ranges(), a.column_ranges())) return;
  throw ArgumentError(fmt::format("matrix: is {} x {}, expected a square one with as many rows as columns on each rank",
                                  a.rows(), a.columns()));
}

}  // namespace

template <class T>
Rows<T> plus_transposed(const Matrix<T>& a, T factor) {
  auto entries = mpi::agreed(a.context(), [&](mpi::Alike& arguments) {
    arguments.add("factor", factor);
    expect_square(a);
    std::vector<Entry<T>> result;
    result.reserve(at(2 * a.own_entries()));
    a.for_each_entry([&](Index row, Index column, T value) {
      result.push_back({row, column, value});
      result.push_back({column, row, factor == 0 ? 0 : factor * value});
    });
    return result;
  });
  return dealt(a.context(), std::move(entries), a.row_ranges());
}

template <class T>
std::optional<Asymmetry<T>> asymmetry_of(const Matrix<T>& a) {
  const Rows<T> differences = plus_transposed(a, T{-1});
  Asymmetry<T> first{a.rows(), 0, 0};
  for (Index row = 0; row < a.own_rows() && first.row == a.rows(); ++row) {
    for (Index e = differences.offsets[at(row) + 1]; e-- > differences.offsets[at(row)];) {
      if (differences.values[at(e)] == 0) continue;
      first = {a.first_row() + row, differences.columns[at(e)], differences.values[at(e)]};
    }
  }
  const auto all = mpi::all_gather(a.context().comm(), first);
  const auto found = std::ranges::min_element(all, {}, &Asymmetry<T>::row);
  return found->row == a.rows() ? std::nullopt : std::optional(*found);
}

template <class T>
Rows<T> renumbered(const Matrix<T>& a, std::span<const Index> numbers, Index own_rows) {
  mpi::Context& context = a.context();
  const auto counts = mpi::all_gather(context.comm(), own_rows);
  std::vector<Index> ranges;
  auto seen = mpi::agreed(context, [&] {
    expect_square(a);
    expect_at_least("own_rows", own_rows, 0);
    ranges.push_back(0);
    for (const Index count : counts) ranges.push_back(ranges.back() + count);
    if (ranges.back() != a.rows()) {
      throw ArgumentError(
          fmt::format("own_rows: add up to {} on all ranks, expected {}, as there are", ranges.back(), a.rows()));
    }
    if (std::ssize(numbers) != a.own_rows()) {
      throw ArgumentError(
          fmt::format("numbers: {} given, expected one for each of {} rows", numbers.size(), a.own_rows()));
    }
    std::vector<Entry<Index>> result;
    for (const Index number : numbers) {
      if (number < 0 || number >= a.rows()) {
        throw ArgumentError(fmt::format("numbers: row {} gets {}, expected 0 or more, below {}",
                                        a.first_row() + std::ssize(result), number, a.rows()));
      }
      result.push_back({number, std::ssize(result) + a.first_row(), 0});
    }
    return result;
  });
  const Rows<Index> old = dealt(context, std::move(seen), ranges);
  mpi::agreed(context, [&] {
    for (Index row = 0; row < own_rows; ++row) {
      const Index times = old.offsets[at(row) + 1] - old.offsets[at(row)];
      if (times == 1) continue;
      throw ArgumentError(
          fmt::format("numbers: {} rows get {}, expected each number once", times, ranges[at(context.rank())] + row));
    }
  });
  const std::vector<Index> of_ghosts = a.values_of_ghosts(numbers);
  auto entries = mpi::agreed(context, [&] {
    std::vector<Entry<T>> result;
    result.reserve(at(a.own_entries()));
    const Index own = a.own_rows();
    a.for_each_place([&](Index row, Index place, T value) {
      result.push_back({numbers[at(row)], place < own ? numbers[at(place)] : of_ghosts[at(place - own)], value});
    });
    return result;
  });
  return dealt(context, std::move(entries), ranges);
}

template <class T>
Components components_of(const Matrix<T>& graph) {
  mpi::Context& context = graph.context();
  const Index first = graph.first_row(), own = graph.own_rows();
  Components result;
  std::optional<graph::Sets> here;  // of places, of which ghosts come last: roots are rows
  mpi::agreed(context, [&] {
    expect_square(graph);
    here.emplace(at(own) + graph.ghosts().size());
    graph.for_each_place([&](Index row, Index place, T) { here->unite(at(row), at(place)); });
    for (Index row = 0; row < own; ++row) result.of.push_back(first + static_cast<Index>(here->root(at(row))));
  });
  const std::vector<Index> of_ghosts = graph.values_of_ghosts(result.of);
  using Pair = std::array<Index, 2>;
  auto pairs = mpi::agreed(context, [&] {
    std::vector<Pair> joined;
    for (std::size_t g = 0; g < of_ghosts.size(); ++g) {
      joined.push_back({first + static_cast<Index>(here->root(at(own) + g)), of_ghosts[g]});
    }
    std::ranges::sort(joined);
    joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
    return joined;
  });
  pairs = mpi::gather_on_all(context.comm(), std::span<const Pair>(pairs));
  const Index roots = mpi::agreed(context, [&] {
    const graph::JoinedLabels all(pairs);
    Index count = 0;
    for (Index row = 0; row < own; ++row) {
      Index& label = result.of[at(row)];
      label = all.least(label);
      count += label == first + row ? 1 : 0;
    }
    return count;
  });
  result.count = mpi::all_reduce(context.comm(), roots, mpi::Operation::sum());
  return result;
}

template Rows<float> plus_transposed(const Matrix<float>&, float);
template Rows<double> plus_transposed(const Matrix<double>&, double);
template std::optional<Asymmetry<float>> asymmetry_of(const Matrix<float>&);
template std::optional<Asymmetry<double>> asymmetry_of(const Matrix<double>&);
template Rows<float> renumbered(const Matrix<float>&, std::span<const Index>, Index);
template Rows<double> renumbered(const Matrix<double>&, std::span<const Index>, Index);
template Components components_of(const Matrix<float>&);
template Components components_of(const Matrix<double>&);

}  // namespace plait::sparse
