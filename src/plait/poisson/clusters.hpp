#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/level.hpp"

namespace plait::poisson {

/// Sets of points that hang together more than with what is around them, as where k is large, or beside a wall of small
/// k. Iterations hardly shift the u of a whole set, and D⁻¹ (b - A u) hardly tells of it: what flows within is
/// much larger than what flows out. The sum of the residual over a set, in which what flows within cancels, by the
/// conductance of the faces around it is how far u there is off if it is right around: of any u and set half as much at
/// most.
///
/// Points are joined by the faces of largest conductance, down to a hundredth of it, then to a hundredth of that and so
/// on; the last set is the domain.
class Clusters {
 public:
  /// Collective over the context.
  /// \param level  its coefficient set; outlives this
  /// \throws OutOfMemory  on all ranks
  Clusters(mpi::Context& context, Level& level);

  /// The largest size of such a shift, of sets and of points alone. Collective.
  /// \param r  b - A u, of this rank's points alone
  [[nodiscard]] double largest_shift(std::span<const double> r);

 private:
  struct Stage {
    std::vector<Index> sets;       // by point of this rank; -1: alone, or outside
    std::vector<double> outflows;  // by set: conductances of the faces around it
    std::size_t shared = 0;        // the first ones, which other ranks have parts of, too
  };
  [[nodiscard]] Index add_stage(double least);

  mpi::Context& context_;
  Level& level_;
  std::vector<Stage> stages_;
  std::vector<double> stretches_, sums_;
};

}  // namespace plait::poisson
