#pragma once

#include "plait/base/matrix_view.hpp"
#include "plait/collective/calls.hpp"
#include "plait/io/matrix_market/matrix_market_header.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/simd/row_block.hpp"

#include "cli/host/job.hpp"

/// Matrices in files, as jobs of scaling hold them: each rank has some rows, rank 0 the first ones.
namespace plait::cli {

/// Entries of a file that are not 0 there, but are in the type that they are stored in.
struct LostEntries {
  Index count = 0;
  Index row = 0;  // of the first
  Index column = 0;
  double value = 0;
  std::string path = {};
  std::string_view type = {};  // "f32"
};

/// "3 entries of K.npy became 0 when stored in f32, the first 1e-50 in row 1, ..."
[[nodiscard]] std::string describe(const LostEntries& lost);

/// Those of all ranks, and the first one of the first rank that has one. Collective over `context`.
[[nodiscard]] LostEntries of_all_ranks(mpi::Context& context, LostEntries own);

/// A number as it is stored.
///
/// \throws ArgumentError  it is beyond the range of T
template <class T>
[[nodiscard]] T stored(double value, Index row, Index column, LostEntries& lost) {
  const T kept = simd::narrowed<T>(value);
  if constexpr (sizeof(T) == sizeof(double)) return kept;
  const auto number = simd::widened<double>(kept);
  lost.type = sizeof(T) == 2 ? "bf16" : "f32";
  if (std::isinf(number) && std::isfinite(value)) {
    throw ArgumentError(
        fmt::format("{}: the entry in row {}, column {} is {}, beyond the range of {} that it was to be stored in; "
                    "expected --precision f64",
                    lost.path, row, column, value, lost.type));
  }
  if (number == 0 && value != 0 && lost.count++ == 0) {
    lost.row = row;
    lost.column = column;
    lost.value = value;
  }
  return kept;
}

/// Rows in another type. Collective over `context`.
///
/// \throws ArgumentError  on all ranks: as `stored`
template <class T, class From>
[[nodiscard]] layout::DistributedMatrix<T> converted(mpi::Context& context, layout::DistributedMatrix<From> from,
                                                     LostEntries& lost) {
  if constexpr (std::is_same_v<T, From>) {
    return from;
  } else {
    return mpi::agreed(context, [&] {
      auto to = io::make_slab<T>(lost.path, from.layout(), context.rank());
      const auto& source = from.tiles()[0];
      const auto& target = to.tiles()[0];
      const Index first = io::elements_before(from.layout(), context.rank()) / std::max(Index{1}, source.columns());
      for (Index i = 0; i < source.rows(); ++i) {
        for (Index j = 0; j < source.columns(); ++j) {
          target(i, j) = stored<T>(simd::widened<double>(source(i, j)), first + i, j, lost);
        }
      }
      return to;
    });
  }
}

/// The rows of a matrix of any real type, in whatever order the file has it; `lost` is filled in, alike on all ranks.
/// Collective.
template <class T>
[[nodiscard]] layout::DistributedMatrix<T> read_rows(Work& work, const InputFile& file, LostEntries& lost) {
  expect_real(file);
  lost.path = file.path;
  const auto layout = io::slab_layout(file.shape, StorageOrder::row_major, work.context.size());
  auto rows = io::with_dtype(file.dtype, [&]<class From>() -> layout::DistributedMatrix<T> {
    if constexpr (std::is_arithmetic_v<From>) {
      return converted<T>(work.context, work.read_matrix<From>(file, layout, file.path), lost);
    } else {
      return work.allocated<T>(layout, file.path);  // there is none such
    }
  });
  lost = of_all_ranks(work.context, std::move(lost));
  return rows;
}

/// All rows, on every rank, one after the other; entries that are lost are. Collective.
template <class T>
[[nodiscard]] std::vector<T> read_all_rows(Work& work, const InputFile& file) {
  LostEntries ignored;
  const auto own = read_rows<T>(work, file, ignored);
  const auto& tile = own.const_tiles()[0];
  const Index count = tile.rows() * tile.columns();
  const auto counts = mpi::all_gather(work.context.comm(), count);
  auto all = mpi::agreed(work.context, [&] { return std::vector<T>(at(layout::elements(file.shape))); });
  collective::all_gather(work.context, std::span<const T>(tile.data(), at(count)), std::span<T>(all), counts);
  return all;
}

/// The masses of an image, on every rank, as shares of their sum where there is one. Collective.
[[nodiscard]] std::vector<double> read_shares(Work& work, const InputFile& image);

/// The columns of a matrix of which this rank has some rows, or all.
[[nodiscard]] std::vector<std::vector<double>> columns_in(const double* rows, Index count, Index columns);

/// Writes rows in this order, as f32 where they are stored in fewer bits. Nothing without a name. Collective.
template <class T>
void write_rows(Work& work, const std::string& path, layout::DistributedMatrix<T> rows, StorageOrder order) {
  if (path.empty()) return;
  if constexpr (sizeof(T) < sizeof(float)) {
    LostEntries none;
    write_rows(work, path, converted<float>(work.context, std::move(rows), none), order);
  } else {
    work.write_matrix(path, std::move(rows), order);
  }
}

/// The elements of an array, of which each rank has some slices along the first axis, one after the other: how many
/// this rank has, and where they begin.
struct OwnElements {
  Index first = 0;
  Index count = 0;
};
[[nodiscard]] OwnElements own_elements(const mpi::Context& context, const io::Extents& extents);

/// The header of a matrix that may stay sparse, which is one of real numbers in a Matrix Market file of the coordinate
/// format; else null.
[[nodiscard]] const io::MatrixMarketHeader* sparse_header(const io::MatrixFile& file);

/// About how long its entries are in the file, and what a rank needs for them and some vectors.
[[nodiscard]] Index text_bytes(const io::MatrixMarketHeader& header);
[[nodiscard]] Index sparse_bytes(const io::MatrixMarketHeader& header, int ranks);

/// Collective over `context`.
///
/// \throws FileError, OutOfMemory, ArgumentError  on all ranks: as read_matrix_market_rows; as `stored`
template <class T>
[[nodiscard]] layout::SparseRows<T> read_sparse(mpi::Context& context, const std::string& path,
                                                const io::MatrixMarketHeader& header, const io::Progress& progress,
                                                LostEntries& lost);

/// Writes a Matrix Market file with this symmetry, if the name says so, else a dense .npy file, a few rows at a time.
/// Nothing without a name. Collective over `context`.
template <class T>
void write_sparse(mpi::Context& context, const std::string& path, const layout::SparseRows<T>& rows,
                  io::MatrixMarketSymmetry symmetry);

}  // namespace plait::cli
