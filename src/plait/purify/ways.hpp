#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"
#include "plait/mpi/context.hpp"
#include "plait/purify/method.hpp"
#include "plait/purify/state.hpp"

/// What the ways to a density matrix cost, in seconds of a machine, and which costs least.
namespace plait::purify {

/// Of the spectrum's width, where nothing is known of the gap: between .1, where iterations take 24 products, and 1e-6,
/// where they take 80.
inline constexpr double assumed_gap = 3e-4;

/// What is known of a density matrix before it is found; the same on all ranks.
struct Prospect {
  Index states = 0;
  Index occupied = 0;           ///< 0 <= occupied <= states
  DType dtype = DType::f64;     ///< f32, f64, c64 or c128
  double gap = assumed_gap;     ///< over the width of the spectrum
  bool knows_frontier = false;  ///< whether bounds of the states at the gap are known, or early steps tell them
  double vectors = 0;           ///< by which H is multiplied to find these bounds: see `frontier_near_density`
  bool iterates = false;        ///< whether something is asked for that eigenstates do not do
};

/// A way, and what it is estimated to take: infinitely long, if the gap is rounding.
struct Way {
  std::optional<Method> method;  ///< none: by eigenstates
  double seconds = 0;
};

/// "eigen", or the name of the method.
[[nodiscard]] std::string_view name(const Way& way) noexcept;

/// Canonical, TC2, and eigenstates; the least first, of equal ones the earlier. Pure. What an overlap adds to each of
/// them is left out, and so are files.
///
/// Iterations take the products that their steps at evenly spaced energies need. Eigenstates take the flops of
/// reducing H to a tridiagonal matrix, divide and conquer, turning back and summing up; half of the reduction reads the
/// rest of the matrix for each column, and on several ranks each column takes messages.
///
/// Of times on two cores of an Intel Xeon (n = 500 to 4000, gaps .1 and 1e-6, one or two ranks, and four on the two
/// cores) those of eigenstates are right within a factor of 2, those of iterations of 3, from n = 1000 on of 2.
/// Where four emulated nodes share these cores, iterations of 500 states take up to eleven times as long. The messages
/// of ScaLAPACK are counted, not fitted.
///
/// Source of the form: Blackford et al., "ScaLAPACK Users' Guide", chapter 5, which expects to be low by a factor of 2
/// for eigensolvers.
[[nodiscard]] std::vector<Way> ways(const model::Machine& machine, const model::Placement& placement,
                                    const Prospect& prospect);

/// The same on the ranks and the machine of the context, which has the cores of its nodes where it is assumed. With
/// eigenstates from 100 states on, as fewer take no time whoever finds them, where all ranks have the library that
/// finds them, and it can count so many. Collective.
/// \throws OutOfMemory  on all ranks
[[nodiscard]] std::vector<Way> possible_ways(mpi::Context& context, Prospect prospect);

/// What an iteration that has begun is going to take yet, by the seconds of its steps but the last and by the gap: no
/// wider than the energies that they leave undecided, else as in the prospect. Infinitely long, if that is rounding.
/// The same on all ranks, as the state is.
[[nodiscard]] double seconds_left(const State& state, const Prospect& prospect) noexcept;

}  // namespace plait::purify
