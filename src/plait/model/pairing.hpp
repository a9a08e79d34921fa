#pragma once

#include <bit>

namespace plait::model {

/// Ranks beyond a power of two make pairs of neighbours at the beginning, which act as one each: so the actors are a
/// power of two, and stand for consecutive ranks in their order.
struct Pairing {
  explicit Pairing(int number_of_ranks)
      : ranks(number_of_ranks),
        actors(static_cast<int>(std::bit_floor(static_cast<unsigned>(number_of_ranks)))),
        pairs(ranks - actors) {}

  int ranks;
  int actors;
  int pairs;

  /// log₂ of the actors.
  [[nodiscard]] int rounds() const { return static_cast<int>(std::bit_width(static_cast<unsigned>(actors))) - 1; }
  [[nodiscard]] int actor_of(int index) const { return index < 2 * pairs ? index / 2 : index - pairs; }
  /// Who acts, of the ranks that an actor stands for; the other one of a pair is the next.
  [[nodiscard]] int first_rank(int actor) const { return actor < pairs ? 2 * actor : actor + pairs; }
  [[nodiscard]] int ranks_of(int actor) const { return actor < pairs ? 2 : 1; }
  /// Whether a rank has its neighbour act for it.
  [[nodiscard]] bool is_folded(int index) const { return index < 2 * pairs && index % 2 == 1; }
  [[nodiscard]] bool acts_for_two(int index) const { return index < 2 * pairs && index % 2 == 0; }
};

}  // namespace plait::model
