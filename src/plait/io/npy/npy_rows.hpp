#pragma once

#include <span>
#include <string>

#include "plait/base/index.hpp"
#include "plait/io/dtype.hpp"
#include "plait/io/npy/npy_header.hpp"
#include "plait/io/output_file.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/context.hpp"

namespace plait::io {

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
