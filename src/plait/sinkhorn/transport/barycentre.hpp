#pragma once

#include <span>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/course/status.hpp"

namespace plait::sinkhorn {

/// Histograms over the columns of a cost matrix.
struct Histograms {
  std::vector<std::span<const double>> masses;  // of all columns, the same on all ranks; of one total
  std::span<const double> weights = {};         // one for each, > 0, which add up to 1; empty: all alike
};

struct Barycentre {
  Outcome outcome;             // the error is the weighted mean of those of the histograms
  std::vector<double> masses;  // of this rank's rows
  std::vector<double> costs;   // Σ C P_k of the plan between the barycentre and each histogram
};

/// The entropic barycentre of histograms b_k: the masses a of the rows that minimise
///
///     Σ_k weight_k min { Σ C P + epsilon Σ P (log P - 1) : P >= 0 with the sums a of the rows and b_k of the columns }
///
/// by iterative Bregman projections. Rows are where the barycentre may lie, columns where the histograms do: often the
/// same points. All plans share exp(-C / epsilon), which is stored beside the costs and read once an iteration; there
/// is one message for all of them. An entropy blurs: the barycentre is wider than that of epsilon = 0 by the order of
/// sqrt(epsilon).
///
/// Factors have to stay in the range of double: where the largest cost is more than 500 epsilon, or where they leave it
/// on the way, the status is numerical_limit, and masses are no numbers. Costs of +infinity forbid an entry.
///
/// Collective over `context`. T: double or float, computed with as double. Rows are distributed as for `scale`.
///
/// \throws ArgumentError  on all ranks: no histogram, one of another length or with a mass that is negative or no
///                        number, totals that differ; weights that are not positive or do not add up to 1; an epsilon
///                        that is not positive and finite; limits that are none; as `check_costs`
///
/// Source: Benamou et al., "Iterative Bregman projections for regularized transportation problems", 2015.
template <class T>
[[nodiscard]] Barycentre barycentre(mpi::Context& context, matrix_view<const T> costs, const Histograms& histograms,
                                    double epsilon, const Limits& limits = {});

}  // namespace plait::sinkhorn
