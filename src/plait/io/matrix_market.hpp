#pragma once

#include <string>

#include "plait/io/matrix_market_entries.hpp"
#include "plait/io/matrix_market_header.hpp"
#include "plait/io/progress.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/context.hpp"

/// Matrix Market files, read into dense matrices.
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

}  // namespace plait::io
