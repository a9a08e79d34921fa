#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plait/base/matrix_view.hpp"
#include "plait/redistribute/operands.hpp"
#include "plait/redistribute/overlap.hpp"
#include "plait/redistribute/tile.hpp"

#include "shim/scalapack/grid.hpp"
#include "shim/scalapack/matrix.hpp"
#include "shim/scalapack/plan_cache.hpp"

namespace plait::shim::scalapack {

/// A call can't be served, for a reason that all of its processes have in common: the real routine is to do it.
struct PassOn {
  std::string reason;
};

/// Ends the program, as ScaLAPACK does when something fails that one process alone knows of and others wait for it.
[[noreturn]] void end_program(const std::string& what);

/// The plan of a call, made now if the cache has none: in the same order on all ranks, without communication.
/// \param make_pair  makes the layouts of source and target
/// \throws PassOn  on all ranks alike, if they can't be made
template <class MakePair>
[[nodiscard]] CachedPlan& planned(Team& team, PlanCache::Key key, MakePair&& make_pair) {
  if (CachedPlan* const known = team.plans.find(key)) return *known;
  try {
    redistribute::MatrixPair pair = make_pair();
    const Index bytes = estimated_bytes(pair);
    auto made = std::make_unique<CachedPlan>(team.context, std::move(pair), team.rings);
    return team.plans.keep(std::move(key), std::move(made), bytes);
  } catch (const Error& error) {
    throw PassOn{error.what()};
  }
}

/// Executes a plan. The first time with elements of this size the ranks agree, in one all-reduce, that all of them can,
/// and every rank throws if one can't; after that they need not talk: all that could differ between them is their
/// memory, and running out of it ends the program.
/// \throws PassOn  on all ranks alike, if nothing was moved
void execute(CachedPlan& cached, const std::optional<redistribute::Operands>& operands,
             const std::exception_ptr& failure, Index element_bytes);

/// A process's tiles of both operands. Where they share memory, which some programs take the liberty of, the source is
/// copied first.
template <class T>
class Tiles {
 public:
  Tiles(const redistribute::MatrixPair& pair, int rank, const T* source, int source_leading_dimension, T* target,
        int target_leading_dimension)
      : source_(local_tiles(pair.from, rank, source, source_leading_dimension)),
        target_(local_tiles(pair.to, rank, target, target_leading_dimension)) {
    if (source_.empty() || target_.empty() || !overlap()) return;
    matrix_view<const T>& tile = source_.front();
    copy_.reserve(static_cast<std::size_t>(tile.rows() * tile.columns()));
    for (Index j = 0; j < tile.columns(); ++j) {
      copy_.insert(copy_.end(), &tile(0, j), &tile(0, j) + tile.rows());
    }
    tile = {copy_.data(), tile.rows(), tile.columns(), tile.rows()};
  }

  [[nodiscard]] const std::vector<matrix_view<const T>>& source() const noexcept { return source_; }
  [[nodiscard]] std::span<const matrix_view<T>> target() const noexcept { return target_; }

 private:
  [[nodiscard]] bool overlap() const {
    return redistribute::have_common_memory(redistribute::memory_of(source_.front()),
                                            redistribute::memory_of(target_.front()), Index{sizeof(T)});
  }

  std::vector<matrix_view<const T>> source_;
  std::vector<matrix_view<T>> target_;
  std::vector<T> copy_;
};

/// Executes a plan on this process's tiles. `operands_of` makes the operands from them.
/// \throws as `execute`
template <class T, class OperandsOf>
void execute_on(CachedPlan& cached, int rank, const T* source, int source_leading_dimension, T* target,
                int target_leading_dimension, OperandsOf&& operands_of) {
  std::optional<Tiles<T>> tiles;
  std::optional<redistribute::Operands> operands;
  std::exception_ptr failure;
  try {
    tiles.emplace(cached.plan.pairs().front(), rank, source, source_leading_dimension, target,
                  target_leading_dimension);
    operands.emplace(operands_of(*tiles));
  } catch (...) {
    failure = std::current_exception();
  }
  execute(cached, operands, failure, Index{sizeof(T)});
}

}  // namespace plait::shim::scalapack
