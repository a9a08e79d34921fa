#pragma once

#include <functional>

#include "cli/generate/hamiltonian.hpp"

/// The kinds of `make_hamiltonian`, each in a file of its own.
namespace plait::cli {

[[nodiscard]] Hamiltonian make_fullerene(const HamiltonianRequest& request);
[[nodiscard]] Hamiltonian make_polyacetylene(const HamiltonianRequest& request);
[[nodiscard]] Hamiltonian make_graphene(const HamiltonianRequest& request);
[[nodiscard]] Hamiltonian make_prescribed(const HamiltonianRequest& request);

/// The size that is asked for.
///
/// \pre  there are sizes larger than any number
/// \throws ArgumentError  none is given; `exists` says that there is none of this size, which is told with the nearest
///                        below and above that there are; or it is too large for a matrix
[[nodiscard]] Index asked_size(const HamiltonianRequest& request, const std::function<bool(Index)>& exists);

/// \throws ArgumentError  naming the option and the kind
void expect_no_gap(const HamiltonianRequest& request);
void expect_no_filling(const HamiltonianRequest& request);
void expect_no_seed(const HamiltonianRequest& request);

}  // namespace plait::cli
