#pragma once

#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/coffee/algorithms.hpp"
#include "plait/sinkhorn/coffee/exchange.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

namespace plait::sinkhorn {

/// How a matrix is scaled in place. The last three are for comparison, and for types that are computed with as
/// themselves.
enum class InPlaceForm : unsigned char { fused, typical, by_rows, blocked };

/// What goes on while the sums of columns come from the other ranks: columns whose sums have come are rescaled, or
/// nothing is. The fused form has nothing to do then, as the next iteration's pass rescales.
enum class Meanwhile : unsigned char { wait, rescale };

/// Who holds the rows of a node's first rank: that one, or the others of the node; see `DealtRows`.
enum class LeaderRows : unsigned char { kept, dealt };

/// How columns get their sums from all ranks. All but the first are for comparison, as is what they go with.
struct ColumnExchange {
  SumWay way = SumWay::chosen;
  Meanwhile meanwhile = Meanwhile::wait;
  LeaderRows leader_rows = LeaderRows::kept;
};

/// `scale`, but the matrix becomes the plan: K ← diag(u) K diag(v). What was rounded on the way stays so. How the sums
/// are exchanged changes nothing but the order of additions, nor does what goes on meanwhile.
///
/// \throws ArgumentError  also, on all ranks: a form that computes with elements as they are, on others than double and
///                        float; blocks of less than 1 x 1; a fused form that is to rescale meanwhile, or whose rows
///                        are to be dealt; rescaling while MPI's own allreduce is under way
///
/// Source: COFFEE, section V, for all that `exchange` tells.
template <class T, class A>
[[nodiscard]] Scaling<A> scale_in_place(mpi::Context& context, matrix_view<T> rows, const Marginals& marginals,
                                        InPlaceForm form = InPlaceForm::fused, const Limits& limits = {},
                                        Blocking blocking = {}, ColumnExchange exchange = {});

}  // namespace plait::sinkhorn
