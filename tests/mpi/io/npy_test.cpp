#include "plait/io/npy/npy.hpp"

#include <fstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/io/slab.hpp"
#include "plait/mpi/collectives.hpp"

#include "mpi/io/naive_npy.hpp"
#include "mpi/io/shared_scratch.hpp"

namespace plait::io {
namespace {

using layout::DistributedMatrix;
using layout::Layout;
using layout::Shape;
using test::by_columns;
using test::by_rows;
using test::element;
using test::naive_elements;
using test::naive_npy;
using test::SharedScratch;

// Fewer rows and columns than ranks, as many, more; empty in either direction or both.
const std::vector<Shape> shapes{{0, 0}, {0, 4}, {4, 0}, {1, 1}, {1, 9}, {9, 1}, {3, 2}, {5, 5}, {17, 23}};

template <class T>
void fill(DistributedMatrix<T>& matrix) {
  matrix.for_each_element([](Index i, Index j, T& value) { value = element<T>(i, j); });
}

template <class T>
void expect_filled(const DistributedMatrix<T>& matrix) {
  matrix.for_each_element(
      [](Index i, Index j, const T& value) { EXPECT_EQ(value, element<T>(i, j)) << i << ", " << j; });
}

template <class T>
class Npy : public ::testing::Test {};
using Elements =
    ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                     std::uint64_t, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Npy, Elements);

TYPED_TEST(Npy, IsReadInSlabsOfItsOrderFromEitherEndianness) {
  SharedScratch scratch;
  for (const Shape shape : shapes) {
    for (const auto order : {by_rows, by_columns}) {
      for (const bool big_endian : {false, true}) {
        scratch.write("m.npy", naive_npy<TypeParam>(shape, order, big_endian));
        const auto header = read_npy_header(scratch.context(), scratch / "m.npy");
        EXPECT_EQ(header.dtype, dtype_of<TypeParam>());
        EXPECT_EQ(header.shape, shape);
        EXPECT_EQ(header.order, order);
        const auto matrix = read_npy<TypeParam>(scratch.context(), scratch / "m.npy", header);
        EXPECT_EQ(matrix.layout(), slab_layout(shape, order, scratch.context().size()));
        EXPECT_EQ(matrix.rank(), scratch.context().rank());
        expect_filled(matrix);
        mpi::barrier(scratch.context().comm());  // before the file is written again
      }
    }
  }
}

TYPED_TEST(Npy, IsWrittenAsOneProcessWouldWriteIt) {
  SharedScratch scratch;
  for (const Shape shape : {Shape{0, 4}, Shape{3, 2}, Shape{17, 23}}) {
    for (const auto order : {by_rows, by_columns}) {
      DistributedMatrix<TypeParam> matrix(slab_layout(shape, order, scratch.context().size()),
                                          scratch.context().rank());
      fill(matrix);
      write_npy(scratch.context(), scratch / "m.npy", matrix);
      EXPECT_EQ(test::read_file(scratch / "m.npy"), npy_header_text(dtype_of<TypeParam>(), Extents::of(shape), order) +
                                                        naive_elements<TypeParam>(shape, order));
      EXPECT_EQ(scratch.names(), "m.npy");
    }
  }
}

TEST(NpyFile, IsReadInAllFormatsAndWithBytesThatFollow) {
  SharedScratch scratch;
  for (const int version : {1, 2, 3}) {
    scratch.write("m.npy", naive_npy<double>({7, 5}, by_columns, false, version) + "and something else");
    const auto header = read_npy_header(scratch.context(), scratch / "m.npy");
    expect_filled(read_npy<double>(scratch.context(), scratch / "m.npy", header));
    mpi::barrier(scratch.context().comm());
  }
}

TEST(NpyFile, CanBeReadByRowsAndWrittenByColumnsWhereTheyAreTheSame) {
  SharedScratch scratch;
  scratch.write("m.npy", naive_npy<double>({1, 6}, by_rows));
  const auto header = read_npy_header(scratch.context(), scratch / "m.npy");
  auto by_column = header;
  by_column.order = by_columns;  // a single row lies alike in both orders
  expect_filled(read_npy<double>(scratch.context(), scratch / "m.npy", by_column));
}

TEST(NpyFile, IsReadAndWrittenInSeveralPieces) {
  SharedScratch scratch;
  const Shape shape{3 * scratch.context().size(), 3000000 / scratch.context().size()};  // 72 MB
  const auto layout = slab_layout(shape, by_rows, scratch.context().size());
  DistributedMatrix<double> matrix(layout, scratch.context().rank());
  fill(matrix);
  std::vector<Index> told;
  const Progress tell = [&](Index done) { told.push_back(done); };
  const Index bytes = layout.elements_of(scratch.context().rank()) * 8;
  write_npy(scratch.context(), scratch / "m.npy", matrix, tell);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), bytes);

  told.clear();
  auto header = read_npy_header(scratch.context(), scratch / "m.npy");
  const auto back = read_npy<double>(scratch.context(), scratch / "m.npy", header, tell);
  EXPECT_EQ(told.back(), bytes);
  EXPECT_EQ(test::slab_text(back), test::slab_text(matrix));

  if (scratch.context().rank() == 0) {
    std::fstream file(scratch / "m.npy");
    file.seekp(21);  // behind the magic string, the version, the header's length and "{'descr': '"
    file << '>';
  }
  mpi::barrier(scratch.context().comm());
  header = read_npy_header(scratch.context(), scratch / "m.npy");
  ASSERT_TRUE(header.big_endian);
  const auto swapped = read_npy<double>(scratch.context(), scratch / "m.npy", header);
  auto expected = test::slab_text(matrix);
  for (auto at = expected.begin(); at != expected.end(); at += 8) std::reverse(at, at + 8);
  EXPECT_TRUE(test::slab_text(swapped) == expected);
}

}  // namespace
}  // namespace plait::io
