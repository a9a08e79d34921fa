#pragma once

#include <memory>
#include <span>
#include <type_traits>

#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/dense/arrangement/choice.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/layout.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/agreement.hpp"
#include "plait/redistribute/operands.hpp"

namespace plait::dense {

using redistribute::Agreement;

/// How a product of matrices in these layouts is carried out: the way that `choose` finds, the moves from and to the
/// layouts counted or estimated (see `moved_bytes`). Pure: the same on all ranks.
///
/// \throws as `Multiplication`, but for memory
[[nodiscard]] Choice choose(const Factors& factors, const layout::Layout& c, const model::Machine& machine,
                            const model::Placement& placement, Index element_bytes,
                            const MultiplicationOptions& options);

/// C ← alpha·op(A)·op(B) + beta·C, for distributed matrices of any shapes and layouts.
///
/// Planned once from the layouts, then executed any number of times on matrices that have these. A and B move in one
/// exchange to the layouts of an algorithm (see `Arrangement`, `choose`), which multiplies them on a schedule, so that
/// panels travel while others are multiplied, by BLAS; then C moves back. Which rank plays which role is chosen so
/// that the moves into and out of it are least. Ranks that the algorithm has no use for take part in the exchanges
/// only.
///
/// What lies already as the algorithm wants it, each rank's part in one tile, takes part in no exchange: it is
/// multiplied where it is. Then it may have any leading dimension and storage order, and op may transpose it; only
/// parts that travel from rank to rank are copied if they have gaps, or are not in the order of the algorithm (A by
/// columns, B by rows). C is computed where it is, if it has no memory in common with A and B and is not summed up over
/// layers.
///
/// Matrices that are dealt in blocks to one process grid, as ScaLAPACK has them, are multiplied in place, too, where
/// that is fastest: see `in_place_arrangement`. If op transposes one of them, or it lies on other ranks, it alone
/// moves.
///
/// Everything is collective over the context, and all ranks call. BLAS has the rank's share of the cores while it
/// executes, if the environment says nothing else: see `BlasThreads`. The same bits come out of the same product in
/// the same layouts, storage and common memory included, with the same options on the same machine description.
///
/// T is float, double or std::complex of them.
///
/// \throws ShapeMismatch, LayoutError, ArgumentError  on every rank alike; nothing has been communicated then
/// \throws OutOfMemory                                on every rank
template <Field T>
class Multiplication {
 public:
  Multiplication(mpi::Context& context, const Factors& factors, layout::Layout c,
                 const MultiplicationOptions& options = {});
  Multiplication(Multiplication&&) noexcept;
  Multiplication& operator=(Multiplication&&) noexcept;
  ~Multiplication();

  /// The tiles are this rank's, in the order of `Layout::tiles_of`; each view may have its own storage order and
  /// leading dimension. Scalars are the same on all ranks. `beta == 0` never reads C; `alpha == 0` never reads A and B,
  /// whose tiles then may have no memory. C may have memory in common with A or B.
  ///
  /// \param agreement  where it was reached, by an execution with the same scalars' zeros before, nothing is
  ///                   communicated but the data
  /// \throws ShapeMismatch  a tile has not the shape that the layout gives it
  void execute(T alpha, redistribute::SourceTiles<T> a, redistribute::SourceTiles<T> b, T beta,
               std::span<const matrix_view<T>> c, Agreement agreement = Agreement::needed);

  /// The same on matrices that hold their own memory.
  /// \throws LayoutError    one of them has another layout than the plan, but for the storage order
  /// \throws ArgumentError  one of them has the tiles of another rank
  void execute(T alpha, const layout::DistributedMatrix<T>& a, const layout::DistributedMatrix<T>& b, T beta,
               layout::DistributedMatrix<T>& c);

  /// Gives back the memory for parts of A, B and C, which otherwise stays from execution to execution; the next one
  /// takes it again. Local.
  void release_memory() noexcept;

  /// How it is done, and what memory a rank takes.
  [[nodiscard]] const Choice& choice() const noexcept;
  /// What this rank sends and receives of the product in an execution, exactly, and of the exchanges before and after.
  [[nodiscard]] Exchanged product_traffic() const;
  [[nodiscard]] Index redistributed_bytes() const;  ///< that this rank receives

  /// Which of the matrices take part in no exchange, as they lie on the right ranks already.
  struct InPlace {
    bool a, b, c;
    friend bool operator==(const InPlace&, const InPlace&) = default;
  };
  [[nodiscard]] InPlace in_place() const noexcept;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace plait::dense
