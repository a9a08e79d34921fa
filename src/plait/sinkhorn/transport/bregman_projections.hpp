#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/course/course.hpp"

/// Iterative Bregman projections with one epsilon. Collective over the context.
namespace plait::sinkhorn {

/// Histograms of mass 1, or of none, and the potentials of their plans in units of epsilon.
struct BarycentrePlans {
  std::vector<double> weights;              // which add up to 1
  std::vector<std::vector<double>> masses;  // of all columns
  std::vector<std::vector<double>> f;       // of this rank's rows
  std::vector<double> g;                    // of all columns, one histogram behind the other
  std::vector<double> barycentre;           // the masses of this rank's rows
  std::vector<double> shares;               // of all columns, as g: their masses times the weights

  [[nodiscard]] std::span<double> g_of(std::size_t k) {
    return std::span(g).subspan(k * masses.front().size(), masses.front().size());
  }
};

/// By factors of exp(-C / epsilon), from factors of 1. Null where numbers leave their range.
[[nodiscard]] std::optional<Outcome> project_by_factors(mpi::Context& context, CostOperand<double>& costs,
                                                        BarycentrePlans& plans, const Limits& limits);

/// By logarithms, from the potentials of the columns. The epsilon of the costs was set for all plans together. Where
/// numbers left their range the error is infinite: there is no barycentre.
///
/// \param span  the largest absolute value of a cost, in units of epsilon
[[nodiscard]] Outcome project_by_logarithms(mpi::Context& context, CostOperand<double>& costs, BarycentrePlans& plans,
                                            double span, const Limits& limits);

}  // namespace plait::sinkhorn
