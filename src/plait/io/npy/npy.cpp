#include "plait/io/npy/npy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/aside_file.hpp"
#include "plait/io/byte_order.hpp"
#include "plait/io/file.hpp"
#include "plait/io/npy/npy_header.hpp"
#include "plait/io/output_file.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::io {

namespace {

void expect_whole(const File& file, const NpyHeader& header) {
  const Index size = file.size();
  if (size >= header.file_bytes()) return;
  throw FileError(fmt::format("{}: is truncated: it has {} bytes; expected {} for a header of {} and {} elements of {}",
                              file.path(), size, header.file_bytes(), header.data_offset,
                              layout::to_string(header.shape), name(header.dtype)));
}

void expect_slab(const Extents& extents, const WrittenSlab& slab, const mpi::Context& context) {
  const layout::Layout& layout = slab.layout;
  if (extents.as_matrix(layout.storage()) != layout.shape()) {
    throw ArgumentError(fmt::format("extents are {}; expected those of an array that lies as {}", to_string(extents),
                                    layout::to_string(layout.shape())));
  }
  if (layout != slab_layout(layout.shape(), layout.storage(), context.size())) {
    throw ArgumentError(
        fmt::format("slab is distributed as {}; expected rows@{} stored by rows or cols@{} stored by columns",
                    layout::describe(layout), context.size(), context.size()));
  }
  if (slab.rank != context.rank()) {
    throw ArgumentError(fmt::format("slab is that of rank {} on rank {}", slab.rank, context.rank()));
  }
}

/// The bytes of the header at least.
std::vector<std::byte> read_npy_start(const File& file, const std::string& path) {
  std::vector<std::byte> start(4096);  // longer than nearly all headers
  Index got = file.read_at(0, start);
  const auto have = [&] { return std::span<const std::byte>(start).first(static_cast<std::size_t>(got)); };
  const auto needed = npy_header_bytes(have(), path);
  if (needed && *needed > got) {
    start.resize(static_cast<std::size_t>(*needed));
    got = file.read_at(0, start);
  }
  if (!needed || got < *needed) {
    const auto expected = needed ? fmt::format("{}", *needed) : std::string("at least 10");
    throw FileError(fmt::format("{}: is truncated: it has {} bytes; expected {} of header", path, got, expected));
  }
  start.resize(static_cast<std::size_t>(got));
  return start;
}

std::string description(const NpyHeader& header) {
  const bool has_an_order = std::ranges::count_if(header.extents.list(), [](Index n) { return n > 1; }) > 1;
  const std::string_view order = header.order == StorageOrder::row_major ? " by rows" : " by columns";
  return fmt::format("{} of {}{} ({}-endian, from byte {} on)", to_string(header.extents), name(header.dtype),
                     has_an_order ? order : "", header.big_endian ? "big" : "little", header.data_offset);
}

/// Whether this rank opens the file whose header rank 0 has read.
void expect_that_of_rank_zero(const File& file, const NpyHeader& header) {
  const std::string own = description(parse_npy_header(read_npy_start(file, file.path()), file.path(), arrays));
  const std::string first = description(header);
  if (own == first) return;
  throw FileError(fmt::format("{}: is {}, but another array on rank 0, {}: do all nodes share its folder?", file.path(),
                              own, first));
}

/// Calls `use` with all elements, in a std::vector of their type.
template <class Use>
void with_npy_elements(const File& file, const NpyHeader& header, const Use& use) {
  if (is_complex(header.dtype)) {
    throw FileError(fmt::format("{}: has elements of {}; expected real ones", file.path(), name(header.dtype)));
  }
  expect_whole(file, header);
  with_dtype(header.dtype, [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T>) {
      std::vector<T> elements(static_cast<std::size_t>(layout::elements(header.shape)));
      const bool swap = header.big_endian != machine_is_big_endian;
      read_slab(file, header.data_offset, std::as_writable_bytes(std::span(elements)),
                swap ? component_bytes(header.dtype) : 1, {});
      use(elements);
    }
  });
}

std::vector<double> read_npy_vector_local(const std::string& path) {
  const File file = open_unless_archive(path);
  std::vector<double> values;
  with_npy_elements(file, parse_npy_vector_header(read_npy_start(file, path), path), [&](const auto& elements) {
    values.reserve(elements.size());
    for (const auto element : elements) values.push_back(static_cast<double>(element));
  });
  return values;
}

/// \param array  its name in the archive; empty: it is the archive that was to be read
[[noreturn]] void refuse_archive(const std::string& path, const std::string& archive, std::string_view array) {
  throw FileError(fmt::format(
      "{}: is {} of NumPy's; expected a file with one array, such as that which numpy.save(\"A.npy\", "
      "numpy.load(\"{}\")[\"{}\"]) writes",
      path, array.empty() ? "a .npz archive" : "an array in a .npz archive", archive, array.empty() ? "A" : array));
}

}  // namespace

File open_unless_archive(const std::string& path) {
  constexpr std::string_view archive_ending = ".npz";
  constexpr std::string_view zip_magic = "PK\x03\x04";
  const auto ending = path.find(std::string(archive_ending) + ":");
  if (ending != std::string::npos && !std::filesystem::exists(path)) {
    const std::string archive = path.substr(0, ending + archive_ending.size());
    static_cast<void>(File::open_to_read(archive));
    const auto array = path.find_first_not_of(":/", archive.size());
    refuse_archive(path, archive, array == std::string::npos ? "" : std::string_view(path).substr(array));
  }
  File file = File::open_to_read(path);
  std::array<char, zip_magic.size()> start{};
  const auto got = static_cast<std::size_t>(file.read_at(0, std::as_writable_bytes(std::span(start))));
  if (std::string_view(start.data(), got) == zip_magic) refuse_archive(path, path, {});
  return file;
}

NpyHeader read_npy_header_local(const std::string& path) {
  return parse_npy_header(read_npy_start(open_unless_archive(path), path), path);
}

std::vector<Index> read_npy_integers(const std::string& path) {
  const File file = open_unless_archive(path);
  std::vector<Index> values;
  with_npy_elements(
      file, parse_npy_vector_header(read_npy_start(file, path), path), [&]<class T>(const std::vector<T>& elements) {
        values.reserve(elements.size());
        for (const T element : elements) {
          bool fits = true;
          if constexpr (std::is_floating_point_v<T>) {
            fits = element == std::trunc(element) && element >= T(-0x1p63) && element < T(0x1p63);
          } else {
            fits = std::in_range<Index>(element);
          }
          if (!fits) {
            throw FileError(
                fmt::format("{}: element {} is {}; expected whole numbers of 64 bits", path, values.size(), element));
          }
          values.push_back(static_cast<Index>(element));
        }
      });
  return values;
}

NpyColumns read_npy_columns(const std::string& path) {
  const File file = open_unless_archive(path);
  const NpyHeader header = parse_npy_header(read_npy_start(file, path), path, columns);
  NpyColumns result{header.shape, {}};
  with_npy_elements(file, header, [&](const auto& elements) {
    result.values.reserve(elements.size());
    const auto rows = static_cast<std::size_t>(header.shape.rows);
    const auto columns = static_cast<std::size_t>(header.shape.columns);
    const bool by_rows = header.order == StorageOrder::row_major;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        result.values.push_back(static_cast<double>(elements[by_rows ? i * columns + j : j * rows + i]));
      }
    }
  });
  return result;
}

std::vector<double> read_npy_vector(mpi::Context& context, const std::string& path) {
  auto values =
      mpi::agreed(context, [&] { return context.rank() == 0 ? read_npy_vector_local(path) : std::vector<double>(); });
  auto count = static_cast<Index>(values.size());
  mpi::broadcast(context.comm(), std::span<Index>(&count, 1), 0);
  mpi::agreed(context, [&] { values.resize(static_cast<std::size_t>(count)); });
  mpi::broadcast(context.comm(), std::span<double>(values), 0);
  return values;
}

NpyHeader read_npy_header(mpi::Context& context, const std::string& path, Dimensions wanted) {
  return told_by_rank_zero(
      context, [&] { return parse_npy_header(read_npy_start(open_unless_archive(path), path), path, wanted); });
}

template <FileElement T>
layout::DistributedMatrix<T> read_npy(mpi::Context& context, const std::string& path, const NpyHeader& header,
                                      const Progress& progress) {
  const auto read = [&](const layout::Layout& layout, std::span<std::byte> slab) {
    const File file = File::open_to_read(path);
    expect_that_of_rank_zero(file, header);
    expect_whole(file, header);
    const Index offset = header.data_offset + elements_before(layout, context.rank()) * bytes(header.dtype);
    const bool swap = header.big_endian != machine_is_big_endian;
    read_slab(file, offset, slab, swap ? component_bytes(header.dtype) : 1, progress);
  };
  return read_as_slabs<T>(context, path, header.dtype, header.shape, header.order, read);
}

void write_npy(mpi::Context& context, const std::string& path, const Extents& extents, const WrittenSlab& slab,
               const Progress& progress) {
  const auto header = mpi::agreed(context, [&] {
    expect_slab(extents, slab, context);
    return npy_header_text(slab.dtype, extents, slab.layout.storage());
  });
  const auto begin = static_cast<Index>(header.size());
  OutputFile file(context, path, begin + layout::elements(slab.layout.shape()) * bytes(slab.dtype));
  mpi::agreed(context, [&] {
    if (context.rank() == 0) file.write_at(0, std::as_bytes(std::span(header)));
    const Index offset = begin + elements_before(slab.layout, context.rank()) * bytes(slab.dtype);
    write_lines(file.file(), offset, slab.lines, progress);
  });
  file.commit();
}

AsideFile write_npy_aside(const std::string& path, DType dtype, const Extents& extents, StorageOrder order,
                          const Lines& lines, const Progress& progress) {
  const auto header = npy_header_text(dtype, extents, order);
  const auto begin = static_cast<Index>(header.size());
  AsideFile file = AsideFile::create(path, begin + lines.count * lines.bytes);
  file.write_at(0, std::as_bytes(std::span(header)));
  write_lines(file, begin, lines, progress);
  file.sync();
  file.close();
  return file;
}

#define PLAIT_INSTANTIATE(T) \
  template layout::DistributedMatrix<T> read_npy(mpi::Context&, const std::string&, const NpyHeader&, const Progress&);
PLAIT_FOR_EACH_DTYPE(PLAIT_INSTANTIATE)
#undef PLAIT_INSTANTIATE

template <FileElement T>
NpyRows<T>::NpyRows(mpi::Context& context, const std::string& path, layout::Shape shape)
    : NpyRows(context, path, shape, mpi::agreed(context, [&] {
                return npy_header_text(dtype_of<T>(), Extents::of(shape), StorageOrder::row_major);
              })) {}

template <FileElement T>
NpyRows<T>::NpyRows(mpi::Context& context, const std::string& path, layout::Shape shape, const std::string& header)
    : file_(context, path, static_cast<Index>(header.size()) + layout::elements(shape) * Index{sizeof(T)}),
      begin_(static_cast<Index>(header.size())),
      columns_(shape.columns) {
  mpi::agreed(context, [&] {
    if (context.rank() == 0) file_.write_at(0, std::as_bytes(std::span(header)));
  });
}

template <FileElement T>
void NpyRows<T>::write(Index first, std::span<const T> rows) const {
  file_.write_at(begin_ + first * columns_ * Index{sizeof(T)}, std::as_bytes(rows));
}

template <FileElement T>
void read_npy_rows(const std::string& path, const NpyHeader& header, Index first, std::span<T> rows) {
  if (header.dtype != dtype_of<T>() || header.order != StorageOrder::row_major) {
    throw ArgumentError(fmt::format("{}: has elements of {} by {}; expected {} by rows", path, name(header.dtype),
                                    header.order == StorageOrder::row_major ? "rows" : "columns", name(dtype_of<T>())));
  }
  const Index offset = header.data_offset + first * header.shape.columns * Index{sizeof(T)};
  const bool swap = header.big_endian != machine_is_big_endian;
  read_slab(File::open_to_read(path), offset, std::as_writable_bytes(rows), swap ? component_bytes(header.dtype) : 1,
            {});
}

template void read_npy_rows(const std::string&, const NpyHeader&, Index, std::span<double>);
template class NpyRows<double>;
template class NpyRows<float>;

}  // namespace plait::io
