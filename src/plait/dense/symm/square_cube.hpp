#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>

#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/dense/symm/options.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/node/active_ranks.hpp"

namespace plait::dense::symm {

class Plan;
enum class Powers : unsigned char;

/// D² and D³ of a symmetric (complex: Hermitian) n × n matrix D, which lies in a layout of the algorithm's own.
///
///     SquareCube<double> kernel(context, n);
///     DistributedMatrix<double> d(kernel.layout(), context.rank()), d2(…), d3(…);
///     kernel.square_cube(d, d2, d3);
///
/// Planned once, then executed any number of times. The first ranks of the context form a mesh, a cube of them unless
/// another algorithm keeps more busy (see `Options`); the others hold and do nothing, and sleep in what they call
/// next. Blocks may be ragged: n need be no multiple of the mesh's edge, and may be smaller. Everything is collective
/// over the context, on which all ranks call. Each execution agrees on its arguments, by one all-reduce, before
/// anything else is sent.
///
/// That D is Hermitian is not checked, and both of its triangles are read: of any other D nothing useful is computed.
/// D² and D³ are Hermitian to rounding, with the algorithm `mirrored` exactly. On the same mesh they are the same bits
/// each time, unless the MPI library sums up.
///
/// T is one of float, double, std::complex of both. n and the options are the same on all ranks.
///
/// \throws ArgumentError      n < 0, or an option that can't be; on every rank alike
/// \throws LayoutError        a matrix has another layout than `layout()`
/// \throws std::bad_alloc, OutOfMemory
///
/// Source: Huang, Chow: "Overlapping communications with other communications and its application to distributed dense
/// matrix computations", sections IV and V.
template <Field T>
class SquareCube {
 public:
  using Matrix = layout::DistributedMatrix<T>;
  using Tiles = std::span<const matrix_view<T>>;
  using ConstTiles = std::span<const matrix_view<const T>>;

  SquareCube(mpi::Context& context, Index n, const Options& options = {});
  SquareCube(SquareCube&&) noexcept;
  SquareCube& operator=(SquareCube&&) noexcept;
  ~SquareCube();

  /// In which D is expected and D², D³ come.
  [[nodiscard]] const layout::Layout& layout() const noexcept { return layout_; }
  /// With what was chosen.
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  /// The ranks that take part: of the context, or of those that are active (see `Options::ranks_per_node`).
  [[nodiscard]] const Grid& mesh() const noexcept { return mesh_; }

  /// d2 ← D².
  void square(const Matrix& d, Matrix& d2);
  /// d2 ← D², d3 ← D³.
  void square_cube(const Matrix& d, Matrix& d2, Matrix& d3);

  /// The same on memory that somebody else allocated: this rank's tiles in the order of `Layout::tiles_of`, each with
  /// its own storage order and leading dimension.
  ///
  /// \throws ShapeMismatch  a tile has not the shape that the layout gives it
  /// \throws ArgumentError  a result has memory in common with another matrix
  void square(ConstTiles d, Tiles d2);
  void square_cube(ConstTiles d, Tiles d2, Tiles d3);

  /// Memory that this rank holds, in bytes: what has been needed so far, but for staging.
  [[nodiscard]] Index workspace_bytes() const noexcept;

 private:
  void make(Powers powers);
  void run(const std::function<void()>& check, ConstTiles d, Tiles d2, const Tiles* d3);

  mpi::Context* context_;
  Options options_;
  std::unique_ptr<std::optional<mpi::ActiveRanks>> active_;  // where not all ranks take part
  Grid mesh_;
  layout::Layout layout_;
  std::unique_ptr<Plan> plan_;     // none on ranks that sleep
  std::array<bool, 2> is_made_{};  // for D² alone, and with D³
  int blas_threads_ = 1;
};

}  // namespace plait::dense::symm
