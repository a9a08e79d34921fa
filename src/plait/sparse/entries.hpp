#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/sparse/matrix.hpp"

/// What is made of a square matrix by moving its entries to other ranks, and what its pattern tells. Columns are dealt
/// to ranks as rows are. All are collective over the context of the matrix, and throw on all ranks: ArgumentError where
/// it is not such a matrix, OutOfMemory where a rank has too little, 100 bytes an entry.
///
/// Instantiated for float and double.
namespace plait::sparse {

/// A + factor·Aᵀ with an entry wherever one of the two has it: of a factor of 0, A with a symmetric pattern. This
/// rank's rows.
template <class T>
[[nodiscard]] Rows<T> plus_transposed(const Matrix<T>& a, T factor = 1);

/// An entry that is not that on the other side of the diagonal, where one that is not there is 0.
template <class T>
struct Asymmetry {
  Index row = 0, column = 0;
  T difference = 0;  // a_rc - a_cr
};
/// The first one, by rows; none, where the matrix is symmetric. The same on all ranks.
template <class T>
[[nodiscard]] std::optional<Asymmetry<T>> asymmetry_of(const Matrix<T>& a);

/// P·A·Pᵀ: row and column r get other numbers, as after a partition of the graph. This rank's rows of the new matrix.
///
/// \param numbers   the new numbers of this rank's rows: on all ranks together each from 0 to a.rows() - 1 once
/// \param own_rows  how many rows of the new matrix this rank is to have
/// \throws ArgumentError  as above; and naming a number that is out of range, missing or there more than once, or how
///                        many rows the ranks are to have
template <class T>
[[nodiscard]] Rows<T> renumbered(const Matrix<T>& a, std::span<const Index> numbers, Index own_rows);

/// The parts of a graph between which there is no edge, in either direction.
struct Components {
  std::vector<Index> of;  // each row of this rank: the lowest row of its component
  Index count = 0;        // of all
};
/// Rows are connected on each rank by itself, then what each rank has by the edges between ranks; these are seen by
/// all, one for two parts of ranks that have any.
template <class T>
[[nodiscard]] Components components_of(const Matrix<T>& graph);

}  // namespace plait::sparse
