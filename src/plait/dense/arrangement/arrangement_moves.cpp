#include "plait/dense/arrangement/arrangement_moves.hpp"

#include <array>

#include "plait/base/rounding.hpp"
#include "plait/dense/arrangement/in_place.hpp"
#include "plait/dense/own_tile.hpp"
#include "plait/redistribute/communication_volume.hpp"
#include "plait/redistribute/relabel/incoming.hpp"
#include "plait/redistribute/relabel/relabel.hpp"

namespace plait::dense {

namespace {

using layout::Layout;

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
