#include "plait/io/file_kind.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/file.hpp"
#include "plait/io/matrix_market/matrix_market.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::io {

namespace {

constexpr std::size_t quoted_bytes = 16;

// Bytes as one can read them in an error: what does not print as \x and its number.
std::string quoted(std::string_view bytes) {
  std::string result;
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    const bool plain = code >= ' ' && code < 127 && c != '"' && c != '\\';
    result += plain ? std::string(1, c) : fmt::format("\\x{:02x}", code);
  }
  return result;
}

bool begins_ignoring_case(std::string_view text, std::string_view beginning) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return text.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), text.begin(),
                                                       [&](char a, char b) { return lower(a) == lower(b); });
}

FileKind kind_of(const std::string& path) {
  std::array<char, quoted_bytes> bytes{};
  const File file = File::open_to_read(path);
  const Index got = file.read_at(0, std::as_writable_bytes(std::span(bytes)));
  const std::string_view start(bytes.data(), static_cast<std::size_t>(got));
  if (start.starts_with(npy_magic)) return FileKind::npy;
  if (begins_ignoring_case(start, matrix_market_banner)) return FileKind::matrix_market;
  if (find_hdf5(file)) return FileKind::hdf5;
  for (const auto& [ending, kind] :
       {std::pair(".csv", FileKind::csv), std::pair(".svm", FileKind::svm), std::pair(".libsvm", FileKind::svm)}) {
    if (path.ends_with(ending)) return kind;
  }
  const auto found = start.empty() ? std::string("is empty") : fmt::format("begins with \"{}\"", quoted(start));
  throw FileError(
      fmt::format("{}: {}; expected a NumPy .npy file, which begins with \"{}\", a Matrix Market file, which begins "
                  "with \"{}\", an HDF5 file, or a name in .csv or .svm",
                  path, found, quoted(npy_magic), matrix_market_banner));
}

struct Kind {
  FileKind kind;
  FileIdentity identity;
};

Kind kind_and_identity(const Hdf5Name& name) {
  const FileIdentity identity = open_unless_archive(name.file).identity();  // first, so that no later change is missed
  const FileKind kind = kind_of(name.file);
  if (kind != FileKind::hdf5 && !name.data_set.empty()) {
    throw ArgumentError(fmt::format("{} is a {} file, which has no data sets; expected its name without :{}", name.file,
                                    io::name(kind), name.data_set));
  }
  return {kind, identity};
}

// One rank looks, as machines may tell different identities of a file on the network.
void expect_unchanged(mpi::Context& context, const std::string& path, const MatrixFile& file) {
  on_rank_zero(context, [&] {
    if (File::open_to_read(file_of(path)).identity() == file.identity) return;
    throw FileError(fmt::format("{}: changed while it was being read; expected a file that is left alone", path));
  });
}

template <class T>
layout::DistributedMatrix<T> read_any(mpi::Context& context, const std::string& path, const MatrixFile& file,
                                      const Progress& progress) {
  if (const auto* npy = std::get_if<NpyHeader>(&file.header)) return read_npy<T>(context, path, *npy, progress);
  if (const auto* hdf5 = std::get_if<Hdf5Header>(&file.header)) {
    return read_hdf5<T>(context, mpi::agreed(context, [&] { return file_of(path); }), *hdf5, progress);
  }
  if constexpr (std::is_same_v<T, double>) {
    if (const auto* rows = std::get_if<TextRows>(&file.header)) return read_text_rows(context, path, *rows, progress);
  }
  if constexpr (MatrixMarketElement<T>) {
    return read_matrix_market<T>(context, path, std::get<MatrixMarketHeader>(file.header), progress);
  } else {
    throw ArgumentError(fmt::format("T is {}; the header says {}", name(dtype_of<T>()), name(file.dtype)));
  }
}

}  // namespace

std::string_view name(FileKind kind) {
  return std::array{"NumPy .npy", "Matrix Market", "HDF5", "CSV", "LIBSVM"}[static_cast<std::size_t>(kind)];
}

std::string file_of(const std::string& path) { return parse_hdf5_name(path).file; }

MatrixFile describe_file(mpi::Context& context, const std::string& path, Dimensions wanted) {
  const Hdf5Name name = mpi::agreed(context, [&] { return parse_hdf5_name(path); });
  const auto [kind, identity] = told_by_rank_zero(context, [&] { return kind_and_identity(name); });
  if (kind == FileKind::npy) {
    const NpyHeader header = read_npy_header(context, path, wanted);
    return {kind, header.dtype, header.shape, header.order, header, identity, header.extents};
  }
  if (kind == FileKind::hdf5) {
    auto header = read_hdf5_header(context, name, wanted);
    const auto [dtype, shape, extents] = std::tuple(header.dtype, header.shape, header.extents);
    return {kind, dtype, shape, StorageOrder::row_major, std::move(header), identity, extents};
  }
  if (kind != FileKind::matrix_market) {
    const auto rows = describe_text_rows(context, path, kind == FileKind::csv ? TextFormat::csv : TextFormat::svm);
    return {kind, DType::f64, rows.shape, StorageOrder::row_major, rows, identity, Extents::of(rows.shape)};
  }
  const auto header = read_matrix_market_header(context, path);
  return {kind, header.dtype(), header.shape, StorageOrder::column_major, header, identity, Extents::of(header.shape)};
}

MatrixFile labels_of(MatrixFile file) {
  auto& rows = std::get<TextRows>(file.header);
  rows.format = TextFormat::svm_labels;
  file.shape.columns = rows.shape.columns = 1;
  file.extents = Extents::of(file.shape);
  return file;
}

MatrixFile with_columns_of(const std::string& other_path, const MatrixFile& other, const std::string& path,
                           MatrixFile file) {
  if (file.kind != FileKind::svm || other.kind != FileKind::svm) return file;
  auto& rows = std::get<TextRows>(file.header);
  const auto& wanted = std::get<TextRows>(other.header);
  const Index end = rows.base + rows.shape.columns, wanted_end = wanted.base + wanted.shape.columns;
  // Without a 0 a file may count from 0 as well, if its columns are among those of the other one.
  if (rows.base >= wanted.base && end <= wanted_end) {
    rows.base = wanted.base;
    file.shape.columns = rows.shape.columns = wanted.shape.columns;
    file.extents = Extents::of(file.shape);
  } else if (rows.base != wanted.base && rows.shape.columns > 0 && wanted.shape.columns > 0) {
    throw ArgumentError(fmt::format(
        "{} has columns from {} to {}, {} from {} to {}, so that one seems to count from 0 and the other from 1; "
        "expected both to count alike (if both count from 0, add 0:0 to a row of {})",
        path, rows.base, end - 1, other_path, wanted.base, wanted_end - 1, rows.base > 0 ? path : other_path));
  }
  return file;
}

std::string shape_text(const MatrixFile& file) {
  std::string text = layout::to_string(file.shape);
  const auto* const rows = std::get_if<TextRows>(&file.header);
  if (rows != nullptr && rows->format == TextFormat::svm)
    text += fmt::format(" with columns counted from {}", rows->base);
  if (rows != nullptr && rows->has_names) text += " below a line without numbers, taken for names of columns";
  return text;
}

template <FileElement T>
layout::DistributedMatrix<T> read_matrix_file(mpi::Context& context, const std::string& path, const MatrixFile& file,
                                              const Progress& progress) {
  expect_unchanged(context, path, file);  // before its size is found wrong
  auto matrix = read_any<T>(context, path, file, progress);
  expect_unchanged(context, path, file);
  return matrix;
}

#define PLAIT_INSTANTIATE(T)                                                                                   \
  template layout::DistributedMatrix<T> read_matrix_file(mpi::Context&, const std::string&, const MatrixFile&, \
                                                         const Progress&);
PLAIT_FOR_EACH_DTYPE(PLAIT_INSTANTIATE)
#undef PLAIT_INSTANTIATE

}  // namespace plait::io
