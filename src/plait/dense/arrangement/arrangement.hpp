#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/axis.hpp"
#include "plait/layout/layout.hpp"
#include "plait/layout/process_grid.hpp"
#include "plait/redistribute/op.hpp"

namespace plait::dense {

/// The sizes of a product: C is rows × columns, and each of its elements a sum of so many terms. (BLAS' m, n, k.)
struct ProductShape {
  Index rows = 0;
  Index columns = 0;
  Index terms = 0;
  friend bool operator==(const ProductShape&, const ProductShape&) = default;
};

/// The fewest elements that the busiest of so many ranks receives, whatever the algorithm, however much memory there
/// is, when A, B and C are spread evenly: 0 for one rank. Three cases, as one, two or three of the matrices have to
/// move.
///
/// Source: Al Daas, Ballard, Grigori, Kumar, Rouse, "Tight memory-independent parallel matrix multiplication
/// communication lower bounds", 2022, Theorem 3.
[[nodiscard]] double least_elements_received(const ProductShape& shape, int ranks);

using redistribute::Op;

/// Where the factors of a product lie, and what is done to them.
struct Factors {
  layout::Layout a;
  layout::Layout b;
  Op op_a = Op::identity;
  Op op_b = Op::identity;

  /// \throws ShapeMismatch  op(A) has not as many columns as op(B) has rows
  [[nodiscard]] ProductShape product_shape() const;
};

/// A matrix's layout as that of op of it: the same tiles, read the other way round if op transposes.
[[nodiscard]] layout::Layout as_it_is_read(const layout::Layout& layout, Op op);

/// How the parts of A and B come to the ranks of a layer.
enum class Method : unsigned char {
  ring,      ///< one of them stays, the other goes round: for meshes of one row or one column
  summa,     ///< panel by panel, A's along the rows of the mesh and B's along its columns: for all meshes
  cannon,    ///< both go round, A's along the rows and B's along the columns: for square meshes
  in_place,  ///< SUMMA's panels, of matrices that lie as the caller has them, block-cyclic for instance
};

[[nodiscard]] const char* to_string(Method method) noexcept;

using layout::GridPlace;
using layout::ProcessGrid;

/// Elements [begin, end) of an extent.
struct Span {
  Index begin = 0;
  Index end = 0;
  [[nodiscard]] Index length() const noexcept { return end - begin; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// How matrices lie that are multiplied in place: row part r and column part c of A belong to the rank of row r and
/// column c of the mesh, and likewise of B and C. The terms may be cut differently for A and for B.
struct GivenAxes {
  layout::Axis rows;     ///< of A and C
  layout::Axis columns;  ///< of B and C
  layout::Axis a_terms;  ///< columns of A: as many parts as `columns`
  layout::Axis b_terms;  ///< rows of B: as many parts as `rows`
};

/// Which rank computes what of C = A·B, and where A, B and C lie for it. With one layer this is a 2D algorithm (1D, if
/// there is but one row or column); with more it is 2.5D, and the number of layers is its replication factor c; with
/// layers as high as they are wide and deep it is 3D. No matrix is stored several times: a layer has those columns of A
/// and rows of B that its terms are made of; what more layers take memory for is C.
///
/// Cannon's initial alignment is part of the layouts of A and B, so that it costs nothing.
///
/// Pure arithmetic on *roles*: rank r of the context plays role r, unless the layouts are relabeled and `rank_of` says
/// otherwise. Roles from mesh.ranks() on have nothing to do.
///
/// Sources: van de Geijn, Watts, "SUMMA", 1997; Cannon, 1969; Solomonik, Demmel, "Communication-optimal parallel 2.5D
/// matrix multiplication and LU factorization algorithms", 2011; Huang, Chow, "CA3DMM", 2022, for layers that begin
/// with their own terms.
class Arrangement {
 public:
  /// \pre  mesh.rows, columns, layers >= 1, and mesh.ranks() is an int
  /// \throws ArgumentError  a ring on a mesh of several rows and columns, Cannon on one that is not square
  /// \pre  method is not Method::in_place
  Arrangement(const ProductShape& shape, Method method, const ProcessGrid& mesh);

  /// In place, on one layer.
  /// \throws ShapeMismatch  axes of the terms of different extents, or parts
  explicit Arrangement(GivenAxes axes);

  [[nodiscard]] const ProductShape& shape() const noexcept { return shape_; }
  [[nodiscard]] Method method() const noexcept { return method_; }
  [[nodiscard]] const ProcessGrid& mesh() const noexcept { return mesh_; }

  /// The axes of an arrangement in place; null for others.
  [[nodiscard]] const GivenAxes* given() const noexcept { return given_.get(); }

  /// Rows of A and C, columns of B and C. In place they count, as do the terms of A and of B, in the order in which the
  /// parts hold them, one part after the other.
  [[nodiscard]] Span rows(int row) const;
  [[nodiscard]] Span columns(int column) const;
  /// The columns of C that a layer has in the end, of those that the ranks of a mesh column computed.
  [[nodiscard]] Span final_columns(int column, int layer) const;
  /// The terms of a layer; its `part`-th part of as many as A is cut into (along rows of the mesh), B (down columns).
  [[nodiscard]] Span terms(int layer) const;
  [[nodiscard]] Span a_terms(int layer, int part) const;
  [[nodiscard]] Span b_terms(int layer, int part) const;

  /// Of the rank that has most of them.
  [[nodiscard]] Index most_rows() const;
  [[nodiscard]] Index most_columns() const;
  [[nodiscard]] Index most_a_terms() const;
  [[nodiscard]] Index most_b_terms() const;

  /// Which of the parts a rank holds in the beginning.
  [[nodiscard]] int a_part(const GridPlace& place) const noexcept;
  [[nodiscard]] int b_part(const GridPlace& place) const noexcept;

  /// Where the matrices lie: each role has one tile of each. A by columns, B by rows, so that a panel of either lies in
  /// one stretch; C by columns. (In place, with the terms in the order of `a_order` and `b_order`.)
  [[nodiscard]] layout::Layout a_layout() const;
  [[nodiscard]] layout::Layout b_layout() const;
  [[nodiscard]] layout::Layout c_layout() const;

  /// "one rank", "SUMMA on 2 x 3 ranks", "SUMMA in place on 2 x 3 ranks", "2.5D, Cannon on 2 layers of 3 x 3 ranks".
  [[nodiscard]] std::string describe() const;

 private:
  ProductShape shape_;
  Method method_;
  ProcessGrid mesh_;
  std::shared_ptr<const GivenAxes> given_;
};

/// Whether it goes panel by panel, or else part by part.
[[nodiscard]] inline bool goes_in_panels(const Arrangement& arrangement) noexcept {
  return arrangement.method() == Method::summa || arrangement.method() == Method::in_place;
}

}  // namespace plait::dense
