#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/balance/symmetric_operand.hpp"
#include "plait/sinkhorn/course/course.hpp"

namespace plait::sinkhorn {

/// One factor for each row, which is that of the column, too: B(i, j) = x[i] A(i, j) x[j]. The same on all ranks.
struct Balance {
  Outcome outcome;
  std::vector<double> x;  // of all rows; 0 for those that were masked
  Index masked = 0;       // how many rows have no entries but zeros
};

/// Finds the x > 0 with which all rows, and so all columns, of  diag(x) A diag(x)  have one sum, where A is symmetric:
///
///     x[i] ← x[i] sqrt(sum / (x[i] Σ_j A(i, j) x[j]))
///
/// Rows without entries can't have a sum: they are masked, which changes nothing for the others. An iteration reads the
/// matrix once and has one message, the products of all rows. Without the root, which is Sinkhorn and Knopp's iteration
/// with one vector, x goes to and fro between two limits. With it the error near the end is multiplied in each
/// iteration by (1 - lambda) / 2 at most, where lambda is the lowest eigenvalue of the balanced matrix divided by its
/// sum, >= -1: by a half at most for a positive semidefinite one. That it converges wherever the matrix has support is
/// proved, which it is not of Newton's method (Knight and Ruiz, 2013), and there are no inner iterations.
///
/// Where there is no such x, the status says so, with proof; where there is one in the limit only, as entries have to
/// vanish, the reason for the limit of iterations says that there is no total support.
///
/// Collective over `context`.
///
/// \param sum  what each row is to sum up to
/// \throws ArgumentError  on all ranks: a sum that is not positive and finite, limits that are none; a state to go on
///                        from that does not fit; as
///                        SymmetricOperand::expect_symmetric
///
/// Source: Knight, Ruiz, Uçar, "A symmetry preserving algorithm for matrix scaling", 2014.
[[nodiscard]] Balance balance(mpi::Context& context, SymmetricOperand& matrix, double sum = 1,
                              const Limits& limits = {});

}  // namespace plait::sinkhorn
