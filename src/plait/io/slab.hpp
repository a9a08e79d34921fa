#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/io/aside_file.hpp"
#include "plait/io/file.hpp"
#include "plait/io/progress.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/layout.hpp"

namespace plait::io {

/// The layout in which every rank's part lies in one piece in a file: whole rows where the file holds the matrix by
/// rows, whole columns where it holds it by columns, cut into nearly equal parts, stored as in the file.
[[nodiscard]] layout::Layout slab_layout(layout::Shape shape, StorageOrder order, int ranks);

/// How many elements lie in the file before those of a rank.
///
/// \pre  layout is a `slab_layout`; 0 <= rank < layout.ranks()
[[nodiscard]] Index elements_before(const layout::Layout& layout, int rank);

/// Fills `into` from this offset of a file on. Numbers of `swap_unit` bytes each are turned into the other byte order;
/// with 1 they stay as they are.
///
/// \throws FileError  if the file ends before
void read_slab(const File& file, Index offset, std::span<std::byte> into, Index swap_unit, const Progress& progress);

/// `count` lines (columns or rows of a matrix) of `bytes` bytes each, which begin `pitch` bytes apart.
struct Lines {
  const std::byte* data = nullptr;
  Index count = 0;
  Index bytes = 0;
  Index pitch = 0;
};

/// Writes the lines one after the other, without the gaps between them.
void write_lines(const AsideFile& file, Index offset, Lines lines, const Progress& progress);

template <class T>
[[nodiscard]] Lines lines_of(matrix_view<const T> view) {
  if (view.empty()) return {};
  return {reinterpret_cast<const std::byte*>(view.data()), view.major_extent(), view.minor_extent() * Index{sizeof(T)},
          view.leading_dimension() * Index{sizeof(T)}};
}

/// The bytes of the slab that a rank holds.
///
/// \pre  the layout of the matrix is a `slab_layout`
template <class T>
[[nodiscard]] std::span<std::byte> slab_bytes(layout::DistributedMatrix<T>& slab) {
  PLAIT_ASSERT(slab.tiles().size() == 1, "a slab is one tile");
  const auto& tile = slab.tiles()[0];
  return std::as_writable_bytes(std::span<T>(tile.data(), static_cast<std::size_t>(tile.span())));
}

[[noreturn]] void no_memory_for_slab(std::string_view path, const layout::Layout& layout, int rank,
                                     Index element_bytes);

/// Memory for a rank's slab of the matrix in this file, uninitialised.
///
/// \throws OutOfMemory  naming the file and the number of bytes
template <class T>
[[nodiscard]] layout::DistributedMatrix<T> make_slab(std::string_view path, const layout::Layout& layout, int rank) {
  try {
    return layout::DistributedMatrix<T>(layout, rank);
  } catch (const std::bad_alloc&) {
    no_memory_for_slab(path, layout, rank, Index{sizeof(T)});
  }
}

}  // namespace plait::io
