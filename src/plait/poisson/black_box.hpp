#pragma once

#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/elimination.hpp"
#include "plait/poisson/level.hpp"
#include "plait/poisson/operator_transfer.hpp"
#include "plait/poisson/point_grid.hpp"

namespace plait::poisson {

/// Multigrid as a preconditioner of conjugate gradients where k jumps or the grid has holes: an approximation of A⁻¹
/// that is symmetric and positive definite for any k, by W-cycles on the first coarse grids, V-cycles below, and a
/// sweep of Gauss-Seidel before and after. Numbers are of T, grids and bits as `Multigrid` has them. Points that are
/// outside take part with a k that is small, so that coarse points there serve those inside.
template <class T>
class BlackBox {
 public:
  /// \param finest  its coefficient set; outlives this
  /// \param least_points_per_rank  coarse levels go to fewer ranks, so that each has as many points
  BlackBox(mpi::Context& context, Level<T>& finest, Index least_points_per_rank);

  /// u ← M b; ghosts of u are not filled. Collective.
  void apply(const Values<T>& b, Values<T>& u);

  [[nodiscard]] int levels() const noexcept { return static_cast<int>(stages_.size()); }
  [[nodiscard]] int parts(int level) const { return stages_[at(level)].grid.partition().number_of_parts(); }

 private:
  using Grid = PointGrid<T>;
  struct Stage {
    template <class... Arguments>
    explicit Stage(Arguments&&... arguments) : grid(std::forward<Arguments>(arguments)...) {}
    Grid grid;
    Values<T> u, b, r;
  };

  void set_finest();
  [[nodiscard]] double conductance(std::size_t axis, const layout::Point& point) const;
  bool add_coarser();
  void cycle(std::size_t number, bool is_zero);

  mpi::Context& context_;
  Level<T>& finest_;
  Index least_points_per_rank_;
  std::array<double, layout::axes> spacing_{};  // of the last stage
  double scale_ = 1, little_ = 0;
  std::deque<Stage> stages_;
  std::deque<OperatorTransfer<T>> transfers_;
  std::optional<Coarsest<Grid>> coarsest_;
};

}  // namespace plait::poisson
