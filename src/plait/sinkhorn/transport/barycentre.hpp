#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/point_clouds.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

namespace plait::sinkhorn {

/// Histograms over the columns of a cost matrix.
struct Histograms {
  std::vector<std::span<const double>> masses;  // of all columns, the same on all ranks; of one total
  std::span<const double> weights = {};         // one for each, > 0, which add up to 1; empty: all alike
};

struct Barycentre {
  Outcome outcome;  // of the last stage; the error is the weighted mean of those of the histograms
  std::vector<TransportStage> stages;
  std::vector<double> masses;  // of this rank's rows
  std::vector<double> costs;   // Σ C P_k of the plan between the barycentre and each histogram
};

/// The entropic barycentre of histograms b_k: the masses a of the rows that minimise
///
///     Σ_k weight_k min { Σ C P + epsilon Σ P (log P - 1) : P >= 0 with the sums a of the rows and b_k of the columns }
///
/// by iterative Bregman projections. Rows are where the barycentre may lie, columns where the histograms do: often the
/// same points. In an iteration exp(-C / epsilon), which is stored beside the costs, is read once for all plans; in the
/// logarithmic domain the costs are, with one exponential an entry for each histogram. There is one message for all. An
/// entropy blurs: the barycentre is wider than that of epsilon = 0 by the order of sqrt(epsilon).
///
/// By factors epsilon has to be 1/500 of the largest cost at least, and where they leave the range of double the status
/// is numerical_limit, and masses are no numbers; the automatic domain goes over to logarithms. Costs of +infinity
/// forbid an entry. A column that none of the rows reaches that all histograms reach is proof that there is no
/// barycentre.
///
/// Collective over `context`. T: double or float, computed with as double. Rows are distributed as for `scale`.
///
/// \param options  but for rho: all sums must be had
/// \throws ArgumentError  on all ranks: no histogram, one of another length or with a mass that is negative or no
///                        number, totals that differ; weights that are not positive or do not add up to 1; an epsilon
///                        that is not positive and finite, a first one below it; limits that are none; a state to go
///                        on from that does not fit; as `check_costs`
///
/// Source: Benamou et al., "Iterative Bregman projections for regularized transportation problems", 2015.
template <class T>
[[nodiscard]] Barycentre barycentre(mpi::Context& context, matrix_view<const T> costs, const Histograms& histograms,
                                    const TransportOptions& options);

/// The same with costs between points, which are made once an iteration and never stored, in the logarithmic domain.
///
/// \throws ArgumentError  on all ranks: also what `transport` of points throws
[[nodiscard]] Barycentre barycentre(mpi::Context& context, const PointClouds<double>& clouds,
                                    const Histograms& histograms, const TransportOptions& options);

}  // namespace plait::sinkhorn
