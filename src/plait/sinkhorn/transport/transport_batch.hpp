#pragma once

#include <span>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/transport/point_transport.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

namespace plait::sinkhorn {

/// Several problems with the same costs: `transport` for each of the marginals, but an iteration reads the costs once
/// for all, and has one message for all, as have the checks before, and the values after it. Each has a status of its
/// own; those that have come to their end cost nothing more. Where the exponentials of the costs are factors, they are
/// stored and read in the place of the costs, as by `scale_batch`, by balanced problems at once with the last epsilon
/// unless a larger first one is wanted; where they are not, and for problems for which factors overflow or starve, an
/// iteration takes one exponential an entry for each problem.
///
/// Collective over `context`. Options as of `transport`, but for `keep` and `from`, which are not looked at.
///
/// \throws ArgumentError  on all ranks: as `transport`, naming the number of the marginals; numbers of problems that
///                        differ from rank to rank
template <class T, class A>
[[nodiscard]] std::vector<Transport<A>> transport_batch(mpi::Context& context, matrix_view<const T> costs,
                                                        std::span<const Marginals> marginals,
                                                        const TransportOptions& options);

/// The same with costs between points, which are made once an iteration for all, in the logarithmic domain.
///
/// \throws ArgumentError  on all ranks: as `transport` of points, naming the number of the marginals; numbers of
///                        problems that differ from rank to rank
template <class A>
[[nodiscard]] std::vector<Transport<A>> transport_batch(mpi::Context& context, const PointClouds<A>& clouds,
                                                        std::span<const Marginals> marginals,
                                                        const TransportOptions& options);

}  // namespace plait::sinkhorn
