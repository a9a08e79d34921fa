#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

/// What is asked of the options and masses of a transport, in whatever form its costs come.
namespace plait::sinkhorn {

/// \throws ArgumentError  an epsilon that is not positive and finite, or a first one below it; limits below 0; a rho
///                        that is not positive, or so large or small beside epsilon that nothing is relaxed by it, or
///                        all; an over-relaxation that is not in (0, 2)
/// Adds to `arguments` what all ranks have to give alike.
void expect_suitable(const TransportOptions& options, mpi::Alike& arguments);

/// \throws ArgumentError  they are column-major. For double and float
template <class T>
void expect_row_major(matrix_view<const T> costs);

/// The marginals, or where sums may be missed the masses: see `checked_marginals` and `checked_masses`.
[[nodiscard]] CheckedMarginals checked_masses_of(mpi::Context& context, Index rows, Index columns,
                                                 const Marginals& marginals, const Rho& rho);

/// The same of several problems, by as many messages as of one; errors name the problem.
[[nodiscard]] std::vector<CheckedMarginals> checked_masses_of_each(mpi::Context& context, Index rows, Index columns,
                                                                   std::span<const Marginals> problems, const Rho& rho);

/// The masses that plans must have: 0 for those that may be missed.
[[nodiscard]] std::vector<CheckedMarginals> masses_that_are_had(mpi::Context& context,
                                                                std::span<const CheckedMarginals> masses,
                                                                const Rho& rho);

}  // namespace plait::sinkhorn
