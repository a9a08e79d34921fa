#pragma once

#include <span>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/scaling/plan.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

namespace plait::sinkhorn {

/// Scales one matrix to several marginals: `scale` for each of them, but an iteration reads the matrix once for all,
/// and has one message for all, as have the checks before and the proofs after it. Each has a status of its own; those
/// that have come to their end cost nothing more. Of exp(-C / epsilon) the plans are those of transport between several
/// pairs of histograms.
///
/// Collective over `context`.
///
/// \param marginals  one element for each problem, of as many rows and columns as `scale` wants
/// \param limits     of each; the listener is told the iteration and the largest error of those that go on
/// \param update     of all
/// \param starts     factors of the columns to begin with, positive and finite, of each problem; none: ones
/// \throws ArgumentError  on all ranks: as `scale`, naming the number of the marginals; numbers of problems that differ
///                        from rank to rank
template <class T, class A>
[[nodiscard]] std::vector<Scaling<A>> scale_batch(mpi::Context& context, matrix_view<const T> rows,
                                                  std::span<const Marginals> marginals, const Limits& limits = {},
                                                  const Update& update = {},
                                                  std::span<const std::vector<A>> starts = {});

/// `marginal_errors` of each of these scalings: the matrix is read once, and there are as many messages as for one.
/// Collective over `context`.
template <class T, class A>
[[nodiscard]] std::vector<MarginalErrors> marginal_errors_of_each(mpi::Context& context, matrix_view<const T> rows,
                                                                  std::span<const Scaling<A>> scalings,
                                                                  std::span<const CheckedMarginals> marginals);

}  // namespace plait::sinkhorn
