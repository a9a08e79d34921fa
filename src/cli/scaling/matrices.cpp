#include "cli/scaling/matrices.hpp"

#include <numeric>
#include <variant>

#include "plait/io/matrix_market/matrix_market.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/layout/axis.hpp"

namespace plait::cli {

namespace {

/// A header may say anything.
Index within(Index announced) { return std::min(announced, Index{1} << 50); }

template <class T, class From>
layout::SparseRows<T> converted_rows(layout::SparseRows<From> rows, LostEntries& lost) {
  if constexpr (std::is_same_v<T, From>) {
    return rows;
  } else {
    layout::SparseRows<T> result{rows.shape, rows.first_row, std::move(rows.starts), std::move(rows.columns), {}};
    result.values.reserve(rows.values.size());
    for (Index i = 0; i < result.rows(); ++i) {
      for (const auto column : result.columns_of(i)) {
        const auto value = static_cast<double>(rows.values[result.values.size()]);
        result.values.push_back(stored<T>(value, result.first_row + i, Index{column}, lost));
      }
    }
    return result;
  }
}

template <class T>
void write_dense(mpi::Context& context, const std::string& path, const layout::SparseRows<T>& rows) {
  constexpr Index block_bytes = Index{4} << 20;
  const Index columns = rows.shape.columns;
  const Index block_rows = std::max(Index{1}, block_bytes / std::max(Index{1}, columns * Index{sizeof(T)}));
  io::NpyRows<T> file(context, path, rows.shape);
  mpi::agreed(context, [&] {
    std::vector<T> block;
    for (Index first = 0; first < rows.rows(); first += block_rows) {
      const Index count = std::min(block_rows, rows.rows() - first);
      block.assign(static_cast<std::size_t>(count * columns), T{0});
      for (Index i = 0; i < count; ++i) {
        const auto at = rows.columns_of(first + i);
        const auto values = rows.values_of(first + i);
        for (std::size_t k = 0; k < at.size(); ++k) block[static_cast<std::size_t>(i * columns) + at[k]] = values[k];
      }
      file.write(rows.first_row + first, block);
    }
  });
  file.commit();
}

}  // namespace

std::string describe(const LostEntries& lost) {
  return fmt::format(
      "{} of {} became 0 when stored in {}, the first {} in row {}, column {}; --precision f64 keeps them",
      lost.count == 1 ? "1 entry" : fmt::format("{} entries", lost.count), lost.path, lost.type, lost.value, lost.row,
      lost.column);
}

LostEntries of_all_ranks(mpi::Context& context, LostEntries own) {
  const auto counts = mpi::all_gather(context.comm(), own.count);
  const auto first = std::ranges::find_if(counts, [](Index count) { return count > 0; });
  own.count = 0;
  for (const Index count : counts) own.count += count;
  if (first == counts.end()) return own;
  std::array<Index, 2> place{own.row, own.column};
  const int root = static_cast<int>(first - counts.begin());
  mpi::broadcast(context.comm(), std::span<Index>(place), root);
  mpi::broadcast(context.comm(), std::span<double>(&own.value, 1), root);
  own.row = place[0];
  own.column = place[1];
  return own;
}

std::vector<double> read_shares(Work& work, const InputFile& image) {
  auto masses = read_all_rows<double>(work, image);
  const double sum = std::accumulate(masses.begin(), masses.end(), 0.0);
  if (!(sum > 0) || !std::isfinite(sum)) return masses;  // which is told where masses are checked
  for (double& mass : masses) mass /= sum;
  return masses;
}

std::vector<std::vector<double>> columns_in(const double* rows, Index count, Index columns) {
  std::vector<std::vector<double>> all(at(columns));
  for (Index n = 0; n < count * columns; ++n) all[at(n % columns)].push_back(rows[n]);
  return all;
}

OwnElements own_elements(const mpi::Context& context, const io::Extents& extents) {
  const auto layout =
      io::slab_layout(extents.as_matrix(StorageOrder::row_major), StorageOrder::row_major, context.size());
  return {io::elements_before(layout, context.rank()),
          layout.rows().local_extent(context.rank()) * layout.columns().extent()};
}

const io::MatrixMarketHeader* sparse_header(const io::MatrixFile& file) {
  const auto* header = std::get_if<io::MatrixMarketHeader>(&file.header);
  const bool is_sparse = header != nullptr && header->format == io::MatrixMarketFormat::coordinate;
  return is_sparse && !io::is_complex(file.dtype) ? header : nullptr;
}

Index text_bytes(const io::MatrixMarketHeader& header) { return within(header.entries) * 20; }

Index sparse_bytes(const io::MatrixMarketHeader& header, int ranks) {
  const bool is_mirrored = header.symmetry != io::MatrixMarketSymmetry::general;
  const Index entries = within(header.entries) * (is_mirrored ? 2 : 1) / ranks + 1;
  return entries * 44 + 6 * (within(header.shape.rows) + within(header.shape.columns)) * Index{sizeof(double)};
}

template <class T>
layout::SparseRows<T> read_sparse(mpi::Context& context, const std::string& path, const io::MatrixMarketHeader& header,
                                  const io::Progress& progress, LostEntries& lost) {
  lost.path = path;
  const auto read_as = [&]<class From>() {
    auto rows = io::read_matrix_market_rows<From>(context, path, header, progress);
    return mpi::agreed(context, [&] { return converted_rows<T>(std::move(rows), lost); });
  };
  auto rows =
      header.dtype() == io::DType::i64 ? read_as.template operator()<Index>() : read_as.template operator()<double>();
  lost = of_all_ranks(context, std::move(lost));
  return rows;
}

template <class T>
void write_sparse(mpi::Context& context, const std::string& path, const layout::SparseRows<T>& rows,
                  io::MatrixMarketSymmetry symmetry) {
  if (ends_like(path, ".mtx")) return io::write_matrix_market(context, path, rows, symmetry);
  if (!path.empty()) write_dense(context, path, rows);
}

#define PLAIT_INSTANTIATE(T)                                                                                   \
  template layout::SparseRows<T> read_sparse(mpi::Context&, const std::string&, const io::MatrixMarketHeader&, \
                                             const io::Progress&, LostEntries&);                               \
  template void write_sparse(mpi::Context&, const std::string&, const layout::SparseRows<T>&, io::MatrixMarketSymmetry)
PLAIT_INSTANTIATE(double);
PLAIT_INSTANTIATE(float);
#undef PLAIT_INSTANTIATE

}  // namespace plait::cli
