#pragma once

#include <span>
#include <string>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals.hpp"

namespace plait::sinkhorn {

/// Some rows, and the columns in which these have entries: all that the rows sum up to has to be there.
struct Bottleneck {
  Index rows = 0;
  Index columns = 0;
  double need = 0;  // the sum of the rows' marginals
  double room = 0;  // that of the columns'
};

/// Why a matrix can't have its marginals, or has them only in the limit.
struct Feasibility {
  bool is_infeasible = false;  // need > room
  bool is_tight = false;       // need == room, and other rows have entries in these columns, which have to vanish
  Bottleneck bottleneck;       // of either
};

/// Looks for rows that are proof of it, among those that the iterations raise above the others: {i : u[i] >= t}, for
/// all t. Where a matrix has no support, the factors of such rows grow without limit, so that they are found after some
/// iterations; what is found is a proof, but finding nothing is none. One pass over the matrix, which stays as it is.
/// Collective over `context`; the same on all ranks.
///
/// \pre  u has a factor for each of this rank's rows
template <class T, class A>
[[nodiscard]] Feasibility feasibility(mpi::Context& context, matrix_view<const T> rows,
                                      const CheckedMarginals& marginals, std::span<const A> u);

/// "the 3 rows ... "
[[nodiscard]] std::string describe(const Bottleneck& bottleneck);

}  // namespace plait::sinkhorn
