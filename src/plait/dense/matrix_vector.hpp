#pragma once

#include <memory>
#include <span>

#include "plait/base/counters.hpp"
#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"

namespace plait::dense {

/// How the matrix of y = A·x is distributed, and with it the vectors.
enum class VectorMethod : unsigned char {
  /// A rank has whole rows of A, and its part of x and of y: x is gathered, and its parts multiplied as they come.
  rows,
  /// A rank has whole columns of A, and its part of x and of y: partial sums are reduced and scattered.
  columns,
  /// The ranks are a square mesh as large as there is, the others have nothing to do: rank (i, j) has block (i, j) of
  /// A, and all ranks of mesh column j have the j-th part of x and of y. The parts of y are reduced along the rows of
  /// the mesh, to its diagonal, and broadcast from there down its columns, segment by segment.
  mesh,
};

struct VectorOptions {
  /// Pieces of a vector that are under way together (the literature's N_DUP). With 1 and whole segments `mesh` is
  /// Algorithm 1 of the source, in which one communication follows the other; else it is Algorithm 2.
  int strands = 1;
  /// Elements of a message at most; 0: a strand is one.
  Index segment = 0;
};

/// y ← A·x for a matrix that stays where it is, on a schedule that is planned once. Collective over the context.
///
/// Counted messages and bytes equal `traffic()` exactly, which for n × n on P ranks, extents that divide evenly and one
/// segment is for each rank: (P - 1) messages, (P - 1) n / P elements by rows and by columns; on the mesh n / √P
/// elements for the reduction and as many for the broadcast.
///
/// T is float, double or std::complex of them.
///
/// Source: Huang, Chow, "Overlapping Communications with Other Communications and its Application to Distributed Dense
/// Matrix Computations", section III.A, Algorithms 1 and 2; for the others the usual one-dimensional ones.
template <Field T>
class MatrixVector {
 public:
  /// \throws ArgumentError  strands < 1 or segment < 0, or arguments that differ between ranks; on every rank
  MatrixVector(mpi::Context& context, layout::Shape shape, VectorMethod method, VectorOptions options = {});
  MatrixVector(MatrixVector&&) noexcept;
  MatrixVector& operator=(MatrixVector&&) noexcept;
  ~MatrixVector();

  /// Where A has to lie, each rank's tile by columns.
  [[nodiscard]] layout::Layout matrix_layout() const;
  /// Which elements of x and of y this rank has; none, if it has nothing to do.
  [[nodiscard]] Span x_part() const;
  [[nodiscard]] Span y_part() const;

  /// \pre  a is this rank's tile, column-major; x and y are as long as their parts say, and overlap nothing
  /// \throws ShapeMismatch  on every rank, naming what is not
  void execute(matrix_view<const T> a, std::span<const T> x, std::span<T> y);

  /// What this rank sends and receives in an execution, exactly.
  [[nodiscard]] Exchanged traffic() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace plait::dense
