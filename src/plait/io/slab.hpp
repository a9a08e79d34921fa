#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "plait/base/function_ref.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/io/aside_file.hpp"
#include "plait/io/dtype.hpp"
#include "plait/io/file.hpp"
#include "plait/io/progress.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"

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

/// What a rank holds of a matrix that is to be written, of any element type.
struct WrittenSlab {
  template <class T>
  WrittenSlab(const layout::DistributedMatrix<T>& slab)  // NOLINT(google-explicit-constructor)
      : dtype(dtype_of<T>()), layout(slab.layout()), rank(slab.rank()) {
    if (slab.const_tiles().size() == 1) lines = lines_of(slab.const_tiles()[0]);
  }

  DType dtype;
  const layout::Layout& layout;
  int rank;
  Lines lines = {};  // of a slab, which is one tile
};

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

/// \throws ArgumentError  the elements of the file are others than those that are asked for
void expect_dtype(DType wanted, DType of_file);

/// The matrix in a file, each rank's slab of it as `read` fills it with the bytes from the file. Collective over
/// `context`.
///
/// \throws ArgumentError  on every rank: T is not the file's type
/// \throws OutOfMemory    on every rank, naming the file and the number of bytes
/// \throws Error          on every rank: what `read` throws on one
template <class T>
[[nodiscard]] layout::DistributedMatrix<T> read_as_slabs(
    mpi::Context& context, const std::string& path, DType of_file, layout::Shape shape, StorageOrder order,
    FunctionRef<void(const layout::Layout&, std::span<std::byte>)> read);

}  // namespace plait::io
