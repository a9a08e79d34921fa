#include "cli/scaling/marginal_batch.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/layout/axis.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/scaling/matrix_rows.hpp"

namespace plait::cli {

namespace {

MarginalFiles::Side looked_at(mpi::Context& context, const char* option, const std::string& path, Index rows,
                              const char* what) {
  MarginalFiles::Side side{path, {}, {}};
  if (path.empty()) return side;
  side.shape = io::read_npy_columns_header(context, path).shape;
  const bool is_vector = side.shape.rows == 1 || side.shape.columns == 1;
  if (side.shape.rows == rows && side.shape.columns > 1) {
    side.all = io::describe_matrix_file(context, path);
    mpi::agreed(context, [&] { expect_real(path, *side.all); });
    return side;
  }
  mpi::agreed(context, [&] {
    if (is_vector) return;
    throw ArgumentError(
        fmt::format("{}: {} is {}, expected a vector of {} elements, or a matrix of {} rows with a column "
                    "for each problem, as there are {} {}",
                    option, path, layout::to_string(side.shape), rows, rows, rows, what));
  });
  return side;
}

Index problems_in(const MarginalFiles::Side& side) { return side.all ? side.shape.columns : 1; }

/// The columns of a matrix of which this rank has some rows, or all.
std::vector<std::vector<double>> columns_in(const double* rows, Index count, Index columns) {
  std::vector<std::vector<double>> all(static_cast<std::size_t>(columns));
  for (Index k = 0; k < columns; ++k) {
    for (Index i = 0; i < count; ++i) all[static_cast<std::size_t>(k)].push_back(rows[i * columns + k]);
  }
  return all;
}

std::vector<std::vector<double>> read_own(mpi::Context& context, const MarginalFiles::Side& side, Index rows) {
  if (side.path.empty()) return {};
  if (side.all) {
    const auto own = read_rows<double>(context, side.path, *side.all, {});
    const auto& tile = own.const_tiles()[0];
    return mpi::agreed(context, [&] { return columns_in(tile.data(), tile.rows(), side.shape.columns); });
  }
  const auto all = io::read_npy_vector(context, side.path);
  const auto axis = layout::Axis::even(rows, context.size());
  const Index count = axis.local_extent(context.rank());
  const auto first = all.begin() + (count == 0 ? Index{0} : axis.global_of(context.rank(), 0));
  return {std::vector<double>(first, first + count)};
}

std::vector<std::vector<double>> read_all(mpi::Context& context, const MarginalFiles::Side& side, Index rows) {
  if (side.path.empty()) return {};
  if (!side.all) return {io::read_npy_vector(context, side.path)};
  const auto all = read_all_rows<double>(context, side.path, *side.all, {});
  return mpi::agreed(context, [&] { return columns_in(all.data(), rows, side.shape.columns); });
}

void expect_length(const char* option, const MarginalFiles::Side& side, Index expected, const char* what) {
  if (side.path.empty() || side.all || layout::elements(side.shape) == expected) return;
  throw ArgumentError(fmt::format("{}: {} has {} elements, expected {}, as many as there are {}", option, side.path,
                                  layout::elements(side.shape), expected, what));
}

}  // namespace

MarginalFiles::MarginalFiles(mpi::Context& context, const ScaledOptions& options, layout::Shape matrix)
    : rows_(looked_at(context, "--rows", options.rows, matrix.rows, "rows")),
      columns_(looked_at(context, "--columns", options.columns, matrix.columns, "columns")),
      problems_(std::max(problems_in(rows_), problems_in(columns_))) {
  mpi::agreed(context, [&] {
    const Index of_rows = problems_in(rows_);
    const Index of_columns = problems_in(columns_);
    if (of_rows == of_columns || of_rows == 1 || of_columns == 1) return;
    throw ArgumentError(
        fmt::format("--rows: {} has {} columns, a problem each, but {} of --columns has {}, expected as many",
                    options.rows, of_rows, options.columns, of_columns));
  });
}

MarginalBatch::MarginalBatch(mpi::Context& context, const MarginalFiles& files, layout::Shape matrix,
                             bool is_transposed)
    : problems_(files.problems()) {
  mpi::agreed(context, [&] {
    expect_length("--rows", files.rows(), matrix.rows, "rows");
    expect_length("--columns", files.columns(), matrix.columns, "columns");
  });
  if (is_transposed) names_ = sinkhorn::AxisNames::of_transpose();
  own_ =
      is_transposed ? read_own(context, files.columns(), matrix.columns) : read_own(context, files.rows(), matrix.rows);
  columns_ =
      is_transposed ? read_all(context, files.rows(), matrix.rows) : read_all(context, files.columns(), matrix.columns);
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
