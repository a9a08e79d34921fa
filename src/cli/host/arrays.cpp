#include "cli/host/arrays.hpp"

#include "plait/halo/exchange.hpp"

namespace plait::cli {

namespace {

using layout::Box;
using layout::BoxPartition;

void move(mpi::Context& context, const BoxPartition& from, const double* values, const BoxPartition& to,
          double* result) {
  halo::Exchange exchange(context, {.from = from, .to = to}, Index{sizeof(double)}, 1, "array");
  const halo::Field field{values, result};
  exchange(std::span(&field, 1));
}

std::vector<double> box_for(mpi::Context& context, const BoxPartition& partition) {
  return mpi::agreed(
      context, [&] { return std::vector<double>(static_cast<std::size_t>(partition.box(context.rank()).points())); });
}

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

std::vector<double> moved(mpi::Context& context, const BoxPartition& from, std::span<const double> values,
                          const BoxPartition& to) {
  std::vector<double> result = box_for(context, to);
  move(context, from, values.data(), to, result.data());
  return result;
}

std::vector<double> read_box(Work& work, const InputFile& file, const BoxPartition& partition) {
  mpi::Context& context = work.context;
  auto slab = work.read_as<double>(file);
  const double* values = slab.tiles()[0].data();
  const BoxPartition slices = slices_of(partition.whole(), file.extents.dimensions, file.order, context.size());
  std::vector<double> result = box_for(context, partition), reordered;
  if (file.order == StorageOrder::column_major) {
    reordered = box_for(context, slices);
    reorder(slices.box(context.rank()), values, reordered.data());
    values = reordered.data();
  }
  move(context, slices, values, partition, result.data());
  return result;
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
  move(context, partition, values.data(), slices, slab.tiles()[0].data());
  work.write(path, layout, Index{sizeof(double)}, [&](const io::Progress& progress) {
    if (io::is_vti_name(path)) {
      io::write_vti(context, path, slab, grid, name, progress);
    } else {
      io::write_matrix_file(context, path, grid.extents, slab, progress);
    }
  });
}

}  // namespace plait::cli
