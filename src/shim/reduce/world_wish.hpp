#pragma once

namespace plait::shim::reduce {

/// Finds out by messages whether all processes that were started together ask for reproducible sums. To be called by
/// those that do, in MPI_Init, where all of them come at about the same time; all of these come to the same outcome,
/// which is `of_some` where one came 10 s later than others. Where some never call it, for they lack the library or the
/// wish, it takes 10 s, one rank of each node says so on stderr, and messages of one byte with the two highest tags
/// that there are are left with those.
/// \pre  MPI runs
void learn_wish_of_world() noexcept;

/// Nothing is to be received any more of what came too late for it.
/// \pre  MPI runs
void stop_learning_wish() noexcept;

/// What came out. `unknown` where nobody asked in MPI_Init, since a program came there by another name.
enum class WorldWish : unsigned char { unknown, of_some, of_all };
[[nodiscard]] WorldWish wish_of_world() noexcept;

}  // namespace plait::shim::reduce
