#include "plait/dense/arrangement/choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/dense/panels.hpp"

namespace plait::dense {

namespace {

constexpr double least_share = 0.75;     // of the ranks, that have something to do
constexpr double unhidden_share = 0.25;  // of what travels under products: it takes the core's time, too
constexpr std::size_t fastest_few = 8;   // for which moves are counted, too
constexpr double not_much_slower = 2;    // than the fastest of them
constexpr Index least_redistribution_bytes = Index{64} << 10;

struct Candidate {
  Arrangement arrangement;
  double seconds;
  double moving = 0;  // what it takes before and after, where this was asked
};

double as_double(Index n) { return static_cast<double>(n); }

/// A ring or Cannon where the mesh allows it, or SUMMA.
std::vector<Method> methods_of(const ProcessGrid& mesh, const MultiplicationOptions& options) {
  std::vector<Method> all;
  const auto add = [&](Method method, bool is_possible) {
    if (is_possible && options.method.value_or(method) == method) all.push_back(method);
  };
  add(Method::summa, true);
  add(Method::cannon, mesh.rows == mesh.columns);
  add(Method::ring, mesh.rows == 1 || mesh.columns == 1);
  return all;
}

bool is_wanted(int wish, int value) { return wish == 0 || wish == value; }

/// Whether the options allow of this arrangement in place.
bool is_wanted(const Arrangement& in_place, const MultiplicationOptions& options) {
  const ProcessGrid& mesh = in_place.mesh();
  const ProcessGrid& wish = options.mesh;
  return options.method.value_or(Method::in_place) == Method::in_place && is_wanted(wish.rows, mesh.rows) &&
         is_wanted(wish.columns, mesh.columns) && is_wanted(wish.layers, mesh.layers);
}

std::vector<Candidate> candidates_of(const ProductShape& shape, const model::Machine& machine,
                                     const model::Placement& placement, Index element_bytes,
                                     const MultiplicationOptions& options, const std::optional<Arrangement>& in_place) {
  const int ranks = placement.ranks;
  const ProcessGrid& wish = options.mesh;
  const bool is_given = wish.rows > 0 && wish.columns > 0 && wish.layers > 0;
  std::vector<Candidate> all;
  const auto add = [&](const Arrangement& arrangement) {
    all.push_back({arrangement, predicted_seconds(arrangement, machine, placement, element_bytes)});
  };
  const auto consider = [&](double share) {
    for (int rows = 1; rows <= ranks; ++rows) {
      if (!is_wanted(wish.rows, rows)) continue;
      for (int columns = 1; columns <= ranks / rows; ++columns) {
        if (!is_wanted(wish.columns, columns)) continue;
        for (int layers = 1; layers <= ranks / rows / columns; ++layers) {
          const ProcessGrid mesh{rows, columns, layers, wish.order};
          if (!is_wanted(wish.layers, layers) || as_double(mesh.ranks()) < share * ranks) continue;
          for (const Method method : methods_of(mesh, options)) {
            add(Arrangement(shape, method, mesh));
          }
        }
      }
    }
  };
  consider(is_given || options.memory_limit ? 0 : least_share);
  if (all.empty()) consider(0);  // a square mesh on seven ranks
  if (in_place && is_wanted(*in_place, options)) add(*in_place);
  const auto order = [](const Candidate& one) {
    const ProcessGrid& mesh = one.arrangement.mesh();
    return std::tuple(one.seconds, mesh.ranks(), mesh.layers, std::abs(mesh.rows - mesh.columns), mesh.rows,
                      one.arrangement.method());
  };
  std::ranges::sort(all, {}, order);
  return all;
}

/// Puts first what is fastest together with the moves before and after, of the few that may be.
void sort_with_moves(std::vector<Candidate>& all, const model::Machine& machine, const model::Placement& placement,
                     const MovedBytes& moved_bytes) {
  const auto is_in_place = [](const Candidate& one) { return one.arrangement.given() != nullptr; };
  const double longest = not_much_slower * all.front().seconds;
  const auto may_be = [&](const Candidate& one) { return one.seconds <= longest; };
  auto end = std::find_if_not(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(fastest_few, all.size())),
                              may_be);
  // What moves little is among them, however slow it is.
  const auto in_place = std::find_if(end, all.end(), is_in_place);
  if (in_place != all.end()) {
    std::rotate(end, in_place, in_place + 1);
    ++end;
  }
  for (auto one = all.begin(); one != end; ++one) {
    one->moving = exchange_seconds(machine, placement, as_double(moved_bytes(one->arrangement)));
  }
  std::stable_sort(all.begin(), end, [](const Candidate& one, const Candidate& other) {
    return one.seconds + one.moving < other.seconds + other.moving;
  });
}

void expect_possible(const model::Placement& placement, const MultiplicationOptions& options,
                     const std::optional<Arrangement>& in_place) {
  const ProcessGrid& mesh = options.mesh;
  const auto least = [](int extent) { return Index{std::max(1, extent)}; };
  if (mesh.rows < 0 || mesh.columns < 0 || mesh.layers < 0) {
    throw ArgumentError(
        fmt::format("mesh: {} x {} x {}, expected numbers from 0 on", mesh.rows, mesh.columns, mesh.layers));
  }
  if (least(mesh.rows) * least(mesh.columns) > placement.ranks ||
      least(mesh.rows) * least(mesh.columns) * least(mesh.layers) > placement.ranks) {
    throw ArgumentError(fmt::format("mesh: {} layers of {} x {} are too many for {} ranks", least(mesh.layers),
                                    least(mesh.rows), least(mesh.columns), placement.ranks));
  }
  if (options.panel_terms < 0) {
    throw ArgumentError(fmt::format("panel_terms: {}, expected a number from 0 on", options.panel_terms));
  }
  if (options.memory_limit && *options.memory_limit < 0) {
    throw ArgumentError(fmt::format("memory_limit: {}, expected a number from 0 on", *options.memory_limit));
  }
  if (options.method != Method::in_place) return;
  if (!in_place) {
    throw ArgumentError(
        "method: SUMMA in place, expected a C of which each rank has one tile at most, and factors whose terms are "
        "dealt so that what has to be brought need not be put in order");
  }
  if (!is_wanted(*in_place, options)) {
    throw ArgumentError(fmt::format("mesh: {} x {} on {} layers, expected {} x {} on one layer, where C lies",
                                    mesh.rows, mesh.columns, mesh.layers, in_place->mesh().rows,
                                    in_place->mesh().columns));
  }
}

}  // namespace

double exchange_seconds(const model::Machine& machine, const model::Placement& placement, double bytes) {
  if (bytes <= 0) return 0;
  const bool one_node = placement.nodes() == 1;
  const model::Link& link = one_node ? machine.node : machine.network;
  const int ranks = std::min(placement.ranks, placement.ranks_per_node);
  const model::Streams& streams = link.streams_of(ranks);
  const double together = streams.both_ways.bytes_per_second(std::max(Index{1}, static_cast<Index>(bytes)));
  return link.latency_seconds + bytes * ranks / together;
}

Index workspace_bytes(const Arrangement& arrangement, const Cut& cut, Index element_bytes) {
  constexpr Index alignments = 16 * 64;
  const TileElements tiles = most_tile_elements(arrangement);
  return (tiles.a + tiles.b + tiles.c + most_staged_elements(arrangement, cut)) * element_bytes + alignments;
}

double predicted_seconds(const Arrangement& arrangement, const model::Machine& machine,
                         const model::Placement& placement, Index element_bytes) {
  const ProcessGrid& mesh = arrangement.mesh();
  const double rows = as_double(arrangement.most_rows());
  const double columns = as_double(arrangement.most_columns());
  const double terms = as_double(arrangement.terms(0).length());
  const double of_core = machine.product_flops_per_second / machine.cores_per_node;
  const double multiplying = 2 * rows * columns * terms / of_core * as_double(element_bytes) / 8;

  // A goes along the rows of the mesh, B along its columns, in turns, both at once.
  const auto travelling = [&](double line, int ranks) {
    const double steps = ranks - 1;
    return steps * exchange_seconds(machine, placement, line * terms / ranks * as_double(element_bytes));
  };
  const double moving = travelling(rows, mesh.columns) + travelling(columns, mesh.rows);
  const double summed = rows * columns / mesh.layers * as_double(element_bytes);
  const double adding =
      (mesh.layers - 1) * (exchange_seconds(machine, placement, summed) + summed / machine.combine_bytes_per_second);
  return std::max(multiplying, moving) + unhidden_share * std::min(multiplying, moving) + adding;
}

Choice choose(const ProductShape& shape, const model::Machine& machine, const model::Placement& placement,
              Index element_bytes, const MultiplicationOptions& options, const MovedBytes& moved_bytes,
              const std::optional<Arrangement>& in_place) {
  expect_possible(placement, options, in_place);
  const Index limit = options.memory_limit.value_or(std::numeric_limits<Index>::max());
  const Index redistribution = std::max(std::min(options.redistribution_bytes, limit / 8), least_redistribution_bytes);
  // What is sent and received of all matrices.
  const double elements = as_double(shape.rows) * as_double(shape.terms) +
                          (as_double(shape.rows) + as_double(shape.terms)) * as_double(shape.columns);
  const double most_moved = 2 * elements * as_double(element_bytes);
  const Index most_staged = most_moved < as_double(redistribution) ? static_cast<Index>(most_moved) : redistribution;
  Index least = std::numeric_limits<Index>::max();
  MultiplicationOptions wanted = options;
  do {
    std::vector<Candidate> all = candidates_of(shape, machine, placement, element_bytes, wanted, in_place);
    if (all.empty()) {
      throw ArgumentError(fmt::format("mesh: {} x {}, which {} can't have", options.mesh.rows, options.mesh.columns,
                                      to_string(options.method.value_or(Method::summa))));
    }
    if (moved_bytes) sort_with_moves(all, machine, placement, moved_bytes);
    for (const Candidate& one : all) {
      const Arrangement& arrangement = one.arrangement;
      const Cut cut = chosen_cut(arrangement, machine, placement, element_bytes, options.panel_terms);
      const Index bytes = workspace_bytes(arrangement, cut, element_bytes);
      if (bytes + redistribution <= limit) {
        return {arrangement, cut, one.seconds, bytes + most_staged, redistribution};
      }
      least = std::min(least, bytes);
    }
  } while (--wanted.mesh.layers > 0);  // the replication factor falls until it fits
  // Redistributions get an eighth, unless that is less than they can do with.
  const Index needed = std::max(least + least_redistribution_bytes, (least + 6) / 7 * 8);
  throw ArgumentError(
      fmt::format("memory_limit: {} bytes a rank, but the product of {} x {} and {} x {} needs {} on {} ranks", limit,
                  shape.rows, shape.terms, shape.terms, shape.columns, needed, placement.ranks));
}

}  // namespace plait::dense
