#pragma once

#include <optional>

#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::dense {

/// C ← A·B for n × n matrices of which A and the product are Hermitian: B is A, or a polynomial of it. Half of the
/// product is computed, as the other half mirrors it. For any number of ranks, each of which has columns.
///
/// With blocks (i, j), of the rows that belong to the columns of rank i, rank j computes the lower triangle of (j, j)
/// and the blocks (j + d, j), d = 1 … P/2, counted around; of the last one, where P is even, both ranks compute half.
/// Block (i, j) is  A_iᴴ·B_j,  so that the columns A_i come from rank i while another block is computed, and goes back
/// there to be mirrored. A rank receives at most (n² + n²/P)/2 elements, with many ranks half as many as in a ring.
///
/// The result is exactly Hermitian, and the same bits on the same ranks in every run. Planned once; everything is
/// collective over the context, which outlives this. T is float, double, or std::complex of one.
template <Field T>
class HermitianProduct {
 public:
  using Matrix = layout::DistributedMatrix<T>;

  /// \throws ArgumentError  on all ranks: n < 0
  HermitianProduct(mpi::Context& context, Index n);

  /// In which all three lie.
  [[nodiscard]] const layout::Layout& layout() const noexcept { return layout_; }

  /// b may be a. Whether the product is Hermitian is not checked.
  ///
  /// \throws LayoutError    on all ranks: a matrix has another layout than `layout()`
  /// \throws ArgumentError  on all ranks: c is a or b
  void execute(const Matrix& a, const Matrix& b, Matrix& c);

  /// Memory that this rank takes in a run beside the matrices.
  [[nodiscard]] Index workspace_bytes() const noexcept { return schedule_->staging_bytes(); }

 private:
  mpi::Context& context_;
  layout::Layout layout_;
  std::optional<schedule::Schedule> schedule_;
  int threads_ = 1;
};

}  // namespace plait::dense
