// HDF5 files that plait writes and reads again, and what is wrong with others: every rank throws the same.
#include "plait/io/hdf5/hdf5.hpp"

#include <hdf5.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/io/file_kind.hpp"
#include "plait/io/matrix_output.hpp"
#include "plait/io/slab.hpp"

#include "mpi/io/naive_npy.hpp"
#include "mpi/io/shared_scratch.hpp"

namespace plait::io {
namespace {

using layout::DistributedMatrix;
using test::by_rows;
using test::element;
using test::SharedScratch;
using test::text_thrown_alike;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using SpaceExtents = std::vector<hsize_t>;

template <class T>
DistributedMatrix<T> example(mpi::Context& context, layout::Shape shape) {
  DistributedMatrix<T> slab(slab_layout(shape, by_rows, context.size()), context.rank());
  slab.for_each_element([](Index i, Index j, T& value) { value = element<T>(i, j); });
  return slab;
}

// Adds a data set without content.
void add(hid_t file, const char* name, const SpaceExtents& extents, hid_t type = H5T_NATIVE_DOUBLE) {
  const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  H5Dclose(H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT));
  H5Pclose(links);
  H5Sclose(space);
}

template <class F>
void make_on_rank_zero(SharedScratch& scratch, const std::string& name, F fill) {
  if (scratch.context().rank() == 0) {
    const hid_t file = H5Fcreate((scratch / name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    fill(file);
    H5Fclose(file);
  }
  mpi::barrier(scratch.context().comm());
}

std::string refused(SharedScratch& scratch, const std::string& name) {
  auto& context = scratch.context();
  const auto text =
      text_thrown_alike<FileError>(context, [&] { static_cast<void>(describe_matrix_file(context, scratch / name)); });
  const std::string file = file_of(scratch / name) + ": ";
  EXPECT_THAT(text, StartsWith(file));
  return text.substr(std::min(text.size(), file.size()));
}

template <class T>
void expect_round_trip(SharedScratch& scratch, layout::Shape shape) {
  auto& context = scratch.context();
  write_matrix_file(context, scratch / "M.h5:/a/b", example<T>(context, shape));
  const auto file = describe_matrix_file(context, scratch / "M.h5");
  EXPECT_EQ(file.kind, FileKind::hdf5);
  EXPECT_EQ(std::get<Hdf5Header>(file.header), (Hdf5Header{"/a/b", dtype_of<T>(), shape, io::Extents::of(shape)}));
  auto matrix = read_matrix_file<T>(context, scratch / "M.h5:a/b", file);
  EXPECT_EQ(matrix.layout(), slab_layout(shape, by_rows, context.size()));
  matrix.for_each_element([](Index i, Index j, const T& value) { EXPECT_EQ(value, element<T>(i, j)); });
  EXPECT_EQ(scratch.names(), "M.h5");
}

TEST(Hdf5, IsReadAsItWasWritten) {
  SharedScratch scratch;
  for (const layout::Shape shape : {layout::Shape{13, 7}, {1, 1}, {2, 5}, {0, 3}, {3, 0}, {40, 1}}) {
    expect_round_trip<double>(scratch, shape);
    expect_round_trip<std::complex<float>>(scratch, shape);
    expect_round_trip<std::uint16_t>(scratch, shape);
  }
}

TEST(Hdf5, ReplacesAFileThatHoldsNothingElseAndNoOther) {
  SharedScratch scratch;
  auto& context = scratch.context();
  write_hdf5(context, {scratch / "M.h5", {}}, example<float>(context, {5, 5}));
  write_hdf5(context, {scratch / "M.h5", {}}, example<double>(context, {2, 3}));
  const auto header = read_hdf5_header(context, {scratch / "M.h5", {}});
  EXPECT_EQ(header, (Hdf5Header{"/matrix", DType::f64, {2, 3}, io::Extents::of({2, 3})}));
  const auto text = text_thrown_alike<FileError>(
      context, [&] { write_hdf5(context, {scratch / "M.h5", "/other"}, example<float>(context, {1, 1})); });
  EXPECT_THAT(text, StartsWith((scratch / "M.h5") + ": holds /matrix, which would be lost"));
  EXPECT_EQ(read_hdf5_header(context, {scratch / "M.h5", {}}), header);
  EXPECT_EQ(scratch.names(), "M.h5");
}

TEST(Hdf5, AGroupOfArraysIsWrittenAndReplacedWhole) {
  SharedScratch scratch;
  auto& context = scratch.context();
  const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
  const auto write = [&](Index arrays) {
    std::vector<Hdf5Array> all{{"list", {1, {6}}, numbers}, {"none", {2, {0, 3}}, {}}};
    for (Index i = 0; i < arrays; ++i) all.push_back({fmt::format("{}", i), {2, {3, 2}}, numbers});
    write_hdf5_group(context, scratch / "M.h5", "/some/group", all, {{"about", "numbers"}, {"empty", ""}});
  };
  write(3);
  write(1);
  const auto header = read_hdf5_header(context, {scratch / "M.h5", "/some/group/0"});
  EXPECT_EQ(header, (Hdf5Header{"/some/group/0", DType::f64, {3, 2}, {2, {3, 2}}}));
  const auto found = read_hdf5<double>(context, scratch / "M.h5", header);
  found.for_each_element([&](Index i, Index j, double each) { EXPECT_EQ(each, 2 * i + j + 1); });
  EXPECT_EQ(read_hdf5_header(context, {scratch / "M.h5", "/some/group/list"}, io::columns).shape,
            (layout::Shape{6, 1}));
  const auto lost = text_thrown_alike<FileError>(
      context, [&] { write_hdf5_group(context, scratch / "M.h5", "/other", {{"list", {1, {6}}, numbers}}); });
  EXPECT_THAT(lost, StartsWith((scratch / "M.h5") + ": holds /some, which would be lost"));
  EXPECT_THAT(text_thrown_alike<FileError>(
                  context, [&] { write_hdf5(context, {scratch / "M.h5", "/some"}, example<float>(context, {1, 1})); }),
              StartsWith((scratch / "M.h5") + ": holds /some/group, which would be lost"));
}

TEST(Hdf5, ThatOneRankCanNotWriteLeavesTheOldFile) {
  SharedScratch scratch;
  auto& context = scratch.context();
  scratch.write("M.h5", "the old file");
  const auto slab = example<double>(context, {20, 20});
  const auto text = text_thrown_alike<Error>(context, [&] {
    write_hdf5(context, {scratch / "M.h5", {}}, slab, [&](Index) {
      if (context.rank() == context.size() / 2) throw std::runtime_error("interrupted");
    });
  });
  EXPECT_EQ(text, "interrupted");
  EXPECT_EQ(scratch.names(), "M.h5");
  EXPECT_EQ(test::read_file(scratch / "M.h5"), "the old file");
}

TEST(Hdf5, OfSeveralMatricesNeedsAName) {
  SharedScratch scratch;
  make_on_rank_zero(scratch, "M.h5", [](hid_t file) {
    add(file, "/H", {3, 4});
    add(file, "/group/S", {5, 6}, H5T_STD_I16BE);
    add(file, "/vector", {3});
  });
  EXPECT_EQ(refused(scratch, "M.h5"), "it has the matrices /H (3 x 4, f64), /group/S (5 x 6, i16); expected " +
                                          (scratch / "M.h5") + ":/H or the like");
  EXPECT_EQ(describe_matrix_file(scratch.context(), scratch / "M.h5:/group/S").shape, (layout::Shape{5, 6}));
  EXPECT_EQ(refused(scratch, "M.h5:/group/T"),
            "has no /group/T; it has the matrices /H (3 x 4, f64), /group/S (5 x 6, i16)");
  EXPECT_THAT(refused(scratch, "M.h5:/lost/T"), StartsWith("has no /lost; "));
  EXPECT_THAT(refused(scratch, "M.h5:/group"), StartsWith("/group is a group, expected a data set; "));
  EXPECT_THAT(refused(scratch, "M.h5:/H/x"), StartsWith("has no /H/x; "));
  EXPECT_THAT(refused(scratch, "M.h5:/vector"), StartsWith("/vector (3, f64) is no matrix; expected two dimensions"));
}

TEST(Hdf5, WithoutAMatrixIsRefusedWithWhatThereIs) {
  SharedScratch scratch;
  make_on_rank_zero(scratch, "empty", [](hid_t) {});
  EXPECT_THAT(refused(scratch, "empty"),
              StartsWith("it has no data set at all; expected a data set of two dimensions"));
  make_on_rank_zero(scratch, "others", [](hid_t file) {
    add(file, "cube", {2, 3, 4});
    add(file, "half", {2, 2}, H5T_STD_B8LE);
  });
  EXPECT_THAT(refused(scratch, "others"),
              StartsWith("it has no matrix, but the data sets /cube (2 x 3 x 4, f64), /half (2 x 2, "));
}

TEST(Hdf5, ThatIsNoneOrDamagedIsRefused) {
  SharedScratch scratch;
  auto& context = scratch.context();
  EXPECT_EQ(refused(scratch, "missing.h5:/x"), "can't be opened: No such file or directory");
  scratch.write("text.h5", "hello");
  EXPECT_THAT(refused(scratch, "text.h5:/x"),
              AllOf(StartsWith("begins with \"hello\""), EndsWith("an HDF5 file, or a name in .csv or .svm")));
  scratch.write("N.h5", test::naive_npy<double>({4, 4}, by_rows));
  const auto text = text_thrown_alike<ArgumentError>(
      context, [&] { static_cast<void>(describe_matrix_file(context, scratch / "N.h5:/x")); });
  EXPECT_EQ(text, (scratch / "N.h5") + " is a NumPy .npy file, which has no data sets; expected its name without :/x");
  write_hdf5(context, {scratch / "M.h5", {}}, example<double>(context, {40, 40}));
  if (context.rank() == 0) std::filesystem::resize_file(scratch / "M.h5", 5000);
  mpi::barrier(context.comm());
  EXPECT_THAT(refused(scratch, "M.h5"), StartsWith("is truncated: it has 5000 of "));
}

// HDF5 writes a member of a pair as its name, filled up to 8 bytes, and its offset.
TEST(Hdf5, OfATypeWithPartsBeyondItsEndIsRefused) {
  SharedScratch scratch;
  auto& context = scratch.context();
  using namespace std::literals;
  const auto second = "i\0\0\0\0\0\0\0\x08"sv;
  write_matrix_file(context, scratch / "M.h5", example<std::complex<double>>(context, {5, 7}));
  if (context.rank() == 0) {
    std::fstream file(scratch / "M.h5", std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    const auto at = bytes.find(second);
    ASSERT_NE(at, std::string::npos);
    file.seekp(static_cast<std::streamoff>(at + second.size() - 1));
    file.put('\x09');
  }
  mpi::barrier(context.comm());
  EXPECT_THAT(refused(scratch, "M.h5"), HasSubstr("has a member beyond the end of its compound"));
}

// The layout of chunks ends with their extents and the bytes of an element, of 4 bytes each.
TEST(Hdf5, OfChunksOfOtherElementsIsRefused) {
  SharedScratch scratch;
  using namespace std::literals;
  const auto extents = "\x07\0\0\0\x05\0\0\0\x08"sv;
  make_on_rank_zero(scratch, "M.h5", [](hid_t file) {
    const hid_t space = H5Screate_simple(2, SpaceExtents{20, 30}.data(), nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, 2, SpaceExtents{7, 5}.data());
    H5Dclose(H5Dcreate2(file, "M", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Pclose(properties);
    H5Sclose(space);
  });
  EXPECT_EQ(describe_matrix_file(scratch.context(), scratch / "M.h5").shape, (layout::Shape{20, 30}));
  if (scratch.context().rank() == 0) {
    std::fstream file(scratch / "M.h5", std::ios::in | std::ios::out | std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    const auto at = bytes.find(extents);
    ASSERT_NE(at, std::string::npos);
    file.seekp(static_cast<std::streamoff>(at + extents.size() - 1));
    file.put('\x10');
  }
  mpi::barrier(scratch.context().comm());
  EXPECT_THAT(refused(scratch, "M.h5"), HasSubstr("has chunks of elements of another size"));
}

// The layout of a block is its kind, its address and its size, of 8 bytes each but for the kind.
TEST(Hdf5, OfABlockTooSmallForItsElementsIsRefused) {
  SharedScratch scratch;
  auto& context = scratch.context();
  constexpr std::uint64_t stored = 77 * 91 * sizeof(double);
  write_matrix_file(context, scratch / "M.h5", example<double>(context, {77, 91}));
  if (context.rank() == 0) {
    std::fstream file(scratch / "M.h5", std::ios::in | std::ios::out | std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    std::string size(sizeof stored, '\0');
    std::memcpy(size.data(), &stored, sizeof stored);
    const auto at = bytes.find(size);
    ASSERT_NE(at, std::string::npos);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(size[0] - 8));
  }
  mpi::barrier(context.comm());
  EXPECT_THAT(refused(scratch, "M.h5"),
              HasSubstr("is damaged: 56048 bytes are stored for it, expected 7007 elements of 8"));
}

TEST(Hdf5, IsReadBeyondTwoToThe31Elements) {
  SharedScratch scratch;
  if (scratch.context().rank() != 0) return;
  constexpr hsize_t rows = (hsize_t{1} << 20) + 7;
  constexpr hsize_t columns = 4096;
  const std::string path = scratch / "large.h5";
  const std::vector<std::uint8_t> line(columns, 42);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(2, SpaceExtents{rows, columns}.data(), nullptr);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);  // so that the file has a hole where nothing is written
  const hid_t matrix = H5Dcreate2(file, "M", H5T_STD_U8LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  for (const hsize_t row : {rows - 2, rows / 2 + 5}) {
    H5Sselect_hyperslab(space, H5S_SELECT_SET, SpaceExtents{row, 0}.data(), nullptr, SpaceExtents{1, columns}.data(),
                        nullptr);
    const hid_t memory = H5Screate_simple(2, SpaceExtents{1, columns}.data(), nullptr);
    ASSERT_GE(H5Dwrite(matrix, H5T_NATIVE_UINT8, memory, space, H5P_DEFAULT, line.data()), 0);
    H5Sclose(memory);
  }
  H5Dclose(matrix);
  H5Pclose(properties);
  H5Sclose(space);
  ASSERT_GE(H5Fclose(file), 0);

  const auto header = read_hdf5_header_local({path, {}});
  EXPECT_EQ(header.shape, (layout::Shape{rows, columns}));
  std::vector<std::uint8_t> got(3 * columns);
  read_hdf5_rows(path, header, rows - 3, 3, std::as_writable_bytes(std::span(got)).data());
  EXPECT_EQ(std::vector(got.begin(), got.begin() + columns), std::vector<std::uint8_t>(columns, 0));
  EXPECT_EQ(std::vector(got.begin() + columns, got.begin() + 2 * columns), line);
  read_hdf5_rows(path, header, rows / 2 + 4, 3, std::as_writable_bytes(std::span(got)).data());
  EXPECT_EQ(std::vector(got.begin() + columns, got.begin() + 2 * columns), line);
}

}  // namespace
}  // namespace plait::io
