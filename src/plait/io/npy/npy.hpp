#pragma once

#include <span>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/io/aside_file.hpp"
#include "plait/io/dtype.hpp"
#include "plait/io/extents.hpp"
#include "plait/io/file.hpp"
#include "plait/io/npy/npy_header.hpp"
#include "plait/io/output_file.hpp"
#include "plait/io/progress.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/context.hpp"

/// NumPy's .npy files. Every rank reads and writes one piece of the file, at once with the others: the slabs of
/// `slab_layout`. For any other layout, redistribute.
namespace plait::io {

/// Opens a file to read. NumPy's archives are refused, and "w.npz:/a", as arrays in them may be called, in words that
/// say how to take an array out.
///
/// \throws FileError  it is one, or can't be opened
[[nodiscard]] File open_unless_archive(const std::string& path);

/// The header of a file that this process alone reads.
///
/// \throws FileError  see read_npy_header
[[nodiscard]] NpyHeader read_npy_header_local(const std::string& path);

/// The header, read by rank 0. Collective over `context`.
///
/// \throws FileError  on every rank: the file can't be read, is no .npy file, or is anything but what is wanted of a
///                    DType
[[nodiscard]] NpyHeader read_npy_header(mpi::Context& context, const std::string& path, Dimensions wanted = matrices);

/// The matrix in the file, in this machine's byte order, as `slab_layout(header.shape, header.order, context.size())`.
/// Collective over `context`; the ranks give the same header. Bytes that follow the matrix are ignored.
///
/// \pre  dtype_of<T>() == header.dtype
/// \throws FileError      on every rank: the file can't be read, or is shorter than its header tells
/// \throws ArgumentError  on every rank: T is not the header's type
/// \throws OutOfMemory    on every rank, naming the number of bytes
template <FileElement T>
[[nodiscard]] layout::DistributedMatrix<T> read_npy(mpi::Context& context, const std::string& path,
                                                    const NpyHeader& header, const Progress& progress = {});

/// All of a vector, on every rank, whatever real type it is stored in: an array of one dimension, or a matrix with one
/// row or one column. Rank 0 reads it. Collective over `context`.
///
/// \throws FileError  on every rank: the file can't be read, is no .npy file, is no vector, or one of complex numbers
[[nodiscard]] std::vector<double> read_npy_vector(mpi::Context& context, const std::string& path);

/// The same of whole numbers, exactly, whatever type they are stored in, read by this process alone.
///
/// \throws FileError  as above, or an element is not whole or does not fit
[[nodiscard]] std::vector<Index> read_npy_integers(const std::string& path);

/// All of a matrix, or of an array of one dimension as one column, row by row, read by this process alone.
///
/// \throws FileError  the file can't be read, is no .npy file, is no matrix, or one of complex numbers
struct NpyColumns {
  layout::Shape shape;
  std::vector<double> values;
};
[[nodiscard]] NpyColumns read_npy_columns(const std::string& path);

/// Writes a matrix, or an array that has it `as_matrix`, replacing a file that is there only once everything is on the
/// disk (see OutputFile). By rows (C order) if the matrix is distributed by rows, by columns (Fortran order) otherwise.
/// Collective over `context`.
///
/// \pre  slab.layout() == slab_layout(shape, order, context.size()) for one of the orders; slab.rank() is this rank
/// \throws ArgumentError  on every rank: the matrix is distributed otherwise
/// \throws FileError      on every rank: the file can't be written; a file that was there is as it was
void write_npy(mpi::Context& context, const std::string& path, const Extents& extents, const WrittenSlab& slab,
               const Progress& progress = {});
inline void write_npy(mpi::Context& context, const std::string& path, const WrittenSlab& slab,
                      const Progress& progress = {}) {
  write_npy(context, path, Extents::of(slab.layout.shape()), slab, progress);
}

/// Writes an array that this process alone holds, and returns the file, which is on the disk, closed, and can be given
/// its name: see AsideFile::publish. Not collective.
///
/// \pre  `lines` are all elements of that type, in that order
/// \throws FileError  the file can't be written
[[nodiscard]] AsideFile write_npy_aside(const std::string& path, DType dtype, const Extents& extents,
                                        StorageOrder order, const Lines& lines, const Progress& progress = {});
template <FileElement T>
[[nodiscard]] AsideFile write_npy_aside(const std::string& path, matrix_view<const T> matrix,
                                        const Progress& progress = {}) {
  return write_npy_aside(path, dtype_of<T>(), Extents::of({matrix.rows(), matrix.columns()}), matrix.order(),
                         lines_of(matrix), progress);
}
template <FileElement T>
[[nodiscard]] AsideFile write_npy_vector_aside(const std::string& path, std::span<const T> vector) {
  const auto contents = std::as_bytes(vector);
  return write_npy_aside(path, dtype_of<T>(), {1, {std::ssize(vector)}}, StorageOrder::row_major,
                         {contents.data(), 1, std::ssize(contents), std::ssize(contents)});
}

/// The same of a matrix, and gives the file its name. Not collective.
///
/// \throws FileError  the file can't be written; a file that was there is as it was
template <FileElement T>
void write_npy_local(const std::string& path, matrix_view<const T> matrix, const Progress& progress = {}) {
  write_npy_aside(path, matrix, progress).publish();
}

/// A .npy file by rows (C order) that the ranks write some rows at a time, so that no rank ever holds its part of the
/// matrix: any rows, in any order, each of them once. See `write_npy` for one that lies in memory.
template <FileElement T>
class NpyRows {
 public:
  /// Collective over `context`.
  ///
  /// \throws FileError  on every rank: the file can't be written, or there is no room for it
  NpyRows(mpi::Context& context, const std::string& path, layout::Shape shape);

  /// Whole rows, from row `first` of the matrix on. Local.
  ///
  /// \throws FileError  on this rank: let the others know (see mpi::agreed)
  void write(Index first, std::span<const T> rows) const;

  /// Gives the file its name once all of it lies on the disk. Collective.
  ///
  /// \throws FileError  on every rank
  void commit() { file_.commit(); }

 private:
  NpyRows(mpi::Context& context, const std::string& path, layout::Shape shape, const std::string& header);

  OutputFile file_;
  Index begin_;
  Index columns_;
};

/// Fills `rows` with whole rows of the matrix in a file by rows, from row `first` on. Local.
///
/// \param header  that of the file
/// \throws FileError      the file can't be read, or ends before
/// \throws ArgumentError  the header is not of T by rows
template <FileElement T>
void read_npy_rows(const std::string& path, const NpyHeader& header, Index first, std::span<T> rows);

}  // namespace plait::io
