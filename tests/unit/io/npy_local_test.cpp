#include <complex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/io/npy/npy.hpp"

#include "support/message_of.hpp"
#include "unit/io/scratch.hpp"

namespace plait::io {
namespace {

using test::read_file;
using test::ScratchFolder;
using ::testing::ElementsAre;

// Element by element, what the file must hold after its header.
template <class T>
std::string elements_of(matrix_view<const T> matrix) {
  std::string bytes;
  for (Index major = 0; major < matrix.major_extent(); ++major) {
    for (Index minor = 0; minor < matrix.minor_extent(); ++minor) {
      const bool by_columns = matrix.order() == StorageOrder::column_major;
      const T value = by_columns ? matrix(minor, major) : matrix(major, minor);
      bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
    }
  }
  return bytes;
}

template <class T>
class WriteNpyLocal : public ::testing::Test {};
using Types = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                               std::uint32_t, std::uint64_t, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(WriteNpyLocal, Types);

TYPED_TEST(WriteNpyLocal, WritesAnyViewWithoutItsGaps) {
  const ScratchFolder folder;
  const std::string path = folder / "m.npy";
  for (const auto& [rows, columns] : {std::pair{0, 3}, {1, 5}, {33, 20}}) {
    for (const auto order : {StorageOrder::row_major, StorageOrder::column_major}) {
      for (const Index gap : {0, 5}) {
        const Index leading = std::max<Index>(1, order == StorageOrder::row_major ? columns : rows) + gap;
        std::vector<TypeParam> memory(static_cast<std::size_t>(leading * 40));
        for (std::size_t i = 0; i < memory.size(); ++i)
          memory[i] = static_cast<TypeParam>(static_cast<std::int8_t>(i % 127));
        const matrix_view<const TypeParam> view(memory.data(), rows, columns, leading, order);
        write_npy_local(path, view);
        const auto header = read_npy_header_local(path);
        EXPECT_EQ(header.dtype, dtype_of<TypeParam>());
        EXPECT_EQ(header.order, order);
        EXPECT_EQ(header.shape, (layout::Shape{rows, columns}));
        EXPECT_EQ(read_file(path).substr(static_cast<std::size_t>(header.data_offset)), elements_of(view));
      }
    }
  }
  EXPECT_THAT(folder.names(), ElementsAre("m.npy"));
}

TEST(WriteNpyLocalProgress, CountsTheBytesUpToAll) {
  const ScratchFolder folder;
  constexpr Index rows = 3000;
  constexpr Index columns = 1000;  // in pieces of 16 MiB, two
  const std::vector<double> memory(static_cast<std::size_t>((rows + 1) * columns));
  for (const Index leading : {rows, rows + 1}) {
    std::vector<Index> told;
    write_npy_local<double>(folder / "m.npy", {memory.data(), rows, columns, leading},
                            [&](Index done) { told.push_back(done); });
    ASSERT_EQ(told.size(), 2U);
    EXPECT_LT(told[0], told[1]);
    EXPECT_EQ(told[1], rows * columns * 8);
  }
}

TEST(ReadNpyHeader, RefusesFilesThatEndTooEarly) {
  const ScratchFolder folder;
  const std::string path = folder / "m.npy";
  const std::string whole = npy_header_text(DType::f64, Extents::of({3, 4}), StorageOrder::row_major);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    test::write_file(path, whole.substr(0, size));
    const auto expected = size < 10 ? std::string("at least 10") : std::to_string(whole.size());
    EXPECT_THAT(
        test::message_of<FileError>([&] { return read_npy_header_local(path); }),
        path + ": is truncated: it has " + std::to_string(size) + " bytes; expected " + expected + " of header");
  }
}

TEST(ReadNpyHeader, ReadsVeryLongOnes) {
  const ScratchFolder folder;
  const std::string path = folder / "m.npy";
  std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
  text += std::string(10000 - text.size(), ' ') + "\n";
  test::write_file(path, std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size() % 256) +
                             static_cast<char>(text.size() / 256) + text);
  EXPECT_EQ(read_npy_header_local(path).data_offset, static_cast<Index>(text.size()) + 10);
}

}  // namespace
}  // namespace plait::io
