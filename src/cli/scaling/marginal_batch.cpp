#include "cli/scaling/marginal_batch.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/npy.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/scaling/matrix_rows.hpp"

namespace plait::cli {

namespace {

/// A file's columns: several, if it is a matrix of so many rows; 1 of a vector.
Index columns_of(mpi::Context& context, const char* option, const std::string& path, Index rows, const char* what) {
  if (path.empty()) return 1;
  const layout::Shape shape = io::read_npy_columns_header(context, path).shape;
  const bool is_vector = shape.rows == 1 || shape.columns == 1;
  if (shape.rows == rows && shape.columns > 1) return shape.columns;
  mpi::agreed(context, [&] {
    if (is_vector) return;
    throw ArgumentError(
        fmt::format("{}: {} is {}, expected a vector of {} elements, or a matrix of {} rows with a column "
                    "for each problem, as there are {} {}",
                    option, path, layout::to_string(shape), rows, rows, rows, what));
  });
  return 1;
}

/// The columns of a matrix of which this rank has some rows, or all.
std::vector<std::vector<double>> columns_in(const double* rows, Index count, Index columns) {
  std::vector<std::vector<double>> all(static_cast<std::size_t>(columns));
  for (Index k = 0; k < columns; ++k) {
    for (Index i = 0; i < count; ++i) all[static_cast<std::size_t>(k)].push_back(rows[i * columns + k]);
  }
  return all;
}

std::vector<std::vector<double>> read_own(mpi::Context& context, const std::string& path, Index rows, Index columns) {
  if (path.empty()) return {};
  if (columns > 1) {
    const auto own = read_rows<double>(context, path, io::describe_matrix_file(context, path), {});
    const auto& tile = own.const_tiles()[0];
    return mpi::agreed(context, [&] { return columns_in(tile.data(), tile.rows(), columns); });
  }
  const auto all = io::read_npy_vector(context, path);
  const auto axis = layout::Axis::even(rows, context.size());
  const Index count = axis.local_extent(context.rank());
  const auto first = all.begin() + (count == 0 ? Index{0} : axis.global_of(context.rank(), 0));
  return {std::vector<double>(first, first + count)};
}

std::vector<std::vector<double>> read_all(mpi::Context& context, const std::string& path, Index rows, Index columns) {
  if (path.empty()) return {};
  if (columns == 1) return {io::read_npy_vector(context, path)};
  const auto all = read_all_rows<double>(context, path, io::describe_matrix_file(context, path), {});
  return mpi::agreed(context, [&] { return columns_in(all.data(), rows, columns); });
}

void expect_length(mpi::Context& context, const char* option, const std::string& path, Index expected,
                   const char* what) {
  if (path.empty()) return;
  const layout::Shape shape = io::read_npy_columns_header(context, path).shape;
  mpi::agreed(context, [&] {
    const Index length = shape.rows == expected ? expected : layout::elements(shape);
    if (length == expected) return;
    throw ArgumentError(fmt::format("{}: {} has {} elements, expected {}, as many as there are {}", option, path,
                                    length, expected, what));
  });
}

}  // namespace

Index problems_of(mpi::Context& context, const ScaledOptions& options, layout::Shape matrix) {
  const Index of_rows = columns_of(context, "--rows", options.rows, matrix.rows, "rows");
  const Index of_columns = columns_of(context, "--cols", options.columns, matrix.columns, "columns");
  mpi::agreed(context, [&] {
    if (of_rows == of_columns || of_rows == 1 || of_columns == 1) return;
    throw ArgumentError(
        fmt::format("--rows: {} has {} columns, a problem each, but {} of --cols has {}, expected as many",
                    options.rows, of_rows, options.columns, of_columns));
  });
  return std::max(of_rows, of_columns);
}

MarginalBatch::MarginalBatch(mpi::Context& context, const ScaledOptions& options, Index problems, layout::Shape matrix,
                             bool is_transposed)
    : problems_(problems) {
  expect_length(context, "--rows", options.rows, matrix.rows, "rows");
  expect_length(context, "--cols", options.columns, matrix.columns, "columns");
  const std::string& of_rows = is_transposed ? options.columns : options.rows;
  const std::string& of_columns = is_transposed ? options.rows : options.columns;
  const layout::Shape scaled = is_transposed ? layout::Shape{matrix.columns, matrix.rows} : matrix;
  if (is_transposed) names_ = sinkhorn::AxisNames::of_transpose();
  own_ = read_own(context, of_rows, scaled.rows, columns_of(context, "--rows", of_rows, scaled.rows, "rows"));
  columns_ = read_all(context, of_columns, scaled.columns,
                      columns_of(context, "--cols", of_columns, scaled.columns, "columns"));
}

std::vector<sinkhorn::Marginals> MarginalBatch::marginals() const {
  const auto of = [](const std::vector<std::vector<double>>& side, Index k) -> std::span<const double> {
    if (side.empty()) return {};
    return side[side.size() == 1 ? 0 : static_cast<std::size_t>(k)];
  };
  std::vector<sinkhorn::Marginals> all;
  all.reserve(static_cast<std::size_t>(problems_));
  for (Index k = 0; k < problems_; ++k) all.push_back({of(own_, k), of(columns_, k), names_});
  return all;
}

}  // namespace plait::cli
