#include "plait/graph/support.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace plait::graph {

bool Bottleneck::is_full() const noexcept { return std::abs(need - room) <= marginals_rounding * std::max(need, room); }

namespace {

/// The flow through the entries of a pattern, and what it leaves: from a row through all of its entries, from a column
/// back through those that carry something. Rows are nodes [0, rows), columns those after them.
class Flow {
 public:
  explicit Flow(const Pattern& pattern)
      : pattern_(pattern),
        rows_(pattern.row_marginals.size()),
        columns_(pattern.column_marginals.size()),
        carried_(pattern.columns.size(), 0),
        rows_of_entries_(pattern.columns.size()),
        excess_(pattern.row_marginals.begin(), pattern.row_marginals.end()),
        room_(pattern.column_marginals.begin(), pattern.column_marginals.end()),
        level_(rows_ + columns_),
        next_(rows_ + columns_) {
    const double total = std::accumulate(excess_.begin(), excess_.end(), 0.0);
    const auto is_whole = [](double marginal) { return marginal == std::floor(marginal); };
    const bool are_whole =
        total < 0x1p53 && std::ranges::all_of(excess_, is_whole) && std::ranges::all_of(room_, is_whole);
    if (!are_whole) {
      tiny_ = 1e-12 * total;
      slack_ = marginals_rounding * total;
    }
    for (std::size_t i = 0; i < rows_; ++i) {
      std::fill(rows_of_entries_.begin() + pattern.starts[i], rows_of_entries_.begin() + pattern.starts[i + 1],
                static_cast<Index>(i));
    }
    // Entries by column.
    column_starts_.assign(columns_ + 1, 0);
    for (const std::uint32_t j : pattern.columns) ++column_starts_[j + std::size_t{1}];
    std::partial_sum(column_starts_.begin(), column_starts_.end(), column_starts_.begin());
    by_column_.resize(pattern.columns.size());
    auto place = column_starts_;
    for (std::size_t e = 0; e < pattern.columns.size(); ++e) {
      by_column_[static_cast<std::size_t>(place[pattern.columns[e]]++)] = static_cast<Index>(e);
    }
    take_what_is_easy();
    while (find_levels()) augment();
  }

  [[nodiscard]] SupportFound found() {
    double missing = 0;
    for (const double excess : excess_) missing += is_some(excess) ? excess : 0;
    if (missing > 0) {
      find_levels();  // reaches no room any more: all entries of the rows that are reached lie in the columns that are
      // Room that is too little to count may add up to all that is missing.
      const Bottleneck cut = reached();
      if (cut.need - cut.room > slack_) return {SupportKind::none, cut, 0, 0, 0};
    }
    return vanishing();
  }

 private:
  [[nodiscard]] bool is_some(double amount) const { return amount > tiny_; }
  [[nodiscard]] std::size_t column_of(Index entry) const { return pattern_.columns[static_cast<std::size_t>(entry)]; }

  void move(Index entry, double amount) { carried_[static_cast<std::size_t>(entry)] += amount; }

  void take_what_is_easy() {
    for (std::size_t e = 0; e < carried_.size(); ++e) {
      const auto i = static_cast<std::size_t>(rows_of_entries_[e]);
      const double amount = std::min(excess_[i], room_[pattern_.columns[e]]);
      carried_[e] = amount;
      excess_[i] -= amount;
      room_[pattern_.columns[e]] -= amount;
    }
  }

  /// Calls visit(other node, entry) for what can be reached from a node in one step, from its next arc on, until it
  /// returns true.
  template <class F>
  bool for_each_arc(std::size_t node, Index& next, F&& visit) const {
    if (node < rows_) {
      for (; next < pattern_.starts[node + 1] - pattern_.starts[node]; ++next) {
        const Index entry = pattern_.starts[node] + next;
        if (visit(rows_ + column_of(entry), entry)) return true;
      }
      return false;
    }
    const std::size_t column = node - rows_;
    for (; next < column_starts_[column + 1] - column_starts_[column]; ++next) {
      const Index entry = by_column_[static_cast<std::size_t>(column_starts_[column] + next)];
      if (!is_some(carried_[static_cast<std::size_t>(entry)])) continue;
      if (visit(static_cast<std::size_t>(rows_of_entries_[static_cast<std::size_t>(entry)]), entry)) return true;
    }
    return false;
  }

  /// How many steps each node is from a row with an excess; whether room was found.
  bool find_levels() {
    std::ranges::fill(level_, Index{-1});
    std::vector<std::size_t> queue;
    for (std::size_t i = 0; i < rows_; ++i) {
      if (!is_some(excess_[i])) continue;
      level_[i] = 0;
      queue.push_back(i);
    }
    bool is_found = false;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const std::size_t node = queue[at];
      if (node >= rows_ && is_some(room_[node - rows_])) is_found = true;
      Index arc = 0;
      for_each_arc(node, arc, [&](std::size_t other, Index) {
        if (level_[other] < 0) {
          level_[other] = level_[node] + 1;
          queue.push_back(other);
        }
        return false;
      });
    }
    return is_found;
  }

  /// Moves what excess can be moved along shortest ways.
  void augment() {
    std::ranges::fill(next_, Index{0});
    for (std::size_t root = 0; root < rows_; ++root) {
      while (is_some(excess_[root]) && push_from(root)) {
      }
    }
  }

  /// One way from a row to a column with room; whether there is one.
  bool push_from(std::size_t root) {
    std::vector<std::size_t> nodes{root};
    std::vector<Index> way;
    while (true) {
      const std::size_t node = nodes.back();
      if (node >= rows_ && is_some(room_[node - rows_])) break;
      const bool is_on = for_each_arc(node, next_[node], [&](std::size_t other, Index entry) {
        if (level_[other] != level_[node] + 1) return false;
        nodes.push_back(other);
        way.push_back(entry);
        return true;
      });
      if (is_on) continue;
      nodes.pop_back();
      if (nodes.empty()) return false;
      way.pop_back();
      ++next_[nodes.back()];
    }
    double amount = std::min(excess_[root], room_[nodes.back() - rows_]);
    for (std::size_t k = 1; k < way.size(); k += 2) {
      amount = std::min(amount, carried_[static_cast<std::size_t>(way[k])]);
    }
    for (std::size_t k = 0; k < way.size(); ++k) move(way[k], k % 2 == 0 ? amount : -amount);
    excess_[root] -= amount;
    room_[nodes.back() - rows_] -= amount;
    return true;
  }

  /// The rows and columns that have a level.
  [[nodiscard]] Bottleneck reached() const {
    Bottleneck all;
    for (std::size_t i = 0; i < rows_; ++i) {
      if (level_[i] < 0) continue;
      ++all.rows;
      all.need += pattern_.row_marginals[i];
    }
    for (std::size_t j = 0; j < columns_; ++j) {
      if (level_[rows_ + j] < 0) continue;
      ++all.columns;
      all.room += pattern_.column_marginals[j];
    }
    return all;
  }

  /// Tarjan's algorithm, without recursion.
  [[nodiscard]] std::vector<Index> components() const {
    const std::size_t nodes = rows_ + columns_;
    std::vector<Index> component(nodes, -1);
    std::vector<Index> number(nodes, -1);
    std::vector<Index> low(nodes, 0);
    std::vector<Index> arc(nodes, 0);
    std::vector<std::size_t> open;  // that have no component yet
    std::vector<std::size_t> calls;
    Index numbers = 0;
    Index count = 0;
    for (std::size_t root = 0; root < nodes; ++root) {
      if (number[root] >= 0) continue;
      calls.push_back(root);
      while (!calls.empty()) {
        const std::size_t node = calls.back();
        if (number[node] < 0) {
          number[node] = low[node] = numbers++;
          open.push_back(node);
        }
        const bool goes_down = for_each_arc(node, arc[node], [&](std::size_t other, Index) {
          if (number[other] < 0) {
            calls.push_back(other);
            return true;
          }
          if (component[other] < 0) low[node] = std::min(low[node], low[other]);
          return false;
        });
        if (goes_down) continue;  // comes back to the same arc, and takes what the other has reached
        calls.pop_back();
        if (low[node] != number[node]) continue;
        while (true) {
          const std::size_t member = open.back();
          open.pop_back();
          component[member] = count;
          if (member == node) break;
        }
        ++count;
      }
    }
    return component;
  }

  [[nodiscard]] SupportFound vanishing() {
    SupportFound result;
    const std::vector<Index> component = components();
    for (std::size_t e = 0; e < carried_.size(); ++e) {
      const auto i = static_cast<std::size_t>(rows_of_entries_[e]);
      const std::size_t j = pattern_.columns[e];
      if (is_some(carried_[e]) || component[i] == component[rows_ + j]) continue;
      if (!is_some(pattern_.row_marginals[i]) || !is_some(pattern_.column_marginals[j])) continue;
      if (result.vanishing++ > 0) continue;
      result.kind = SupportKind::partial;
      result.row = static_cast<Index>(i);
      result.column = static_cast<Index>(j);
    }
    if (result.vanishing == 0) return result;
    // What can be reached from that column needs all of its columns' room.
    std::ranges::fill(level_, Index{-1});
    std::vector<std::size_t> queue{rows_ + static_cast<std::size_t>(result.column)};
    level_[queue.front()] = 0;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      Index arc = 0;
      for_each_arc(queue[at], arc, [&](std::size_t other, Index) {
        if (level_[other] < 0) {
          level_[other] = 0;
          queue.push_back(other);
        }
        return false;
      });
    }
    result.bottleneck = reached();
    // Entries that carry too little to count are no proof.
    if (!result.bottleneck.is_full()) return {};
    return result;
  }

  Pattern pattern_;
  std::size_t rows_;
  std::size_t columns_;
  std::vector<double> carried_;  // by each entry
  std::vector<Index> rows_of_entries_;
  std::vector<double> excess_;  // of each row: what it could not move yet
  std::vector<double> room_;    // of each column
  std::vector<Index> level_;
  std::vector<Index> next_;  // arc of each node
  std::vector<Index> column_starts_;
  std::vector<Index> by_column_;
  double tiny_ = 0;   // what is no more than this is nothing; whole numbers are exact
  double slack_ = 0;  // that rows may need beyond the room of their columns
};

}  // namespace

SupportFound support_of(const Pattern& pattern) { return Flow(pattern).found(); }

Index bytes_of_support(Index rows, Index columns, Index entries) noexcept {
  constexpr Index of_entry = 4 + 3 * 8;  // its column, what it carries, its row, its place among those of the column
  constexpr Index of_node = 9 * 8;       // marginals, what is left, levels, arcs, components
  return of_entry * entries + of_node * (rows + columns);
}

}  // namespace plait::graph
