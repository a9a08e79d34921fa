#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/element_operation.hpp"
#include "plait/redistribute/op.hpp"
#include "plait/redistribute/operands.hpp"
#include "plait/redistribute/options.hpp"
#include "plait/redistribute/volume.hpp"

namespace plait::redistribute {

class Plan;

/// Redistributes and transforms a distributed matrix:  A ← alpha·op(B) + beta·A.
///
/// Planned once from the two layouts, then executed any number of times, on any pair of matrices that have these
/// layouts, of any of the types below. The process grids may differ in shape and order, and the sets of ranks may
/// overlap, be contained in each other or be disjoint. Each pair of ranks exchanges one package, cut into chunks; what
/// stays on a rank moves in one pass without a message; packages are packed as sends are posted, and transformed as
/// they arrive. Several matrices at once: `Batch`.
///
/// Everything is collective over the context, on which all ranks of the context call, also those that hold nothing.
/// Planning costs what this rank owns and one all-reduce; so does agreeing on each execution, without the former.
///
/// T is one of: signed and unsigned integers of 8, 16, 32, 64 bits, float, double, std::complex of both. Integers wrap.
///
/// \pre  apply(op, from.shape()) == to.shape(); from.ranks() <= context.size() and to.ranks() <= context.size()
/// \throws ShapeMismatch, LayoutError, ArgumentError  on every rank alike; nothing has been communicated then
///
/// Source: Kabić et al., "COSTA", Algorithms 2 and 3.
class Redistribution {
 public:
  Redistribution(mpi::Context& context, layout::Layout from, layout::Layout to, Op op = Op::identity,
                 Options options = {});
  Redistribution(Redistribution&&) noexcept;
  Redistribution& operator=(Redistribution&&) noexcept;
  /// Finishes an execution under way first.
  ~Redistribution();

  /// A ← alpha·op(B) + beta·A. The tiles are this rank's, in the order of `Layout::tiles_of`; each view may have its
  /// own storage order and leading dimension. T is that of the target; say it, `execute<double>(…)`, where the target
  /// is a vector. Scalars are the same on all ranks. `beta == 0` never reads A; `alpha == 0` never reads B, whose tiles
  /// then may have no memory.
  ///
  /// \throws ShapeMismatch  if a tile has not the shape that the layout gives it
  /// \throws ArgumentError  if source and target have memory in common
  /// \throws PeerFailed     if another rank failed under way; A is undefined then
  template <class T>
  void execute(std::type_identity_t<T> alpha, std::type_identity_t<SourceTiles<T>> source, std::type_identity_t<T> beta,
               std::span<const matrix_view<T>> target) {
    start<T>(alpha, source, beta, target);
    wait();
  }

  /// The same on matrices that hold their own memory.
  /// \throws LayoutError    if one of them has another layout than the plan
  /// \throws ArgumentError  if one of them has the tiles of another rank than this one's in the context
  template <class T>
  void execute(std::type_identity_t<T> alpha, const layout::DistributedMatrix<T>& source, std::type_identity_t<T> beta,
               layout::DistributedMatrix<T>& target) {
    start_with([&] { return Operands(alpha, source, beta, target); });
    wait();
  }
  /// A ← op(B).
  template <class T>
  void execute(const layout::DistributedMatrix<T>& source, layout::DistributedMatrix<T>& target) {
    execute(T{1}, source, T{0}, target);
  }
  /// A ← whatever `operation` makes of op(B) and A; for an op that does not conjugate.
  template <class T>
  void execute(const std::type_identity_t<ElementOperation<T>>& operation, std::type_identity_t<SourceTiles<T>> source,
               std::span<const matrix_view<T>> target) {
    start_with([&] { return Operands(operation, source, target); });
    wait();
  }

  template <class T>
  void execute(const std::type_identity_t<ElementOperation<T>>& operation, const layout::DistributedMatrix<T>& source,
               layout::DistributedMatrix<T>& target) {
    start_with([&] { return Operands(operation, source, target); });
    wait();
  }

  /// Begins an execution; `wait` ends it. In between, `progress` moves it along. Source and target stay untouched until
  /// `wait` returns.
  template <class T>
  void start(std::type_identity_t<T> alpha, std::type_identity_t<SourceTiles<T>> source, std::type_identity_t<T> beta,
             std::span<const matrix_view<T>> target) {
    start_with([&] { return Operands(alpha, source, beta, target); });
  }
  /// Does what can be done without waiting; true when this rank is done.
  bool progress();
  void wait();

  [[nodiscard]] const layout::Layout& from() const noexcept;
  [[nodiscard]] const layout::Layout& to() const noexcept;
  [[nodiscard]] Op op() const noexcept;

  /// What this rank sends, receives and keeps.
  [[nodiscard]] Volume volume() const noexcept;

 private:
  // A rank that fails to make its operands says so to the others, which wait for it.
  template <class F>
  void start_with(F&& make) {
    std::optional<Operands> operands;
    std::exception_ptr failure;
    try {
      operands.emplace(make());
    } catch (...) {
      failure = std::current_exception();
    }
    start(operands ? &*operands : nullptr, failure);
  }
  void start(const Operands* operands, const std::exception_ptr& failure);

  std::unique_ptr<Plan> plan_;
};

}  // namespace plait::redistribute
