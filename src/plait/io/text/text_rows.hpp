#pragma once

#include <string>

#include "plait/base/index.hpp"
#include "plait/io/progress.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/context.hpp"

/// Text files that hold a matrix of doubles, a row in each line.
namespace plait::io {

enum class TextFormat : unsigned char {
  /// Numbers with commas between them; or semicolons, tabs or blanks, whichever of these comes first in the first line.
  /// A first line without a number has the names of columns.
  csv,
  /// LIBSVM's: a label, then the elements that are not 0, as COLUMN:VALUE with ascending columns. These are counted
  /// from 1 or, if there is a 0 in the file, from 0.
  svm,
  svm_labels,  ///< the labels of these, as a matrix of one column
};

/// What a text file holds, and where this rank's rows are. Empty lines and those that begin with # are no rows.
struct TextRows {
  TextFormat format = TextFormat::csv;
  layout::Shape shape;
  char separator = ',';
  bool has_names = false;  ///< in a line before the rows
  Index base = 1;          ///< what the first column is called in LIBSVM's format
  Index begin = 0;         ///< in bytes, of the first of this rank's rows, which are those of `slab_layout`
  Index line = 1;          ///< of the file, likewise
};

/// Counts rows and columns: each rank those of its share. Collective over `context`.
///
/// \throws FileError  on every rank: the file can't be read, has no rows, or a line is longer than `longest_line`
[[nodiscard]] TextRows describe_text_rows(mpi::Context& context, const std::string& path, TextFormat format);

/// The matrix as `slab_layout(rows.shape, row_major, context.size())`; `rows.shape` may have more columns than LIBSVM's
/// file has. Each rank reads the lines of its rows. Collective over `context`.
///
/// \throws FileError    on every rank: the file can't be read, or a line is malformed ("PATH:LINE: ...")
/// \throws OutOfMemory  on every rank, naming the number of bytes
[[nodiscard]] layout::DistributedMatrix<double> read_text_rows(mpi::Context& context, const std::string& path,
                                                               const TextRows& rows, const Progress& progress = {});

}  // namespace plait::io
