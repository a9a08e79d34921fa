#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/io/file_kind.hpp"
#include "plait/io/npy.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/sinkhorn/marginals.hpp"

#include "cli/meter.hpp"
#include "cli/named_file.hpp"
#include "cli/scaled_options.hpp"

namespace plait::cli {

/// The matrix of a job as the ranks hold it: each its share of the rows of the file or, where the file is in Fortran
/// order, of its columns. Then what is scaled is the transpose, whose rows these are.
template <class T>
class ScaledMatrix {
 public:
  explicit ScaledMatrix(layout::DistributedMatrix<T> slab) : slab_(std::move(slab)) {}

  [[nodiscard]] bool is_transposed() const { return slab_.layout().storage() == StorageOrder::column_major; }
  /// What is scaled: row-major.
  [[nodiscard]] matrix_view<T> rows() {
    const auto& tile = slab_.tiles()[0];
    return is_transposed() ? tile.transposed() : tile;
  }
  [[nodiscard]] layout::DistributedMatrix<T>& slab() { return slab_; }

 private:
  layout::DistributedMatrix<T> slab_;
};

template <class T, class From>
[[nodiscard]] layout::DistributedMatrix<T> converted(mpi::Context& context, const std::string& path,
                                                     const layout::DistributedMatrix<From>& from) {
  auto to = mpi::agreed(context, [&] { return io::make_slab<T>(path, from.layout(), context.rank()); });
  const auto& source = from.tiles()[0];
  const auto& target = to.tiles()[0];
  for (Index i = 0; i < source.major_extent(); ++i) {
    for (Index j = 0; j < source.minor_extent(); ++j) {
      target.data()[i * target.leading_dimension() + j] =
          simd::narrowed<T>(simd::widened<double>(source.data()[i * source.leading_dimension() + j]));
    }
  }
  return to;
}

/// Reads a matrix of any real type. Collective over `context`.
template <class T>
[[nodiscard]] ScaledMatrix<T> read_scaled(mpi::Context& context, const std::string& path, const io::MatrixFile& file,
                                          const io::Progress& progress) {
  return io::with_dtype(file.dtype, [&]<class From>() -> ScaledMatrix<T> {
    if constexpr (std::is_arithmetic_v<From>) {
      auto slab = io::read_matrix_file<From>(context, path, file, progress);
      if constexpr (std::is_same_v<From, T>) {
        return ScaledMatrix<T>(std::move(slab));
      } else {
        return ScaledMatrix<T>(converted<T>(context, path, slab));
      }
    } else {
      throw ArgumentError(fmt::format("{} has elements of {}, expected real ones", path, io::name(file.dtype)));
    }
  });
}

/// Marginals of rows and columns of the file, as the matrix that is scaled has them.
class ScaledMarginals {
 public:
  /// \param own_rows  of what is scaled
  /// \throws ArgumentError  on every rank: lengths that are not those of the matrix in the file
  ScaledMarginals(mpi::Context& context, const ScaledOptions& options, layout::Shape shape, bool is_transposed,
                  Index own_rows);
  [[nodiscard]] sinkhorn::Marginals marginals() const { return {own_, columns_}; }
  /// Where nothing was given: the rows of the matrix in the file are to sum up to 1 each.
  void default_to_rows_of_one(layout::Shape file, bool is_transposed);
  /// Makes what was not given uniform, so that all sum up to 1.
  void default_to_unit_mass(layout::Shape scaled, Index own_rows);

 private:
  std::vector<double> own_;      // of this rank's rows
  std::vector<double> columns_;  // of all columns
};

/// Writes one of a plan's vectors: `own` of this rank's rows as n × 1, or what all ranks have of the columns as 1 × n;
/// if the matrix is scaled as its transpose, the other way round. Collective over `context`.
void write_row_vector(mpi::Context& context, const std::string& path, std::span<const double> own, bool is_transposed);
void write_column_vector(mpi::Context& context, const std::string& path, std::span<const double> all,
                         bool is_transposed);

/// What would stop the output from being written is looked for before hours have passed. Collective over `context`.
///
/// \param kept  files beside those of the options that a trace must not replace
void expect_writable_outputs(mpi::Context& context, const ScaledOptions& options, std::vector<NamedFile> kept = {});

}  // namespace plait::cli
