#pragma once

namespace plait::bench {

/// Collective operations on a vector of doubles, and pairs of them one of which takes what the other makes.
enum class Operation {
  point_to_point,    ///< from each rank of node 0 to the one of equal place on node 1, its share of the bytes
  reduce,            ///< to rank 0
  broadcast,         ///< from rank 0
  allreduce,         ///< sum
  allreduce_update,  ///< and then an `Update` of a matrix by it
  reduce_broadcast,  ///< to rank 0 and back to the same ranks: the literature's Algorithms 1 and 2
  matrix_vector,     ///< on a square mesh: summed along rows to its diagonal, broadcast from there along columns
};

[[nodiscard]] const char* name(Operation operation) noexcept;

/// Whether all ranks get what comes of all of them.
[[nodiscard]] bool is_to_all(Operation operation) noexcept;

/// The least time that links between so many nodes need for it, in times of `bytes / goodput`.
[[nodiscard]] double bound(Operation operation, int nodes) noexcept;

}  // namespace plait::bench
