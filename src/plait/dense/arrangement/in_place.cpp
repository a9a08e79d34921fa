#include "plait/dense/arrangement/in_place.hpp"

#include <algorithm>
#include <utility>

#include "plait/dense/panels.hpp"

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

}  // namespace plait::dense
