#include "plait/dense/arrangement/moves.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "plait/base/rounding.hpp"
#include "plait/dense/panels.hpp"
#include "plait/redistribute/communication_volume.hpp"
#include "plait/redistribute/relabel/incoming.hpp"
#include "plait/redistribute/relabel/relabel.hpp"

namespace plait::dense {

namespace {

using layout::Axis;
using layout::Cutting;
using layout::Layout;

constexpr Index most_blocks = Index{1} << 22;  // of the terms: they are all looked at, for the order of the panels

Index blocks(const Axis& axis) {
  return axis.cutting() == Cutting::cyclic ? axis.extent() / axis.block() + 1 : axis.parts();
}

/// One that is cut alike into another number of parts.
Axis cut_alike(const Axis& axis, Index parts) {
  if (axis.parts() == parts) return axis;
  if (axis.cutting() == Cutting::cyclic) return Axis::cyclic(axis.extent(), axis.block(), parts);
  return Axis::even(axis.extent(), parts);
}

bool is_in_order(const Arrangement& arrangement, bool of_a) {
  const int parts = of_a ? arrangement.mesh().columns : arrangement.mesh().rows;
  for (int part = 0; part < parts; ++part) {
    if (!(of_a ? a_order(arrangement, part) : b_order(arrangement, part)).empty()) return false;
  }
  return true;
}

/// Whether a part of the axis holds [begin, end) and nothing else; which one, or -1.
Index part_that_is(const layout::Axis& axis, Index begin, Index end) {
  const layout::Piece piece = axis.piece_at(begin);
  const bool is_whole = piece.segment.global == begin && piece.segment.length == end - begin &&
                        axis.local_extent(piece.part) == end - begin;
  return is_whole ? piece.part : -1;
}

/// The parts of `given` that are those of `own`, -1 where there is none, and for parts without elements.
std::vector<Index> equal_parts(const layout::Axis& given, const layout::Axis& own) {
  std::vector<Index> result;
  for (Index part = 0; part < own.parts(); ++part) {
    const Index length = own.local_extent(part);
    const Index begin = length == 0 ? 0 : own.global_of(part, 0);
    result.push_back(length == 0 ? -1 : part_that_is(given, begin, begin + length));
  }
  return result;
}

std::array<redistribute::SizedPair, 3> moves(const Factors& factors, const Layout& c, const Arrangement& arrangement,
                                             Index element_bytes) {
  return {redistribute::SizedPair{{factors.a, arrangement.a_layout(), factors.op_a}, element_bytes},
          redistribute::SizedPair{{factors.b, arrangement.b_layout(), factors.op_b}, element_bytes},
          redistribute::SizedPair{{c, arrangement.c_layout()}, element_bytes}};  // as much is moved either way
}

Index counted_bytes(const Factors& factors, const Layout& c, const Arrangement& arrangement, Index element_bytes,
                    int ranks) {
  const auto pairs = moves(factors, c, arrangement, element_bytes);
  const std::vector<int> rank_of = ranks_of_roles(factors, c, arrangement, element_bytes, ranks);
  redistribute::Incoming incoming(pairs);
  return redistribute::communication_volume(incoming, rank_of).largest_rank_bytes;
}

Index estimated_moved_bytes(const Factors& factors, const Layout& c, const Arrangement& arrangement,
                            Index element_bytes, int ranks) {
  Index elements = 0;
  const auto add = [&](const Layout& given, const Layout& own) {
    const Layout played = arrangement.given() ? own.relabeled(in_place_roles(c, ranks)) : own;
    if (!lies_as(given, played)) elements += quotient_up(layout::elements(given.shape()), ranks);
  };
  add(as_it_is_read(factors.a, factors.op_a), arrangement.a_layout());
  add(as_it_is_read(factors.b, factors.op_b), arrangement.b_layout());
  add(c, arrangement.c_layout());
  return elements * element_bytes;
}

}  // namespace

bool have_same_parts(const Axis& one, const Axis& other) {
  if (one.extent() != other.extent() || one.parts() != other.parts()) return false;
  if (one == other || one.extent() == 0) return true;
  if (one.cutting() == Cutting::cyclic && other.cutting() == Cutting::cyclic && one.block() == other.block() &&
      one.offset() % one.block() == other.offset() % other.block() && one.part_of(0) == other.part_of(0)) {
    return true;
  }
  Index pieces = 0;
  for (Index at = 0; at < one.extent();) {
    const layout::Piece piece = one.piece_at(at);
    if (++pieces > one.parts() || piece != other.piece_at(at)) return false;
    at = piece.segment.global + piece.segment.length;
  }
  return true;
}

std::optional<Arrangement> in_place_arrangement(const Layout& a, const Layout& b, const Layout& c) {
  const layout::Owners& owners = c.owners();
  if (owners.distinct() != owners.rows() * owners.columns()) return {};
  const bool a_stays = a.owners() == owners && have_same_parts(a.rows(), c.rows());
  const bool b_stays = b.owners() == owners && have_same_parts(b.columns(), c.columns());
  const Index terms = a.columns().extent();
  const Axis a_terms = a_stays   ? a.columns()
                       : b_stays ? cut_alike(b.rows(), owners.columns())
                                 : Axis::even(terms, owners.columns());
  const Axis b_terms = b_stays ? b.rows() : cut_alike(a_terms, owners.rows());
  if (blocks(a_terms) > most_blocks || blocks(b_terms) > most_blocks) return {};

  Arrangement result(GivenAxes{c.rows(), c.columns(), a_terms, b_terms});
  if (!a_stays && !is_in_order(result, true)) return {};
  if (!b_stays && !is_in_order(result, false)) return {};
  return result;
}

std::vector<int> in_place_roles(const Layout& c, int ranks) {
  const layout::Owners& owners = c.owners();
  std::vector<int> rank_of;
  std::vector<bool> has_role(static_cast<std::size_t>(ranks), false);
  for (Index row = 0; row < owners.rows(); ++row) {
    for (Index column = 0; column < owners.columns(); ++column) {
      rank_of.push_back(owners.owner(row, column));
      has_role[static_cast<std::size_t>(rank_of.back())] = true;
    }
  }
  for (int rank = 0; rank < ranks; ++rank) {
    if (!has_role[static_cast<std::size_t>(rank)]) rank_of.push_back(rank);
  }
  return rank_of;
}

bool lies_as(const layout::Layout& given, const layout::Layout& own) {
  if (given.owners() == own.owners() && have_same_parts(given.rows(), own.rows()) &&
      have_same_parts(given.columns(), own.columns())) {
    return true;
  }
  const std::vector<Index> rows = equal_parts(given.rows(), own.rows());
  const std::vector<Index> columns = equal_parts(given.columns(), own.columns());
  for (Index i = 0; i < own.rows().parts(); ++i) {
    for (Index j = 0; j < own.columns().parts(); ++j) {
      if (own.rows().local_extent(i) == 0 || own.columns().local_extent(j) == 0) continue;
      const Index row = rows[static_cast<std::size_t>(i)];
      const Index column = columns[static_cast<std::size_t>(j)];
      if (row < 0 || column < 0 || given.owners().owner(row, column) != own.owners().owner(i, j)) return false;
    }
  }
  return true;
}

Index tile_with_elements(const layout::Layout& layout, int rank) {
  const std::vector<layout::TileExtent> tiles = layout.tiles_of(rank);
  const auto has_elements = [](const layout::TileExtent& tile) { return tile.rows > 0 && tile.columns > 0; };
  const auto found = std::ranges::find_if(tiles, has_elements);
  return found == tiles.end() ? -1 : found - tiles.begin();
}

std::vector<int> ranks_of_roles(const Factors& factors, const Layout& c, const Arrangement& arrangement,
                                Index element_bytes, int ranks) {
  if (arrangement.given()) return in_place_roles(c, ranks);
  return redistribute::relabel(moves(factors, c, arrangement, element_bytes), ranks).rank_of;
}

Index moved_bytes(const Factors& factors, const Layout& c, const Arrangement& arrangement, Index element_bytes,
                  int ranks) {
  return ranks <= most_ranks_to_count ? counted_bytes(factors, c, arrangement, element_bytes, ranks)
                                      : estimated_moved_bytes(factors, c, arrangement, element_bytes, ranks);
}

}  // namespace plait::dense
