#pragma once

#include <string>

#include "plait/io/matrix_market/matrix_market_entries.hpp"
#include "plait/io/matrix_market/matrix_market_header.hpp"
#include "plait/io/progress.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"

/// Matrix Market files, read into dense and sparse matrices; sparse ones are written, too.
namespace plait::io {

/// The header of a file that this process alone reads.
///
/// \throws FileError  see read_matrix_market_header
[[nodiscard]] MatrixMarketHeader read_matrix_market_header_local(const std::string& path);

/// The header, read by rank 0. Collective over `context`.
///
/// \throws FileError  on every rank: the file can't be read, or its header is malformed ("PATH:LINE: ...")
[[nodiscard]] MatrixMarketHeader read_matrix_market_header(mpi::Context& context, const std::string& path);

/// The matrix in the file as `slab_layout(header.shape, column_major, context.size())`. Elements that the file does not
/// name are 0, entries for the same element are added up, and what the symmetry implies is filled in. Collective over
/// `context`; the ranks give the same header.
///
/// Every rank parses its share of the lines, and the elements go to the ranks that hold them, 32 MiB a rank at a time.
///
/// \pre  dtype_of<T>() == header.dtype()
/// \throws FileError      on every rank: the file can't be read, has too few or too many entries, or one is malformed
///                        ("PATH:LINE: ...")
/// \throws ArgumentError  on every rank: T is not the header's type
/// \throws OutOfMemory    on every rank, naming the number of bytes
template <MatrixMarketElement T>
[[nodiscard]] layout::DistributedMatrix<T> read_matrix_market(mpi::Context& context, const std::string& path,
                                                              const MatrixMarketHeader& header,
                                                              const Progress& progress = {});

/// The matrix in a file of the coordinate format, sparse: each rank has as many rows as by
/// `slab_layout(header.shape, row_major, context.size())`. Entries for the same element are added up, and what the
/// symmetry implies is there. Memory: that of the entries, 12 or 16 bytes each, three times while they are read.
/// Collective over `context`.
///
/// T: double, or Index for the field `integer`.
///
/// \throws FileError, OutOfMemory  on every rank: as read_matrix_market
/// \throws ArgumentError           on every rank: T is not the header's type, the file is an array, or there are more
///                                 than `layout::most_sparse_columns` columns
template <class T>
[[nodiscard]] layout::SparseRows<T> read_matrix_market_rows(mpi::Context& context, const std::string& path,
                                                            const MatrixMarketHeader& header,
                                                            const Progress& progress = {});

/// Writes a sparse matrix in the coordinate format, real, row by row, with as many digits as tell each number from its
/// neighbours; of a symmetric one the lower triangle. Every rank writes its rows, at once with the others and some MiB
/// at a time. Collective over `context`.
///
/// \param symmetry  general or symmetric
/// \throws FileError      on every rank: the file can't be written; a file that was there is as it was
/// \throws ArgumentError  on every rank: another symmetry, or a symmetric matrix that is not square
template <class T>
void write_matrix_market(mpi::Context& context, const std::string& path, const layout::SparseRows<T>& matrix,
                         MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general);

}  // namespace plait::io
