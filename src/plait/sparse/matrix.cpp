#include "plait/sparse/matrix.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/schedule/flags.hpp"

namespace plait::sparse {

namespace {

constexpr auto line = static_cast<Index>(Buffer::alignment);
constexpr Index entries_a_step = Index{1} << 14;  // some 20 microseconds
constexpr Index most_own_columns = Index{1} << 32;

template <class T>
void expect_valid(const Rows<T>& rows, Index first_row, Index columns) {
  const std::vector<Index>& offsets = rows.offsets;
  if (offsets.empty() || offsets[0] != 0) {
    throw ArgumentError(offsets.empty() ? "offsets: there are none, expected one more than rows"
                                        : fmt::format("offsets: begin with {}, expected 0", offsets[0]));
  }
  for (std::size_t r = 0; r + 1 < offsets.size(); ++r) {
    if (offsets[r + 1] >= offsets[r]) continue;
    throw ArgumentError(fmt::format("offsets: row {} begins at {} and ends at {}, expected an end that is not before",
                                    first_row + static_cast<Index>(r), offsets[r], offsets[r + 1]));
  }
  if (std::ssize(rows.columns) != offsets.back() || std::ssize(rows.values) != offsets.back()) {
    throw ArgumentError(fmt::format("columns, values: there are {} and {}, expected {}, where the last row ends",
                                    rows.columns.size(), rows.values.size(), offsets.back()));
  }
  for (std::size_t r = 0; r + 1 < offsets.size(); ++r) {
    Index before = -1;
    for (Index e = offsets[r]; e < offsets[r + 1]; ++e) {
      const Index column = rows.columns[at(e)], row = first_row + static_cast<Index>(r);
      if (column < 0 || column >= columns) {
        throw ArgumentError(
            fmt::format("columns: row {} has column {}, expected 0 or more, below {}", row, column, columns));
      }
      if (column <= before) {
        throw ArgumentError(
            fmt::format("columns: row {} has column {} after {}, expected ascending ones", row, column, before));
      }
      before = column;
    }
  }
}

}  // namespace

template <class T>
Matrix<T>::Matrix(mpi::Context& context, Rows<T> rows, std::optional<Index> own_columns) : context_(context) {
  const Index own_rows = std::max<Index>(std::ssize(rows.offsets) - 1, 0);
  const std::array<Index, 2> own{own_rows, std::max<Index>(own_columns.value_or(own_rows), 0)};
  const auto all = mpi::all_gather(context.comm(), own);
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    row_ranges_ = column_ranges_ = {0};
    for (const auto& [of_rows, of_columns] : all) {
      row_ranges_.push_back(row_ranges_.back() + of_rows);
      column_ranges_.push_back(column_ranges_.back() + of_columns);
    }
    expect_at_least("own_columns", own_columns.value_or(0), 0);
    expect_valid(rows, first_row(), columns());
    offsets_ = std::move(rows.offsets);
    number_columns(rows);
  });
  plan_ghosts();
  share_memory();
  mpi::agreed(context, [&] { build(); });
}

template <class T>
void Matrix<T>::number_columns(const Rows<T>& rows) {
  const Index first = first_column(), own = own_columns();
  const auto is_own = [=](Index column) { return column >= first && column < first + own; };
  std::ranges::copy_if(rows.columns, std::back_inserter(ghosts_), [&](Index column) { return !is_own(column); });
  std::ranges::sort(ghosts_);
  ghosts_.erase(std::unique(ghosts_.begin(), ghosts_.end()), ghosts_.end());
  ghosts_.shrink_to_fit();
  if (own + std::ssize(ghosts_) > most_own_columns) {
    throw ArgumentError(fmt::format("columns: this rank has {} and needs {} more, expected {} in all at most", own,
                                    ghosts_.size(), most_own_columns));
  }
  columns_ = Array<std::uint32_t>(offsets_.back());
  values_ = Array<T>(offsets_.back());
  std::ranges::copy(rows.values, values_.data());
  Index step_end = 0;
  for (Index row = 0; row < own_rows(); ++row) {
    if (offsets_[at(row)] >= step_end) {
      steps_.push_back({row, std::ssize(outer_)});
      step_end = offsets_[at(row)] + entries_a_step;
    }
    bool is_outer = false;
    auto ghost = ghosts_.begin();
    for (Index e = offsets_[at(row)]; e < offsets_[at(row) + 1]; ++e) {
      const Index column = rows.columns[at(e)];
      if (is_own(column)) {
        columns_[e] = static_cast<std::uint32_t>(column - first);
      } else {
        is_outer = true;
        ghost = std::lower_bound(ghost, ghosts_.end(), column);
        columns_[e] = static_cast<std::uint32_t>(own + (ghost - ghosts_.begin()));
      }
    }
    if (is_outer) outer_.push_back(row);
  }
  steps_.push_back({own_rows(), std::ssize(outer_)});
}

// Each rank asks the owners of its ghosts for them.
template <class T>
void Matrix<T>::plan_ghosts() {
  auto counts = mpi::agreed(context_, [&] {
    std::vector<Index> result;
    auto begin = ghosts_.begin();
    for (int rank = 0; rank < context_.size(); ++rank) {
      const auto end = std::lower_bound(begin, ghosts_.end(), column_ranges_[at(rank) + 1]);
      if (end != begin) incoming_.push_back({rank, begin - ghosts_.begin(), end - begin});
      result.push_back(end - begin);
      begin = end;
    }
    return result;
  });
  const auto wanted = mpi::all_to_all(context_.comm(), std::span<const Index>(ghosts_), counts, &counts);
  mpi::agreed(context_, [&] {
    for (const Index column : wanted) to_send_.push_back(static_cast<std::uint32_t>(column - first_column()));
    Index begin = 0;
    for (int rank = 0; rank < context_.size(); ++rank) {
      if (counts[at(rank)] > 0) outgoing_.push_back({rank, begin, counts[at(rank)]});
      begin += counts[at(rank)];
    }
    messages_ = Array<T>(begin);
    ordinary_ = Array<T>(std::ssize(ghosts_));
    ghost_values_ = ordinary_.span();
  });
}

template <class T>
std::vector<Index> Matrix<T>::values_of_ghosts(std::span<const Index> own) const {
  PLAIT_ASSERT(std::ssize(own) == own_columns(), "there is a value for each column");
  const auto [values, counts] = mpi::agreed(context_, [&] {
    std::pair<std::vector<Index>, std::vector<Index>> result({}, std::vector<Index>(at(context_.size())));
    for (const std::uint32_t column : to_send_) result.first.push_back(own[column]);
    for (const Parcel& parcel : outgoing_) result.second[at(parcel.peer)] = parcel.count;
    return result;
  });
  return mpi::all_to_all(context_.comm(), std::span<const Index>(values), counts);
}

template <class T>
bool Matrix<T>::is_shared(const Parcel& parcel) const {
  return shared_ && context_.topology().class_of(parcel.peer) == PeerClass::node;
}

// Where a node has too little shared memory, its ranks send each other messages.
template <class T>
void Matrix<T>::share_memory() {
  const mpi::NodeTopology& topology = context_.topology();
  const mpi::Communicator& node = topology.node();
  if (node.size() == 1) return;
  const Index flag_bytes = 2 * node.size() * Index{sizeof(schedule::FlagCell)};
  const Index header = flag_bytes + rounded_up(node.size() * Index{sizeof(Index)}, line);
  const bool has_any = std::ranges::any_of(
      incoming_, [&](const Parcel& parcel) { return topology.class_of(parcel.peer) == PeerClass::node; });
  std::array most{std::ssize(ghosts_) * Index{sizeof(T)}, Index{has_any}};
  mpi::all_reduce(node, most, mpi::Operation::maximum());
  if (most[1] == 0 || (header + most[0]) * node.size() > context_.shared_staging().capacity()) return;
  try {
    shared_ = context_.shared_staging().lease(header + most[0], header);
  } catch (const OutOfMemory&) {
    return;
  }
  const auto ghosts_in = [&](int node_rank) {
    return reinterpret_cast<T*>(shared_->segment(node_rank).data() + header);
  };
  const auto begins_in = [&](int node_rank) {
    return reinterpret_cast<Index*>(shared_->segment(node_rank).data() + flag_bytes);
  };
  for (const Parcel& parcel : incoming_) {
    if (is_shared(parcel)) begins_in(node.rank())[topology.node_rank_of(parcel.peer)] = parcel.begin;
  }
  mpi::barrier(node);
  for (Parcel& parcel : outgoing_) {
    if (!is_shared(parcel)) continue;
    const int receiver = topology.node_rank_of(parcel.peer);
    parcel.shared = ghosts_in(receiver) + begins_in(receiver)[node.rank()];
  }
  ghost_values_ = {ghosts_in(node.rank()), ghosts_.size()};
  ordinary_ = {};
}

// At stage 0 ghosts travel, at 1 and 2 rows are summed, at 3 owners learn that ghosts may be written again.
template <class T>
void Matrix<T>::build() {
  using schedule::Position;
  using schedule::Run;
  schedule::Graph graph;
  const schedule::SlotId messages = graph.output(messages_.size() * Index{sizeof(T)});
  const schedule::SlotId ghosts = graph.output(std::ssize(ghosts_) * Index{sizeof(T)});
  const int own = context_.rank(), ranks = context_.size();
  const auto bytes = [](Index count) { return count * Index{sizeof(T)}; };
  const auto position = [&](Index stage, int from, int to) {
    return Position{.stage = stage, .strand = 0, .segment = (to - from + ranks) % ranks};
  };
  const mpi::NodeTopology& topology = context_.topology();
  const auto flags_of = [&](int receiver) {
    const Index cells = 2 * topology.node().size();
    const std::span<std::byte> segment = shared_->segment(topology.node_rank_of(receiver));
    return schedule::NodeFlags(segment.first(at(cells * Index{sizeof(schedule::FlagCell)})), cells);
  };
  const auto filled = [&](int sender) { return 2 * topology.node_rank_of(sender); };
  const auto emptied = [&](int sender) { return filled(sender) + 1; };
  for (const Parcel& parcel : outgoing_) {
    const Position here = position(0, own, parcel.peer);
    T* const place = parcel.shared != nullptr ? parcel.shared : messages_.data() + parcel.begin;
    const schedule::OperationId packed =
        graph.compute(here, quotient_up(parcel.count, entries_a_step),
                      [this, &parcel, place](const Run&, Index step) { pack(parcel, step, place); });
    if (parcel.shared != nullptr) {
      graph.writes_for(packed, parcel.peer, bytes(parcel.count));
      graph.signal(here, flags_of(parcel.peer), filled(own), 1, {packed});
      graph.await(position(3, own, parcel.peer), flags_of(parcel.peer), emptied(own));
    } else {
      graph.send(here, parcel.peer, {messages, bytes(parcel.begin), bytes(parcel.count)}, {packed});
    }
  }
  schedule::Dependencies arrived;
  for (const Parcel& parcel : incoming_) {
    const Position here = position(0, parcel.peer, own);
    arrived.push_back(is_shared(parcel)
                          ? graph.await(here, flags_of(own), filled(parcel.peer))
                          : graph.receive(here, parcel.peer, {ghosts, bytes(parcel.begin), bytes(parcel.count)}));
  }
  const Index steps = std::ssize(steps_) - 1;
  graph.compute({.stage = 1}, steps, [this](const Run&, Index step) { multiply_inner(step); });
  const auto outer =
      graph.compute({.stage = 2}, steps, [this](const Run&, Index step) { multiply_outer(step); }, {}, arrived);
  for (const Parcel& parcel : incoming_) {
    if (!is_shared(parcel)) continue;
    graph.reads_from(outer, parcel.peer, bytes(parcel.count));
    graph.signal(position(3, parcel.peer, own), flags_of(own), emptied(parcel.peer), 1, {outer}, schedule::Tells::end);
  }
  schedule_.emplace(context_, std::move(graph), "sparse");
}

template <class T>
void Matrix<T>::begin(std::span<const T> x, std::span<T> y) {
  PLAIT_ASSERT(std::ssize(x) == own_columns() && std::ssize(y) == own_rows(), "x has the columns, y the rows");
  x_ = x.data();
  y_ = y.data();
  schedule_->start(std::array{schedule::Binding::output(std::as_writable_bytes(messages_.span())),
                              schedule::Binding::output(std::as_writable_bytes(ghost_values_))});
}

template <class T>
void Matrix<T>::pack(const Parcel& parcel, Index step, T* to) const {
  const Index end = std::min(parcel.count, (step + 1) * entries_a_step);
  for (Index i = step * entries_a_step; i < end; ++i) to[i] = x_[to_send_[at(parcel.begin + i)]];
}

template <class T>
template <class F>
void Matrix<T>::sum_rows(Index begin, Index end, const F& element) const {
  const Index* const offsets = offsets_.data();
  const std::uint32_t* const columns = columns_.data();
  const T* const values = values_.data();
  for (Index row = begin; row < end; ++row) {
    T sum = 0;
    for (Index e = offsets[row]; e < offsets[row + 1]; ++e) sum += values[e] * element(columns[e]);
    y_[row] = sum;
  }
}

template <class T>
void Matrix<T>::multiply_inner(Index step) const {
  const auto [row, outer] = steps_[at(step)];
  const auto [end, outer_end] = steps_[at(step) + 1];
  const auto element = [x = x_](std::uint32_t column) { return x[column]; };
  Index next = row;
  for (Index i = outer; i < outer_end; ++i) {
    sum_rows(next, outer_[at(i)], element);
    next = outer_[at(i)] + 1;
  }
  sum_rows(next, end, element);
}

template <class T>
void Matrix<T>::multiply_outer(Index step) const {
  const auto element = [x = x_, ghosts = ghost_values_.data(), own = own_columns()](std::uint32_t column) {
    return column < own ? x[column] : ghosts[column - own];
  };
  for (Index i = steps_[at(step)].outer; i < steps_[at(step) + 1].outer; ++i) {
    sum_rows(outer_[at(i)], outer_[at(i)] + 1, element);
  }
}

template class Matrix<float>;
template class Matrix<double>;

}  // namespace plait::sparse
