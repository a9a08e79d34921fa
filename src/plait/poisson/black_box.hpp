#pragma once

#include <memory>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/level.hpp"

namespace plait::poisson {

/// Multigrid as a preconditioner of conjugate gradients where k jumps or the grid has holes: an approximation of A⁻¹
/// that is symmetric and positive definite for any k, by W-cycles on the first coarse grids, V-cycles below, and a
/// sweep of Gauss-Seidel before and after. It computes in floats where k spans no more than five
/// decades, else in doubles; grids and bits are as `Multigrid` has them. Points that are outside
/// take part with a k that is small, so that coarse points there serve those inside.
class BlackBox {
 public:
  /// \param finest  its coefficient set; outlives this
  /// \param least_points_per_rank  coarse levels go to fewer ranks, so that each has as many points
  [[nodiscard]] static std::unique_ptr<BlackBox> make(mpi::Context& context, Level& finest,
                                                      Index least_points_per_rank);
  virtual ~BlackBox() = default;

  /// u ← M b; ghosts of u are not filled. Collective.
  virtual void apply(const Values& b, Values& u) = 0;

  [[nodiscard]] virtual int levels() const noexcept = 0;
  [[nodiscard]] virtual int parts(int level) const = 0;
};

}  // namespace plait::poisson
