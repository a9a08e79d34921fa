#include "cli/host/arrays.hpp"

#include "plait/halo/exchange.hpp"

namespace plait::cli {

namespace {

using layout::Box;
using layout::BoxPartition;

// From the order in which the first axis is contiguous.
void reorder(const Box& box, const double* by_columns, double* by_rows) {
  const Index n0 = box.extent(0), n1 = box.extent(1), n2 = box.extent(2);
  for (Index i = 0; i < n0; ++i) {
    for (Index j = 0; j < n1; ++j) {
      for (Index x = 0; x < n2; ++x) by_rows[(i * n1 + j) * n2 + x] = by_columns[i + n0 * (j + n1 * x)];
    }
  }
}

}  // namespace

BoxPartition slices_of(const Box& whole, int dimensions, StorageOrder order, int ranks) {
  BoxPartition::Parts parts{1, 1, 1};
  parts[order == StorageOrder::row_major ? static_cast<std::size_t>(layout::axes - dimensions) : 2] = ranks;
  return {whole, parts, ranks};
}

std::vector<double> read_box(Work& work, const InputFile& file, const BoxPartition& partition) {
  mpi::Context& context = work.context;
  auto slab = work.read_as<double>(file);
  const BoxPartition slices = slices_of(partition.whole(), file.extents.dimensions, file.order, context.size());
  const Box own = slices.box(context.rank());
  const std::span<const double> values(slab.tiles()[0].data(), static_cast<std::size_t>(own.points()));
  if (file.order == StorageOrder::row_major) return halo::moved(context, slices, values, partition);
  std::vector<double> reordered = mpi::agreed(context, [&] { return std::vector<double>(values.size()); });
  reorder(own, values.data(), reordered.data());
  return halo::moved(context, slices, reordered, partition);
}

std::vector<double> read_whole(Work& work, const InputFile& file) {
  mpi::Context& context = work.context;
  const Box whole = Box::of(file.extents.list());
  const BoxPartition slices = slices_of(whole, file.extents.dimensions, StorageOrder::row_major, context.size());
  const std::vector<double> own = read_box(work, file, slices);
  auto all = mpi::agreed(context, [&] { return std::vector<double>(static_cast<std::size_t>(whole.points())); });
  for (int rank = 0; rank < context.size(); ++rank) {
    const Box box = slices.box(rank);
    const auto part = std::span(all).subspan(box.is_empty() ? 0 : static_cast<std::size_t>(whole.offset_of(box.low)),
                                             static_cast<std::size_t>(box.points()));
    if (rank == context.rank()) std::ranges::copy(own, part.begin());
    if (!part.empty()) mpi::broadcast(context.comm(), part, rank);
  }
  return all;
}

void write_box(Work& work, const std::string& path, const io::ImageGrid& grid, const std::string& name,
               const BoxPartition& partition, std::span<const double> values) {
  mpi::Context& context = work.context;
  constexpr StorageOrder by_rows = StorageOrder::row_major;
  const auto layout = io::slab_layout(grid.extents.as_matrix(by_rows), by_rows, context.size());
  auto slab = work.allocated<double>(layout, path);
  const BoxPartition slices = slices_of(partition.whole(), grid.extents.dimensions, by_rows, context.size());
  halo::Exchange move(context, {.from = partition, .to = slices}, Index{sizeof(double)}, 1, "array");
  move(std::array{halo::Field{values.data(), slab.tiles()[0].data()}});
  work.write(path, layout, Index{sizeof(double)}, [&](const io::Progress& progress) {
    if (io::is_vti_name(path)) {
      io::write_vti(context, path, slab, grid, name, progress);
    } else {
      io::write_matrix_file(context, path, grid.extents, slab, progress);
    }
  });
}

}  // namespace plait::cli
