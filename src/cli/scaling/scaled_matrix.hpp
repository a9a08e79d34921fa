#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/io/file_kind.hpp"
#include "plait/io/progress.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/sinkhorn/marginals/axis_names.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

#include "cli/options/named_file.hpp"
#include "cli/scaling/narrowed_entries.hpp"
#include "cli/scaling/scaled_options.hpp"

namespace plait::cli {

/// The matrix of a job as the ranks hold it: each its share of the rows of the file or, where the file is in Fortran
/// order, of its columns. Then what is scaled is the transpose, whose rows these are.
template <class T>
class ScaledMatrix {
 public:
  explicit ScaledMatrix(layout::DistributedMatrix<T> slab, NarrowedEntries narrowed = {})
      : slab_(std::move(slab)), narrowed_(narrowed) {}

  [[nodiscard]] bool is_transposed() const { return slab_.layout().storage() == StorageOrder::column_major; }
  /// What is scaled: row-major.
  [[nodiscard]] matrix_view<T> rows() {
    const auto& tile = slab_.tiles()[0];
    return is_transposed() ? tile.transposed() : tile;
  }
  [[nodiscard]] layout::DistributedMatrix<T>& slab() { return slab_; }
  /// What messages call rows and columns.
  [[nodiscard]] sinkhorn::AxisNames names() const {
    return is_transposed() ? sinkhorn::AxisNames::of_transpose() : sinkhorn::AxisNames();
  }
  /// The same on all ranks.
  [[nodiscard]] const NarrowedEntries& narrowed() const noexcept { return narrowed_; }

 private:
  layout::DistributedMatrix<T> slab_;
  NarrowedEntries narrowed_;
};

/// \throws ArgumentError  the elements are complex
void expect_real(const std::string& path, const io::MatrixFile& file);
[[noreturn]] void fail_complex(const std::string& path, const io::MatrixFile& file);

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

/// The same of entries that have to be told from 0, and be numbers, in the narrower type.
///
/// \throws ArgumentError  on all ranks: as narrowed_entry
template <class T, class From>
[[nodiscard]] ScaledMatrix<T> narrowed(mpi::Context& context, const std::string& path,
                                       const layout::DistributedMatrix<From>& from) {
  NarrowedEntries seen;
  auto to = mpi::agreed(context, [&] {
    auto slab = io::make_slab<T>(path, from.layout(), context.rank());
    const auto& source = from.tiles()[0];
    const auto& target = slab.tiles()[0];
    const bool is_by_rows = from.layout().storage() == StorageOrder::row_major;
    const Index first = io::elements_before(from.layout(), context.rank()) / std::max(Index{1}, source.minor_extent());
    for (Index i = 0; i < source.major_extent(); ++i) {
      for (Index j = 0; j < source.minor_extent(); ++j) {
        target.data()[i * target.leading_dimension() + j] =
            narrowed_entry<T>(simd::widened<double>(source.data()[i * source.leading_dimension() + j]),
                              is_by_rows ? first + i : j, is_by_rows ? j : first + i, path, seen);
      }
    }
    return slab;
  });
  const NarrowedEntries all = of_all_ranks(context, seen);
  return ScaledMatrix<T>(std::move(to), all);
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
        if constexpr (sizeof(T) < sizeof(double)) {
          return narrowed<T>(context, path, slab);
        } else {
          return ScaledMatrix<T>(converted<T>(context, path, slab));
        }
      }
    } else {
      fail_complex(path, file);
    }
  });
}

/// Marginals of rows and columns of the file, as the matrix that is scaled has them.
class ScaledMarginals {
 public:
  /// Of scaling: where nothing is given the rows of the matrix in the file are to sum up to 1 each. Collective over
  /// `context`.
  ///
  /// \param file      the shape of that matrix
  /// \param own_rows  of what is scaled
  /// \throws ArgumentError  on every rank: lengths that are not those of the matrix in the file
  [[nodiscard]] static ScaledMarginals of_scaling(mpi::Context& context, const ScaledOptions& options,
                                                  layout::Shape file, bool is_transposed, Index own_rows);
  /// Of transport: where nothing is given masses are uniform, and 1 in all; but not what `of_all_rows` tells.
  /// Collective over `context`; as `of_scaling`.
  [[nodiscard]] static ScaledMarginals of_transport(mpi::Context& context, const ScaledOptions& options,
                                                    layout::Shape file, bool is_transposed, Index own_rows);

  [[nodiscard]] sinkhorn::Marginals marginals() const { return {own_, columns_, names_}; }
  /// Of all rows, too.
  [[nodiscard]] sinkhorn::Marginals of_all_rows() const { return {rows_, columns_, names_}; }

 private:
  ScaledMarginals(mpi::Context& context, const ScaledOptions& options, layout::Shape file, bool is_transposed,
                  Index own_rows);

  std::vector<double> rows_;     // of all rows
  std::vector<double> own_;      // of this rank's rows
  std::vector<double> columns_;  // of all columns
  sinkhorn::AxisNames names_;
};

/// Writes one of a plan's vectors: `own` of this rank's rows as n × 1, or what all ranks have of the columns as 1 × n;
/// if the matrix is scaled as its transpose, the other way round. Collective over `context`.
void write_row_vector(mpi::Context& context, const std::string& path, std::span<const double> own, bool is_transposed);
void write_column_vector(mpi::Context& context, const std::string& path, std::span<const double> all,
                         bool is_transposed);

/// Writes both vectors of a plan where the options say. Collective over `context`.
///
/// \param rows     of this rank's rows of what is scaled
/// \param columns  of all its columns
template <class A>
void write_vectors(mpi::Context& context, const ScaledOptions& options, const std::vector<A>& rows,
                   const std::vector<A>& columns, bool is_transposed) {
  const std::vector<double> of_rows(rows.begin(), rows.end());
  const std::vector<double> of_columns(columns.begin(), columns.end());
  write_row_vector(context, is_transposed ? options.of_columns : options.of_rows, of_rows, is_transposed);
  write_column_vector(context, is_transposed ? options.of_rows : options.of_columns, of_columns, is_transposed);
}

/// What would stop the output from being written is looked for before hours have passed. Collective over `context`.
///
/// \param kept          what is read beside the files of `options`, and replaced by none
/// \param also_written  what is written beside them
void expect_writable_outputs(mpi::Context& context, const ScaledOptions& options, std::vector<NamedFile> kept = {},
                             const std::vector<NamedFile>& also_written = {});

}  // namespace plait::cli
