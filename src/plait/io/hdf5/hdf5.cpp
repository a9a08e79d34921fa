#include "plait/io/hdf5/hdf5.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/io/hdf5/hdf5_file.hpp"
#include "plait/io/hdf5/hdf5_structure.hpp"
#include "plait/io/output_file.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::io {

namespace {

using Counts = std::array<hsize_t, 3>;  // along each axis

std::string list(const std::vector<Hdf5DataSet>& data_sets) {
  constexpr std::size_t most_listed = 20;
  std::string result;
  for (std::size_t i = 0; i < std::min(data_sets.size(), most_listed); ++i) {
    result += (i == 0 ? "" : ", ") + data_sets[i].text();
  }
  if (data_sets.size() > most_listed) result += fmt::format(" and {} more", data_sets.size() - most_listed);
  return result;
}

std::string_view in_words(Dimensions wanted) {
  return wanted.most == 3 ? "one to three dimensions" : wanted.least == 2 ? "two dimensions" : "one or two dimensions";
}

std::vector<Hdf5DataSet> those_of(const std::vector<Hdf5DataSet>& all, Dimensions wanted) {
  std::vector<Hdf5DataSet> found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const Hdf5DataSet& each) { return each.is_one_of(wanted); });
  return found;
}

// "it has the matrices ..." for what can't be had from the file.
std::string what_there_is(hid_t file, Dimensions wanted) {
  const auto all = hdf5_data_sets(file), found = those_of(all, wanted);
  const bool are_matrices = wanted.least == 2;
  if (!found.empty()) return (are_matrices ? "it has the matrices " : "it has the arrays ") + list(found);
  return all.empty() ? "it has no data set at all"
                     : fmt::format("it has no {}, but the data sets {}", are_matrices ? "matrix" : "array", list(all));
}

std::string only_one(const std::string& path, hid_t file, Dimensions wanted) {
  const auto found = those_of(hdf5_data_sets(file), wanted);
  if (found.size() == 1) return found[0].path;
  const auto expected =
      found.empty()        ? fmt::format("expected a data set of {} of {}", in_words(wanted), all_dtype_names())
      : is_hdf5_name(path) ? fmt::format("expected {}:{} or the like", path, found[0].path)
                           : std::string("expected a file name that ends in .h5, as in FILE.h5:/path/to/matrix");
  throw FileError(fmt::format("{}: {}; {}", path, what_there_is(file, wanted), expected));
}

// The text of a soft link.
std::string target_of(hid_t file, const std::string& link, const H5L_info_t& info) {
  std::string result(info.u.val_size + 1, '\0');
  H5Lget_val(file, link.c_str(), result.data(), result.size(), H5P_DEFAULT);
  return result.c_str();  // NOLINT(readability-redundant-string-cstr): it ends with the first zero
}

// Checks what lies on the way to an object, so that HDF5 can follow it, and returns where it lies; nothing of what is
// in another file. Where one is missing on the way, HDF5 would only say that something failed.
std::optional<Hdf5Structure::Address> expect_there(const Hdf5Structure& structure, const std::string& path, hid_t file,
                                                   const std::string& object, Dimensions wanted,
                                                   int most_soft_links = 16) {
  std::optional<Hdf5Structure::Address> result = structure.root();
  for (auto end = object.find('/', 1);; end = object.find('/', end + 1)) {
    const std::string part = object.substr(0, end);
    if (!part.ends_with('/')) {
      H5L_info_t link;
      if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0 || H5Lget_info(file, part.c_str(), &link, H5P_DEFAULT) < 0) {
        throw FileError(fmt::format("{}: has no {}; {}", path, part, what_there_is(file, wanted)));
      }
      result.reset();
      if (link.type == H5L_TYPE_HARD) {
        result = link.u.address;
        structure.expect_sound(*result);
      } else if (link.type == H5L_TYPE_SOFT && most_soft_links > 0) {
        const std::string target = target_of(file, part, link);
        result = expect_there(structure, path, file,
                              target.starts_with('/') ? target : part.substr(0, part.rfind('/') + 1) + target, wanted,
                              most_soft_links - 1);
      }
    }
    if (end == std::string::npos) return result;
  }
}

Hdf5Handle open_data_set(const std::string& path, hid_t file, const std::string& data_set, Dimensions wanted) {
  const Hdf5Handle object(H5Oopen(file, data_set.c_str(), H5P_DEFAULT), H5Oclose);
  if (object.valid() && H5Iget_type(object.id()) != H5I_DATASET) {
    throw FileError(fmt::format("{}: {} is a {}, expected a data set; {}", path, data_set,
                                H5Iget_type(object.id()) == H5I_GROUP ? "group" : "named type",
                                what_there_is(file, wanted)));
  }
  return opened(H5Dopen2(file, data_set.c_str(), H5P_DEFAULT), H5Dclose, path,
                fmt::format("{} can't be opened", data_set));
}

// HDF5 1.10 reads beyond a block that is smaller than its elements, as a damaged file may have it.
void expect_stored(const std::string& path, hid_t data_set, const Hdf5DataSet& found) {
  const Hdf5Handle properties(H5Dget_create_plist(data_set), H5Pclose);
  const H5D_layout_t kind = H5Pget_layout(properties.id());
  if (kind != H5D_CONTIGUOUS && kind != H5D_COMPACT) return;
  const hsize_t stored = H5Dget_storage_size(data_set);
  if (kind == H5D_CONTIGUOUS && stored == 0) return;  // never written, or in another file
  const Hdf5Handle type(H5Dget_type(data_set), H5Tclose);
  const hsize_t elements = std::accumulate(found.extents.begin(), found.extents.end(), hsize_t{1}, std::multiplies{});
  if (stored / H5Tget_size(type.id()) >= elements) return;
  throw FileError(fmt::format("{}: {} is damaged: {} bytes are stored for it, expected {} elements of {} each", path,
                              found.text(), stored, elements, H5Tget_size(type.id())));
}

Hdf5Header header_of(const std::string& path, hid_t file, hid_t data_set, const std::string& name, Dimensions wanted) {
  const Hdf5DataSet found = describe_hdf5_data_set(data_set, name);
  if (!found.is_one_of(wanted)) {
    throw FileError(fmt::format("{}: {} is no {}; expected {} and elements of {}; {}", path, found.text(),
                                wanted.least == 2 ? "matrix" : "array", in_words(wanted), all_dtype_names(),
                                what_there_is(file, wanted)));
  }
  Hdf5Header header{name, *found.dtype, {}, {static_cast<int>(found.extents.size()), {}}};
  std::ranges::copy(found.extents, header.extents.values.begin());
  try {
    header.shape = header.extents.as_matrix(StorageOrder::row_major);
  } catch (const LayoutError& error) {
    throw FileError(fmt::format("{}: {}: {}", path, found.text(), error.what()));
  }
  expect_stored(path, data_set, found);
  return header;
}

// How many rows the chunks have; 1 if there are none.
Index chunk_rows(hid_t data_set) {
  const Hdf5Handle properties(H5Dget_create_plist(data_set), H5Pclose);
  Counts chunk{1, 1, 1};
  if (H5Pget_layout(properties.id()) == H5D_CHUNKED) {
    H5Pget_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data());
  }
  return static_cast<Index>(chunk[0]);
}

// Where a piece that begins at row `first` ends: at the border of a row of chunks, so that none is unpacked twice.
Index piece_end(Index first, Index end, Index row_bytes, Index rows_of_chunk) {
  const Index wanted = first + std::max(Index{1}, piece_bytes / row_bytes);
  const Index border = std::max(wanted / rows_of_chunk, first / rows_of_chunk + 1) * rows_of_chunk;
  return std::min(end, border);
}

void expect_row_slab(const layout::Layout& layout, int rank, const Extents& extents, const mpi::Context& context) {
  if (extents.as_matrix(StorageOrder::row_major) != layout.shape()) {
    throw ArgumentError(fmt::format("extents are {}; expected those of an array that lies as {}", to_string(extents),
                                    layout::to_string(layout.shape())));
  }
  if (layout != slab_layout(layout.shape(), StorageOrder::row_major, context.size())) {
    throw ArgumentError(fmt::format("slab is distributed as {}; expected rows@{} stored by rows",
                                    layout::describe(layout), context.size()));
  }
  if (rank != context.rank()) {
    throw ArgumentError(fmt::format("slab is that of rank {} on rank {}", rank, context.rank()));
  }
}

struct DataSetToWrite {
  std::string path;
  DType dtype;
  Extents extents;
};

// Makes a file of HDF5's with room for the elements of data sets, and tells at which byte those of each begin. `path`
// is the name for errors.
std::vector<Index> lay_out(const std::string& path, hid_t made, const std::vector<DataSetToWrite>& data_sets) {
  std::vector<Index> begins;
  for (const auto& [data_set, dtype, extents] : data_sets) {
    const auto what = fmt::format("{} can't be made", data_set);
    Counts counts{};
    std::ranges::copy(extents.list(), counts.begin());
    const auto space = opened(H5Screate_simple(extents.dimensions, counts.data(), nullptr), H5Sclose, path, what);
    const auto links = opened(H5Pcreate(H5P_LINK_CREATE), H5Pclose, path, what);
    H5Pset_create_intermediate_group(links.id(), 1);
    const auto properties = opened(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, path, what);
    H5Pset_layout(properties.id(), H5D_CONTIGUOUS);
    H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER);  // every element is about to be written
    H5Pset_obj_track_times(properties.id(), 0);              // so that files of the same numbers have the same bytes
    const auto type = hdf5_written_type(dtype);
    auto matrix =
        opened(H5Dcreate2(made, data_set.c_str(), type.id(), space.id(), links.id(), properties.id(), H5P_DEFAULT),
               H5Dclose, path, what);
    const haddr_t offset = H5Dget_offset(matrix.id());
    if (!matrix.close()) throw hdf5_error(path, what);
    begins.push_back(offset == HADDR_UNDEF ? 0 : static_cast<Index>(offset));  // an empty one has no place
  }
  return begins;
}

// Makes the file again under its temporary name; `fill` has it open.
template <class Fill>
auto made_anew(const std::string& path, const std::string& aside, const Fill& fill) {
  constexpr hsize_t page_bytes = 4096;
  const QuietHdf5 quiet;
  const auto access = hdf5_file_access(path);
  H5Pset_alignment(access.id(), page_bytes, page_bytes);
  auto made = opened(H5Fcreate(aside.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose, path,
                     "an HDF5 file can't be made");
  auto result = fill(made.id());
  if (!made.close()) throw hdf5_error(path, "an HDF5 file can't be made");
  return result;
}

void add_attribute(const std::string& path, hid_t file, const std::string& object, const Hdf5Attribute& attribute) {
  const auto what = fmt::format("the attribute {} of {} can't be made", attribute.name, object);
  const auto type = opened(H5Tcopy(H5T_C_S1), H5Tclose, path, what);
  H5Tset_size(type.id(), std::max<std::size_t>(1, attribute.text.size()));
  const auto space = opened(H5Screate(H5S_SCALAR), H5Sclose, path, what);
  const auto made = opened(H5Acreate_by_name(file, object.c_str(), attribute.name.c_str(), type.id(), space.id(),
                                             H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose, path, what);
  if (H5Awrite(made.id(), type.id(), attribute.text.c_str()) < 0) throw hdf5_error(path, what);
}

}  // namespace

std::string hdf5_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

Hdf5Header read_hdf5_header_local(const Hdf5Name& name, Dimensions wanted) {
  const QuietHdf5 quiet;
  const auto file = open_hdf5(name.file);
  const auto path = name.data_set.empty() ? only_one(name.file, file.id(), wanted) : name.data_set;
  static_cast<void>(expect_there(Hdf5Structure(name.file), name.file, file.id(), path, wanted));
  const auto data_set = open_data_set(name.file, file.id(), path, wanted);
  return header_of(name.file, file.id(), data_set.id(), path, wanted);
}

Hdf5Header read_hdf5_header(mpi::Context& context, const Hdf5Name& name, Dimensions wanted) {
  struct Sizes {
    DType dtype;
    layout::Shape shape;
    Extents extents;
  };
  std::string data_set;
  const auto sizes = told_by_rank_zero(context, [&] {
    auto header = read_hdf5_header_local(name, wanted);
    data_set = std::move(header.data_set);
    return Sizes{header.dtype, header.shape, header.extents};
  });
  return {text_of_rank_zero(context, data_set), sizes.dtype, sizes.shape, sizes.extents};
}

void read_hdf5_rows(const std::string& path, const Hdf5Header& header, Index first, Index count, std::byte* into,
                    const Progress& progress) {
  PLAIT_ASSERT(0 <= first && 0 <= count && first <= header.shape.rows - count, "the rows are rows of the matrix");
  const QuietHdf5 quiet;
  const auto file = open_hdf5(path);
  const Hdf5Structure structure(path);
  const auto at = expect_there(structure, path, file.id(), header.data_set, arrays);
  if (at) structure.expect_sound_chunks(*at);
  const auto data_set = open_data_set(path, file.id(), header.data_set, arrays);
  if (header_of(path, file.id(), data_set.id(), header.data_set, arrays) != header) {
    throw FileError(
        fmt::format("{}: {} is not what it was; expected a file that is left alone", path, header.data_set));
  }
  const Index row_bytes = header.shape.columns * bytes(header.dtype);
  if (count == 0 || row_bytes == 0) return;
  const auto failed = fmt::format("reading {} failed", header.data_set);
  const auto in_file = opened(H5Dget_space(data_set.id()), H5Sclose, path, failed);
  const auto file_type = opened(H5Dget_type(data_set.id()), H5Tclose, path, failed);
  const auto type = hdf5_memory_type(header.dtype, file_type.id());
  const Index rows_of_chunk = chunk_rows(data_set.id());
  for (Index row = first; row < first + count;) {
    const Index end = piece_end(row, first + count, row_bytes, rows_of_chunk);
    const Counts start{static_cast<hsize_t>(row)};
    Counts counts{};
    std::ranges::copy(header.extents.list(), counts.begin());
    counts[0] = static_cast<hsize_t>(end - row);
    H5Sselect_hyperslab(in_file.id(), H5S_SELECT_SET, start.data(), nullptr, counts.data(), nullptr);
    const auto in_memory =
        opened(H5Screate_simple(header.extents.dimensions, counts.data(), nullptr), H5Sclose, path, failed);
    if (H5Dread(data_set.id(), type.id(), in_memory.id(), in_file.id(), H5P_DEFAULT, into + (row - first) * row_bytes) <
        0) {
      throw hdf5_error(path, failed);
    }
    row = end;
    if (progress) progress((row - first) * row_bytes);
  }
}

template <FileElement T>
layout::DistributedMatrix<T> read_hdf5(mpi::Context& context, const std::string& file, const Hdf5Header& header,
                                       const Progress& progress) {
  const auto read = [&](const layout::Layout& layout, std::span<std::byte> slab) {
    const Index row_bytes = header.shape.columns * bytes(header.dtype);
    const Index before = row_bytes == 0 ? 0 : elements_before(layout, context.rank()) / header.shape.columns;
    const Index rows = row_bytes == 0 ? 0 : std::ssize(slab) / row_bytes;
    read_hdf5_rows(file, header, before, rows, slab.data(), progress);
  };
  return read_as_slabs<T>(context, file, header.dtype, header.shape, StorageOrder::row_major, read);
}

void expect_replaceable_hdf5(const Hdf5Name& name) {
  AsideFile::expect_replaceable(name.file);
  const QuietHdf5 quiet;
  if (H5Fis_hdf5(name.file.c_str()) <= 0) return;  // missing, or something that is replaced like any file
  const std::string data_set = name.data_set.empty() ? std::string(usual_data_set) : name.data_set;
  for (const auto& [path, is_group] : hdf5_objects(open_hdf5(name.file).id())) {
    if (path == data_set || (is_group && data_set.starts_with(path + "/"))) continue;
    if (data_set.ends_with('/') && path.starts_with(data_set)) continue;
    throw FileError(fmt::format(
        "{}: holds {}, which would be lost: a file is written as a whole, with nothing but {}; expected the name of "
        "a file that is missing or holds that alone",
        name.file, path, data_set));
  }
}

void write_hdf5(mpi::Context& context, const Hdf5Name& name, const Extents& extents, const WrittenSlab& slab,
                const Progress& progress) {
  const auto data_set = mpi::agreed(context, [&] {
    expect_row_slab(slab.layout, slab.rank, extents, context);
    if (context.rank() == 0) expect_replaceable_hdf5(name);
    return name.data_set.empty() ? std::string(usual_data_set) : name.data_set;
  });
  const Index matrix_bytes = layout::elements(slab.layout.shape()) * bytes(slab.dtype);
  OutputFile file(context, name.file, matrix_bytes);
  const Index begin = told_by_rank_zero(context, [&] {
    const Index offset = made_anew(name.file, file.file().aside(), [&](hid_t made) {
      return lay_out(name.file, made, {{data_set, slab.dtype, extents}})[0];
    });
    file.file().reserve(offset + matrix_bytes);  // as the file was made again
    return offset;
  });
  mpi::agreed(context, [&] {
    const Index offset = begin + elements_before(slab.layout, context.rank()) * bytes(slab.dtype);
    write_lines(file.file(), offset, slab.lines, progress);
  });
  file.commit();
}

void write_hdf5_group(mpi::Context& context, const std::string& path, const std::string& group,
                      const std::vector<Hdf5Array>& arrays, const std::vector<Hdf5Attribute>& attributes) {
  on_rank_zero(context, [&] {
    expect_replaceable_hdf5({path, group + "/"});
    auto file = AsideFile::create(path, 0);
    std::vector<DataSetToWrite> data_sets;
    for (const auto& [data_set, extents, elements] : arrays) {
      data_sets.push_back({group + "/" + data_set, DType::f64, extents});
    }
    const auto begins = made_anew(path, file.aside(), [&](hid_t made) {
      auto result = lay_out(path, made, data_sets);
      for (const Hdf5Attribute& each : attributes) add_attribute(path, made, group, each);
      return result;
    });
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      file.write_at(begins[i], std::as_bytes(arrays[i].elements));
    }
    file.sync();
    file.publish();
  });
}

std::string read_hdf5_text(mpi::Context& context, const Hdf5Name& group, const std::string& attribute) {
  std::string text;
  on_rank_zero(context, [&] {
    const QuietHdf5 quiet;
    const auto file = open_hdf5(group.file);
    static_cast<void>(expect_there(Hdf5Structure(group.file), group.file, file.id(), group.data_set, arrays));
    const auto what = fmt::format("{} has no text '{}'", group.data_set, attribute);
    const auto its =
        opened(H5Aopen_by_name(file.id(), group.data_set.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT),
               H5Aclose, group.file, what);
    const auto type = opened(H5Aget_type(its.id()), H5Tclose, group.file, what);
    const auto space = opened(H5Aget_space(its.id()), H5Sclose, group.file, what);
    constexpr std::size_t most = 1 << 20;
    if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0 || H5Tget_size(type.id()) > most ||
        H5Sget_simple_extent_npoints(space.id()) != 1) {
      throw FileError(fmt::format("{}: the attribute {} of {} is no text of a fixed length", group.file, attribute,
                                  group.data_set));
    }
    text.resize(H5Tget_size(type.id()));
    if (H5Aread(its.id(), type.id(), text.data()) < 0) throw hdf5_error(group.file, what);
  });
  return text_of_rank_zero(context, text);
}

#define PLAIT_INSTANTIATE(T)                                                                            \
  template layout::DistributedMatrix<T> read_hdf5(mpi::Context&, const std::string&, const Hdf5Header&, \
                                                  const Progress&);
PLAIT_FOR_EACH_DTYPE(PLAIT_INSTANTIATE)
#undef PLAIT_INSTANTIATE

}  // namespace plait::io
