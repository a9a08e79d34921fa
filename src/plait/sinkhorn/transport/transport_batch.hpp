#pragma once

#include <span>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

namespace plait::sinkhorn {

/// Several problems with the same costs: `transport` for each of the marginals. Where the exponentials of the costs are
/// factors and the transport is balanced, an iteration reads them once for all, as `scale_batch` does; otherwise, and
/// where factors overflow or starve, one problem is solved after the other.
///
/// Collective over `context`. Options as of `transport`, but for `keep` and `from`, which are not looked at.
///
/// \throws ArgumentError  on all ranks: as `transport`, naming the number of the marginals; numbers of problems that
///                        differ from rank to rank
template <class T, class A>
[[nodiscard]] std::vector<Transport<A>> transport_batch(mpi::Context& context, matrix_view<const T> costs,
                                                        std::span<const Marginals> marginals,
                                                        const TransportOptions& options);

}  // namespace plait::sinkhorn
