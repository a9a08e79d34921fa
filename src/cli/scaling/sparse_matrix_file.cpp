#include "cli/scaling/sparse_matrix_file.hpp"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "plait/io/matrix_market/matrix_market.hpp"
#include "plait/io/npy/npy_rows.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

#include "cli/job/node.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

namespace {

/// What the ranks hold in the place of rows of another type.
template <class T, class From>
layout::SparseRows<T> narrowed_rows(layout::SparseRows<From> rows, const std::string& path, NarrowedEntries& seen) {
  if constexpr (std::is_same_v<T, From>) {
    return rows;
  } else {
    layout::SparseRows<T> result{rows.shape, rows.first_row, std::move(rows.starts), std::move(rows.columns), {}};
    result.values.reserve(rows.values.size());
    for (Index i = 0; i < result.rows(); ++i) {
      const auto columns = result.columns_of(i);
      const auto begin = static_cast<std::size_t>(result.starts[static_cast<std::size_t>(i)]);
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const auto value = static_cast<double>(rows.values[begin + k]);
        if constexpr (sizeof(T) < sizeof(double)) {
          result.values.push_back(narrowed_entry<T>(value, result.first_row + i, Index{columns[k]}, path, seen));
        } else {
          result.values.push_back(value);
        }
      }
    }
    return result;
  }
}

template <class From, class T>
layout::SparseRows<T> read_as(mpi::Context& context, const std::string& path, const io::MatrixMarketHeader& header,
                              const io::Progress& progress, NarrowedEntries& narrowed) {
  auto rows = io::read_matrix_market_rows<From>(context, path, header, progress);
  NarrowedEntries seen;
  auto result = mpi::agreed(context, [&] { return narrowed_rows<T>(std::move(rows), path, seen); });
  narrowed = of_all_ranks(context, seen);
  return result;
}

template <class T>
void write_dense(mpi::Context& context, const std::string& path, const layout::SparseRows<T>& plan) {
  constexpr Index block_bytes = Index{4} << 20;
  const Index columns = plan.shape.columns;
  const Index block_rows = std::max(Index{1}, block_bytes / std::max(Index{1}, columns * Index{sizeof(T)}));
  io::NpyRows<T> file(context, path, plan.shape);
  mpi::agreed(context, [&] {
    std::vector<T> block;
    for (Index first = 0; first < plan.rows(); first += block_rows) {
      const Index count = std::min(block_rows, plan.rows() - first);
      block.assign(static_cast<std::size_t>(count * columns), T{0});
      for (Index i = 0; i < count; ++i) {
        const auto at = plan.columns_of(first + i);
        const auto values = plan.values_of(first + i);
        for (std::size_t k = 0; k < at.size(); ++k) {
          block[static_cast<std::size_t>(i * columns) + at[k]] = values[k];
        }
      }
      file.write(plan.first_row + first, block);
    }
  });
  file.commit();
}

/// A header may say anything.
Index within(Index announced) { return std::min(announced, Index{1} << 50); }

}  // namespace

const io::MatrixMarketHeader* sparse_header(const io::MatrixFile& file) {
  const auto* header = std::get_if<io::MatrixMarketHeader>(&file.header);
  const bool is_sparse = header != nullptr && header->format == io::MatrixMarketFormat::coordinate;
  return is_sparse && !io::is_complex(file.dtype) ? header : nullptr;
}

Index text_bytes(const io::MatrixMarketHeader& header) { return within(header.entries) * 20; }

MemoryEstimate memory_of_sparse(mpi::Context& context, const io::MatrixMarketHeader& header) {
  const bool is_mirrored = header.symmetry != io::MatrixMarketSymmetry::general;
  const Index entries = within(header.entries) * (is_mirrored ? 2 : 1) / context.size() + 1;
  const Index vectors = 6 * (within(header.shape.rows) + within(header.shape.columns)) * Index{sizeof(double)};
  return estimate_memory(context, {entries * 44 + vectors});
}

Index most_support_bytes(mpi::Context& context) {
  Index bytes = node_memory().available / 2;
  mpi::broadcast(context.comm(), std::span<Index>(&bytes, 1), 0);
  return std::max(bytes, Index{0});
}

template <class T>
layout::SparseRows<T> read_sparse(mpi::Context& context, const std::string& path, const io::MatrixMarketHeader& header,
                                  const io::Progress& progress, NarrowedEntries& narrowed) {
  return header.dtype() == io::DType::i64 ? read_as<Index, T>(context, path, header, progress, narrowed)
                                          : read_as<double, T>(context, path, header, progress, narrowed);
}

template <class T>
void write_sparse(mpi::Context& context, const std::string& path, const layout::SparseRows<T>& rows,
                  io::MatrixMarketSymmetry symmetry) {
  if (path.empty()) return;
  if (ends_like(path, ".mtx")) {
    io::write_matrix_market(context, path, rows, symmetry);
  } else {
    write_dense(context, path, rows);
  }
}

#define PLAIT_INSTANTIATE(T)                                                                                   \
  template layout::SparseRows<T> read_sparse(mpi::Context&, const std::string&, const io::MatrixMarketHeader&, \
                                             const io::Progress&, NarrowedEntries&);                           \
  template void write_sparse(mpi::Context&, const std::string&, const layout::SparseRows<T>&, io::MatrixMarketSymmetry)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::cli
