#include "plait/io/file_kind.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/io/slab.hpp"

#include "mpi/io/naive_npy.hpp"
#include "mpi/io/shared_scratch.hpp"

namespace plait::io {
namespace {

using layout::Shape;
using test::naive_npy;
using test::SharedScratch;
using test::text_thrown_alike;

TEST(MatrixFile, IsKnownByItsContentWhateverItsName) {
  SharedScratch scratch;
  scratch.write("a.mtx", naive_npy<float>({3, 4}, StorageOrder::row_major, true));
  const auto npy = describe_matrix_file(scratch.context(), scratch / "a.mtx");
  EXPECT_EQ(npy.kind, FileKind::npy);
  EXPECT_EQ(npy.dtype, DType::f32);
  EXPECT_EQ(npy.shape, (Shape{3, 4}));
  EXPECT_EQ(npy.order, StorageOrder::row_major);

  scratch.write("b.npy", "%%matrixmarket Matrix Coordinate Complex General\n3 4 0\n");
  const auto market = describe_matrix_file(scratch.context(), scratch / "b.npy");
  EXPECT_EQ(market.kind, FileKind::matrix_market);
  EXPECT_EQ(market.dtype, DType::c128);
  EXPECT_EQ(market.shape, (Shape{3, 4}));
  EXPECT_EQ(market.order, StorageOrder::column_major);
}

TEST(MatrixFile, IsReadWhateverItsKind) {
  SharedScratch scratch;
  auto& context = scratch.context();
  scratch.write("a", naive_npy<double>({2, 3}, StorageOrder::row_major));
  scratch.write("b", "%%MatrixMarket matrix array integer general\n2 3\n0\n1000\n1\n1001\n2\n1002\n");
  const auto npy = describe_matrix_file(context, scratch / "a");
  read_matrix_file<double>(context, scratch / "a", npy).for_each_element([](Index i, Index j, double value) {
    EXPECT_EQ(value, test::element<double>(i, j));
  });
  const auto market = describe_matrix_file(context, scratch / "b");
  const auto matrix = read_matrix_file<Index>(context, scratch / "b", market);
  EXPECT_EQ(matrix.layout(), slab_layout(market.shape, market.order, context.size()));
  matrix.for_each_element([](Index i, Index j, Index value) { EXPECT_EQ(value, 1000 * i + j); });
  EXPECT_EQ(text_thrown_alike<ArgumentError>(
                context, [&] { static_cast<void>(read_matrix_file<float>(context, scratch / "b", market)); }),
            "T is f32; the header says i64");
}

TEST(MatrixFile, ThatIsAnArchiveOfArraysIsRefusedAsSuch) {
  SharedScratch scratch;
  scratch.write("x.npz", "PK\x03\x04 and more");
  const auto refusal = [&](const std::string& path) {
    return text_thrown_alike<FileError>(
        scratch.context(), [&] { static_cast<void>(describe_matrix_file(scratch.context(), scratch / path)); });
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal("x.npz"), HasSubstr("x.npz: is a .npz archive of NumPy's; expected a file with one array"));
  EXPECT_THAT(refusal("x.npz:/w/0"), HasSubstr("x.npz:/w/0: is an array in a .npz archive of NumPy's"));
  EXPECT_THAT(refusal("x.npz:/w/0"), HasSubstr("x.npz\")[\"w/0\"]) writes"));
  EXPECT_THAT(refusal("none.npz:/w"), HasSubstr("none.npz: can't be opened"));
}

TEST(MatrixFile, ThatChangedSinceItWasDescribedIsRefused) {
  SharedScratch scratch;
  auto& context = scratch.context();
  const auto expect_refused = [&](const MatrixFile& file) {
    EXPECT_EQ(text_thrown_alike<FileError>(
                  context, [&] { static_cast<void>(read_matrix_file<double>(context, scratch / "M", file)); }),
              (scratch / "M") + ": changed while it was being read; expected a file that is left alone");
  };
  scratch.write("M", naive_npy<double>({2, 3}, StorageOrder::row_major));
  const auto written_to = describe_matrix_file(context, scratch / "M");
  scratch.write("M", naive_npy<double>({2, 4}, StorageOrder::row_major));
  expect_refused(written_to);

  auto replaced = describe_matrix_file(context, scratch / "M");
  replaced.identity.number += 1;  // as if a file of the same size and time had been another one
  expect_refused(replaced);
}

TEST(MatrixFile, OfNoKindIsRefusedWithItsBeginning) {
  SharedScratch scratch;
  auto& context = scratch.context();
  const std::vector<std::pair<std::string, std::string>> files{
      {"", "is empty"},
      {"x", "begins with \"x\""},
      {std::string("\x89HDF\r\n\x1a\0\0\0\"\\", 12),
       "begins with \"\\x89HDF\\x0d\\x0a\\x1a\\x00\\x00\\x00\\x22\\x5c\""},
      {"1.0, 2.0, 3.0\n4.0, 5.0, 6.0\n", "begins with \"1.0, 2.0, 3.0\\x0a4.\""},
      {"\x93NUMP", "begins with \"\\x93NUMP\""},
  };
  for (const auto& [content, found] : files) {
    scratch.write("M", content);
    const auto text =
        text_thrown_alike<FileError>(context, [&] { static_cast<void>(describe_matrix_file(context, scratch / "M")); });
    EXPECT_EQ(text, (scratch / "M") + ": " + found +
                        "; expected a NumPy .npy file, which begins with \"\\x93NUMPY\", a Matrix Market file, which "
                        "begins with \"%%MatrixMarket\", an HDF5 file, or a name in .csv or .svm");
  }
}

}  // namespace
}  // namespace plait::io
