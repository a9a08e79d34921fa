#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/collective/calls.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/learn/network/pass.hpp"
#include "plait/learn/network/sharing.hpp"
#include "plait/mpi/context.hpp"

namespace plait::learn {

/// Moves the numbers of a batch from where layers make them to where the next ones take them, and slopes back, as a
/// `Sharing` says: boxes to boxes, with ghosts, by a `halo::Exchange`; to all ranks by an all-gather, and back by a
/// reduce-scatter. Does nothing where nothing moves.
///
/// Collective over the context: all calls, in the same order. Numbers that a rank only sends are under way when a call
/// returns, until the next call for the same layer or `settle`.
class Exchanges {
 public:
  using What = Sharing::Move::What;

  /// \param pass     outlives this
  /// \param batches  the places where the samples of ranks end in each batch that there is
  /// \param grain    as many samples of a batch at most are moved at once by a pipeline
  /// \throws OutOfMemory  on all ranks, where one has too little
  Exchanges(mpi::Context& context, const Sharing& sharing, Pass& pass, const std::vector<std::vector<Index>>& batches,
            Index grain);

  /// The samples of a batch to the first layer, and their targets, this rank's, to where the loss is computed.
  void begin(Index batch, std::span<const double> targets);
  [[nodiscard]] std::span<const double> targets() const noexcept { return targets_; }
  /// Numbers to layer l, or the loss; slopes back from it; or ghosts of slopes by what it makes. \pre  l >= 1
  void move(What what, Index l, Pass::Range samples);
  /// Finishes what is under way.
  void settle();
  /// Moves it along. Never waits.
  void progress();

 private:
  struct Transfer {
    std::unique_ptr<halo::Exchange> exchange{};
    std::optional<collective::Pending> of_all{};
    std::optional<layout::BoxPartition> boxes{};  // of all
    bool receives = false, is_under_way = false;
  };
  using Key = std::tuple<What, Index, Index>;  // and layer, and samples

  void plan(const Sharing::Move& move);
  static void fill(Transfer& its, const double* from, double* to);

  mpi::Context& context_;
  Sharing sharing_;
  Pass& pass_;
  Vector<double> all_;  // of a level, one rank's box behind the other
  Vector<double> targets_;
  std::map<Key, Transfer> transfers_;
};

}  // namespace plait::learn
