#pragma once

#include <span>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

namespace plait::sinkhorn {

/// The marginals of several problems, but 0 for rows that have finite costs only to columns without mass, and for such
/// columns: nothing moves there, and where sums must not be missed there is no plan. One pass over the costs, one
/// message. Collective over `context`.
template <class T>
[[nodiscard]] std::vector<CheckedMarginals> reachable(mpi::Context& context, matrix_view<const T> costs,
                                                      std::span<const CheckedMarginals> problems);

}  // namespace plait::sinkhorn
