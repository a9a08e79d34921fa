#pragma once

namespace plait::shim::reduce {

/// Finds out by messages whether all processes that were started together ask for reproducible sums. To be called by
/// those that do, in MPI_Init, where all of them come at about the same time; the outcome is the same for all of these.
/// Where others never call it, for they lack the library or the wish, it takes 10 s, one rank of each node says so on
/// stderr, and messages of no bytes with the highest tag that there is are left with those others.
/// \pre  MPI runs
void learn_wish_of_world() noexcept;

/// What came out. `unknown` where nobody asked in MPI_Init, since a program came there by another name.
enum class WorldWish : unsigned char { unknown, of_some, of_all };
[[nodiscard]] WorldWish wish_of_world() noexcept;

}  // namespace plait::shim::reduce
