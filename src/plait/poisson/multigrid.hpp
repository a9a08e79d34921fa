#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/level.hpp"

namespace plait::poisson {

enum class Cycle : unsigned char { v, w, f };

struct MultigridOptions {
  int sweeps_before = 1;  ///< of red-black Gauss-Seidel, on each level
  int sweeps_after = 1;
  /// Coarse levels go to fewer ranks, so that each has as many points.
  Index least_points_per_rank = 1024;
};

/// Multigrid on a `Level` and coarser ones, down to one that is solved by elimination on one rank:
///
///     cycle(l):  sweep; r = b - A u; b_coarse = R r; u_coarse = 0; cycle(l + 1); u += P u_coarse; sweep
///
/// R averages and P interpolates linearly on each axis (`Axis`); coarse operators are those of the equation on the
/// coarse grids, with k averaged. An axis is halved when its spacing is near the least one of all, so that grids come
/// to have the same spacing on all axes. Any extents will do.
///
/// Each point's values have the same bits on any number of ranks. Everything is collective over the context.
///
/// Source: Trottenberg, Oosterlee, Schüller: "Multigrid", 2001.
template <class T>
class Multigrid {
 public:
  /// \param finest  outlives this, its coefficient set
  Multigrid(mpi::Context& context, Level<T>& finest, const MultigridOptions& options = {});

  /// Improves u.
  void cycle(Cycle kind, Values<T>& u, const Values<T>& b);
  /// u ← u + the solution of A e = b - A u by one pass from the coarsest level to the finest, each begun with the one
  /// before and improved by a V-cycle (full multigrid).
  void full(Values<T>& u, const Values<T>& b);

  [[nodiscard]] int levels() const noexcept { return static_cast<int>(levels_.size()); }
  /// How many ranks have a part of a level.
  [[nodiscard]] int parts(int level) const { return levels_[at(level)].grid->partition().number_of_parts(); }

 private:
  // How one axis of this rank's points hangs together with the next coarser level.
  struct Between {
    bool is_halved = false;
    Index taps = 1;
    std::array<std::vector<T>, 3> restriction;  // by coarse point
    std::vector<T> own, other;                  // by fine point
  };
  struct Stage {
    explicit Stage(Level<T>& finest) : grid(&finest), aligned(finest.partition()), r(finest.zeros()) {}
    explicit Stage(std::unique_ptr<Level<T>> level)
        : made(std::move(level)),
          grid(made.get()),
          aligned(grid->partition()),
          u(grid->zeros()),
          b(grid->zeros()),
          r(grid->zeros()) {}

    std::unique_ptr<Level<T>> made{};
    Level<T>* grid;
    // To the next coarser one, or, without coarsening, to fewer ranks.
    bool only_moves = false;
    std::array<Between, layout::axes> between{};
    layout::BoxPartition aligned;  // coarse points where the fine ones are
    Values<T> u{}, b{}, r{};
    layout::Box coarse{};  // this rank's part of these
    layout::Box coarse_memory{};
    Values<T> coarse_values{};
    std::optional<halo::Exchange> down{}, up{};
  };

  void add_stages(Index least_points_per_rank);
  void add_stage(const layout::Coarsening& how, const layout::BoxPartition& partition);
  void connect(Stage& fine, const Level<T>& coarse);
  void factorize();
  void solve_coarsest(Values<T>& u, const Values<T>& b);
  void cycle(std::size_t stage, Cycle kind, Values<T>& u, const Values<T>& b);
  void restrict_to(Stage& fine, Values<T>& values, Values<T>& coarse);
  void interpolate(Stage& fine, const Values<T>& coarse, Values<T>& u);

  mpi::Context& context_;
  MultigridOptions options_;
  std::deque<Stage> levels_;
  std::vector<double> factors_;  // of the coarsest level, on the rank that has it
  std::vector<std::size_t> pivots_;
  std::vector<T> row_;
};

}  // namespace plait::poisson
