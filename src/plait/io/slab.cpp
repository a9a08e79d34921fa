#include "plait/io/slab.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/io/byte_order.hpp"
#include "plait/io/extents.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::io {

namespace {

// Bytes to turn around right after they were read, while they are in the cache.
constexpr Index swapped_piece_bytes = Index{256} << 10;

void tell(const Progress& progress, Index bytes_done) {
  if (progress) progress(bytes_done);
}

void write_piecewise(const AsideFile& file, Index offset, std::span<const std::byte> bytes, const Progress& progress) {
  const auto size = static_cast<Index>(bytes.size());
  for (Index done = 0; done < size;) {
    const Index piece = std::min(piece_bytes, size - done);
    file.write_at(offset + done, bytes.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(piece)));
    done += piece;
    tell(progress, done);
  }
}

// Short lines are gathered, so that a system call moves many of them.
void write_gathered(const AsideFile& file, Index offset, const Lines& lines, const Progress& progress) {
  const Index lines_at_once = std::max(Index{1}, piece_bytes / lines.bytes);
  const Buffer gathered(std::min(lines_at_once, lines.count) * lines.bytes);
  for (Index line = 0; line < lines.count;) {
    const Index end = std::min(lines.count, line + lines_at_once);
    const Index first = line;
    for (std::byte* to = gathered.data(); line < end; ++line, to += lines.bytes) {
      std::memcpy(to, lines.data + line * lines.pitch, static_cast<std::size_t>(lines.bytes));
    }
    file.write_at(offset + first * lines.bytes,
                  gathered.bytes().first(static_cast<std::size_t>((end - first) * lines.bytes)));
    tell(progress, end * lines.bytes);
  }
}

}  // namespace

layout::Shape Extents::as_matrix(StorageOrder order) const {
  const bool by_rows = order == StorageOrder::row_major || dimensions == 1;
  const auto all = list();
  const Index slices = by_rows ? all.front() : all.back();
  layout::Shape rest{1, 1};
  for (const Index extent : by_rows ? all.subspan(1) : all.first(all.size() - 1)) {
    rest = {layout::elements(rest), extent};
  }
  const Index others = layout::elements(rest);
  const layout::Shape shape = by_rows ? layout::Shape{slices, others} : layout::Shape{others, slices};
  static_cast<void>(layout::elements(shape));
  return shape;
}

std::string to_string(const Extents& extents) { return fmt::format("{}", fmt::join(extents.list(), " x ")); }

layout::Layout slab_layout(layout::Shape shape, StorageOrder order, int ranks) {
  return order == StorageOrder::row_major ? layout::Layout::rows(shape, ranks, order)
                                          : layout::Layout::columns(shape, ranks, order);
}

Index elements_before(const layout::Layout& layout, int rank) {
  const bool by_rows = layout.storage() == StorageOrder::row_major;
  const layout::Axis& lines = by_rows ? layout.rows() : layout.columns();
  const Index line_length = by_rows ? layout.columns().extent() : layout.rows().extent();
  Index before = 0;
  lines.for_each_segment(rank, [&](const layout::Segment& segment) { before = segment.global * line_length; });
  return before;
}

void read_slab(const File& file, Index offset, std::span<std::byte> into, Index swap_unit, const Progress& progress) {
  const auto size = static_cast<Index>(into.size());
  for (Index done = 0; done < size;) {
    const Index piece = std::min(swap_unit > 1 ? swapped_piece_bytes : piece_bytes, size - done);
    const auto part = into.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(piece));
    if (const Index got = file.read_at(offset + done, part); got != piece) {
      throw FileError(fmt::format("{}: ended at byte {} while it was read; expected at least {} bytes", file.path(),
                                  offset + done + got, offset + size));
    }
    swap_bytes(part, swap_unit);
    done += piece;
    tell(progress, done);
  }
}

void write_lines(const AsideFile& file, Index offset, Lines lines, const Progress& progress) {
  if (lines.count == 0 || lines.bytes == 0) return;
  const bool without_gaps = lines.count == 1 || lines.pitch == lines.bytes;
  if (without_gaps) {
    write_piecewise(file, offset, {lines.data, static_cast<std::size_t>(lines.count * lines.bytes)}, progress);
  } else {
    write_gathered(file, offset, lines, progress);
  }
}

void no_memory_for_slab(std::string_view path, const layout::Layout& layout, int rank, Index element_bytes) {
  throw OutOfMemory(fmt::format("{}: no memory for the {} bytes that rank {} holds of a {} matrix", path,
                                layout.elements_of(rank) * element_bytes, rank, layout::to_string(layout.shape())));
}

void expect_dtype(DType wanted, DType of_file) {
  if (wanted == of_file) return;
  throw ArgumentError(fmt::format("T is {}; the header says {}", name(wanted), name(of_file)));
}

template <class T>
layout::DistributedMatrix<T> read_as_slabs(mpi::Context& context, const std::string& path, DType of_file,
                                           layout::Shape shape, StorageOrder order,
                                           FunctionRef<void(const layout::Layout&, std::span<std::byte>)> read) {
  return mpi::agreed(context, [&] {
    expect_dtype(dtype_of<T>(), of_file);
    const auto layout = slab_layout(shape, order, context.size());
    auto slab = make_slab<T>(path, layout, context.rank());
    const auto& tile = slab.tiles()[0];
    read(layout, std::as_writable_bytes(std::span<T>(tile.data(), static_cast<std::size_t>(tile.span()))));
    return slab;
  });
}

#define PLAIT_INSTANTIATE(T)                                                                                   \
  template layout::DistributedMatrix<T> read_as_slabs(mpi::Context&, const std::string&, DType, layout::Shape, \
                                                      StorageOrder,                                            \
                                                      FunctionRef<void(const layout::Layout&, std::span<std::byte>)>);
PLAIT_FOR_EACH_DTYPE(PLAIT_INSTANTIATE)
#undef PLAIT_INSTANTIATE

}  // namespace plait::io
