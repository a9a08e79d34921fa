#pragma once

#include <string>

#include "plait/io/file_kind.hpp"
#include "plait/io/matrix_market/matrix_market_header.hpp"
#include "plait/io/progress.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

#include "cli/job/memory_estimate.hpp"
#include "cli/output/meter.hpp"
#include "cli/scaling/narrowed_entries.hpp"

namespace plait::cli {

/// The header of a matrix that may stay sparse, which is one of real numbers in a Matrix Market file of the coordinate
/// format; else null.
[[nodiscard]] const io::MatrixMarketHeader* sparse_header(const io::MatrixFile& file);

/// About how long its entries are in the file.
[[nodiscard]] Index text_bytes(const io::MatrixMarketHeader& header);

/// What a job with such a matrix takes, each rank with its rows. Collective over `context`.
[[nodiscard]] MemoryEstimate memory_of_sparse(mpi::Context& context, const io::MatrixMarketHeader& header);

/// What rank 0 may take to decide whether one has support: half of what its node has available, once it is read.
/// Collective over `context`.
[[nodiscard]] Index most_support_bytes(mpi::Context& context);

/// Reads one, as double or float. Collective over `context`.
///
/// \throws FileError, OutOfMemory, ArgumentError  on all ranks: as read_matrix_market_rows; as narrowed_entry
template <class T>
[[nodiscard]] layout::SparseRows<T> read_sparse(mpi::Context& context, const std::string& path,
                                                const io::MatrixMarketHeader& header, const io::Progress& progress,
                                                NarrowedEntries& narrowed);

/// The same, and tells so.
///
/// \pre  sparse_header(file) is not null
template <class T>
[[nodiscard]] layout::SparseRows<T> read_sparse_and_tell(mpi::Context& context, const std::string& path,
                                                         const io::MatrixFile& file, Meter& meter,
                                                         NarrowedEntries& narrowed) {
  const io::MatrixMarketHeader& header = *sparse_header(file);
  meter.stage("reading " + path, text_bytes(header) / context.size(), text_bytes(header));
  return read_sparse<T>(context, path, header, meter.progress(), narrowed);
}

/// What an iteration reads of one, on all ranks: its entries and their columns. Collective over `context`.
template <class T>
[[nodiscard]] Index bytes_of_entries(mpi::Context& context, const layout::SparseRows<T>& rows) {
  const Index each = Index{sizeof(T)} + Index{sizeof(rows.columns[0])};
  return each * mpi::all_reduce(context.comm(), rows.entries(), mpi::Operation::sum());
}

/// Writes one: as a Matrix Market file with this symmetry, if the name says so, else as a dense .npy file, a few rows
/// at a time. Nothing without a name. Collective over `context`.
template <class T>
void write_sparse(mpi::Context& context, const std::string& path, const layout::SparseRows<T>& rows,
                  io::MatrixMarketSymmetry symmetry);

}  // namespace plait::cli
