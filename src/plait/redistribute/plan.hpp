#pragma once

#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plait/mpi/context.hpp"
#include "plait/redistribute/matrix_pair.hpp"
#include "plait/redistribute/mover.hpp"
#include "plait/redistribute/operands.hpp"
#include "plait/redistribute/options.hpp"
#include "plait/redistribute/packages.hpp"
#include "plait/redistribute/pieces.hpp"
#include "plait/redistribute/transform.hpp"
#include "plait/redistribute/volume.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::redistribute {

/// What a `Redistribution` and a `Batch` hold. It knows no element types, only element sizes: for each combination of
/// sizes there is a schedule, made when it is first used.
///
/// op(B) is B with its layout and its tiles read the other way round, so that all that is left is to copy between two
/// layouts of one shape whose tiles may be stored in different orders.
class Plan {
 public:
  Plan(mpi::Context& context, std::vector<MatrixPair> pairs, Options options);

  /// \param failure  what kept this rank from making its operands, for all ranks to throw
  void start(std::span<const Operands> operands, std::exception_ptr failure = nullptr);
  bool progress();
  void wait();

  [[nodiscard]] std::span<const MatrixPair> pairs() const noexcept { return pairs_; }
  [[nodiscard]] Volume volume(std::size_t pair) const;

 private:
  /// One pair of matrices.
  struct Matrix {
    explicit Matrix(const MatrixPair& pair, int rank);

    const MatrixPair& pair;
    layout::Layout op_from;
    std::vector<Index> source_order;  // of op_from's tiles, in the list of B's
    Packages packages;
    // Of the execution under way.
    std::vector<Tile> source;
    std::vector<Tile> target;
    Transform transform;
  };
  /// A schedule, the chunks that its computations move, and what moves them.
  struct Exchange;
  /// Element sizes, 0 for a matrix that does not take part because its alpha is 0.
  using Sizes = std::vector<Index>;

  void agree_on_options(const std::exception_ptr& failure);
  void expect_layouts(const MatrixPair& pair) const;
  void expect_fitting(std::span<const Operands> operands) const;
  void expect_disjoint(std::span<const Operands> operands) const;
  void agree_on_operands(const Sizes& sizes, std::span<const Operands> operands, const std::exception_ptr& failure);
  static void bind(Matrix& matrix, const Operands& operands);
  static void scale_target(const Matrix& matrix, const Operands& operands);
  Exchange& new_exchange(const Sizes& sizes);
  void build(Exchange& exchange, const Sizes& sizes);
  void add_sends(Exchange& exchange, schedule::Graph& graph, Index blocks);
  void add_receives(Exchange& exchange, schedule::Graph& graph, Index blocks);
  void add_own_moves(Exchange& exchange, schedule::Graph& graph);
  /// "pair 3: " where there are several.
  [[nodiscard]] std::string name_of(std::size_t pair) const;

  mpi::Context& context_;
  Options options_;
  const std::vector<MatrixPair> pairs_;
  std::deque<Matrix> matrices_;
  std::map<Sizes, Exchange> exchanges_;  // last, so that one under way ends while its matrices are there
  Exchange* active_ = nullptr;
  bool calls_users_ = false;  // in the execution under way: what they throw on one rank is told to all
};

struct Plan::Exchange {
  struct Message {
    int peer;
    Index number;  // among those to the same peer
    Chunk chunk;
  };
  std::vector<std::optional<Mover>> movers;  // of the matrices that take part
  std::vector<Message> outgoing, incoming;
  std::vector<Chunk> own;
  std::optional<schedule::Schedule> schedule;
};

}  // namespace plait::redistribute
