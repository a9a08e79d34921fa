#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plait/redistribute/mover.hpp"
#include "plait/redistribute/overlap.hpp"
#include "plait/redistribute/packages.hpp"
#include "plait/redistribute/pieces.hpp"
#include "plait/redistribute/redistribution.hpp"
#include "plait/redistribute/transform.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::redistribute {

/// What a `Redistribution` holds. It knows no element types, only element sizes: for each size there is a schedule,
/// made when the size is first used.
///
/// op(B) is B with its layout and its tiles read the other way round, so that all that is left is to copy between two
/// layouts of one shape whose tiles may be stored in different orders.
class Redistribution::Plan {
 public:
  Plan(mpi::Context& context, layout::Layout from, layout::Layout to, Op op, Options options);

  template <class T>
  void start(T alpha, std::span<const matrix_view<const T>> source, T beta, std::span<const matrix_view<T>> target);
  bool progress();
  void wait();

  const layout::Layout from;
  const layout::Layout to;
  const Op op;

  [[nodiscard]] Volume volume() const noexcept;

 private:
  /// A schedule, the chunks that its computations move, and what moves them.
  struct Exchange;

  void agree_on_options(const std::exception_ptr& failure);
  void expect_layouts() const;
  void expect_disjoint(std::span<const TileMemory> source, std::span<const TileMemory> target,
                       Index element_bytes) const;
  void bind(std::span<const TileMemory> source, std::span<const TileMemory> target);
  Exchange& new_exchange(Index element_bytes);
  void build(Exchange& exchange, Index element_bytes);
  void add_sends(Exchange& exchange, schedule::Graph& graph, Index blocks, Index element_bytes);
  void add_receives(Exchange& exchange, schedule::Graph& graph, Index blocks, Index element_bytes);
  void add_own_moves(Exchange& exchange, schedule::Graph& graph);
  void scale_target(std::span<const TileMemory> target) const;
  [[nodiscard]] const Tile& source_of(const Piece& piece) const {
    return source_[static_cast<std::size_t>(piece.panel->source_tile)];
  }
  [[nodiscard]] const Tile& target_of(const Piece& piece) const {
    return target_[static_cast<std::size_t>(piece.panel->target_tile)];
  }
  template <class T>
  static std::vector<TileMemory> memory_of(std::span<const matrix_view<T>> tiles);

  mpi::Context& context_;
  Options options_;
  const layout::Layout op_from_;     // the layout of op(B)
  std::vector<Index> source_order_;  // of its tiles, in the list of B's
  std::optional<Packages> packages_;
  std::map<Index, Exchange> exchanges_;  // by element size

  // Of the execution under way.
  Exchange* active_ = nullptr;
  std::vector<Tile> source_;
  std::vector<Tile> target_;
  Transform transform_;
};

struct Redistribution::Plan::Exchange {
  struct Message {
    int peer;
    Index number;  // of the chunk in its package
    Chunk chunk;
  };
  std::optional<Mover> mover;
  std::vector<Message> outgoing, incoming;
  std::vector<Chunk> own;
  std::optional<schedule::Schedule> schedule;
};

}  // namespace plait::redistribute
