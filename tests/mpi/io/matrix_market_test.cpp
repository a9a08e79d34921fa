#include "plait/io/matrix_market/matrix_market.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/io/slab.hpp"

#include "mpi/io/naive_matrix_market.hpp"
#include "mpi/io/shared_scratch.hpp"

namespace plait::io {
namespace {

using layout::DistributedMatrix;
using test::LineStyle;
using test::matrix_market_example;
using test::MatrixMarketExample;
using test::SharedScratch;
using test::text_thrown_alike;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Complex = std::complex<double>;
using Symmetry = MatrixMarketSymmetry;

constexpr std::uint64_t seed = 4711;

template <class T>
DistributedMatrix<T> read(SharedScratch& scratch, std::string_view text) {
  scratch.write("M.mtx", text);
  const auto header = read_matrix_market_header(scratch.context(), scratch / "M.mtx");
  auto matrix = read_matrix_market<T>(scratch.context(), scratch / "M.mtx", header);
  EXPECT_EQ(matrix.layout(), slab_layout(header.shape, StorageOrder::column_major, scratch.context().size()));
  mpi::barrier(scratch.context().comm());  // before the file is written again
  return matrix;
}

template <class T>
void expect_read(SharedScratch& scratch, MatrixMarketExample<T> example) {
  const auto matrix = read<T>(scratch, example.text);
  ASSERT_EQ(matrix.layout().shape(), (layout::Shape{example.rows, example.columns}));
  matrix.for_each_element([&](Index i, Index j, const T& value) {
    EXPECT_EQ(value, example.at(i, j)) << i << ", " << j << " of seed " << seed << "\n" << example.text;
  });
}

template <class T>
class MatrixMarket : public ::testing::Test {};
using Types = ::testing::Types<Index, double, Complex>;
TYPED_TEST_SUITE(MatrixMarket, Types);

TYPED_TEST(MatrixMarket, IsReadInAllFormatsAndSymmetries) {
  SharedScratch scratch;
  const std::vector<LineStyle> styles{{}, {"\r\n", true, true}, {"\n", true, false}};
  for (const auto symmetry : {Symmetry::general, Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian}) {
    if (symmetry == Symmetry::hermitian && !std::is_same_v<TypeParam, Complex>) continue;
    for (const auto& style : styles) {
      for (const Index entries : {-1, 0, 60}) {  // an array, and coordinates
        expect_read(scratch, matrix_market_example<TypeParam>(symmetry, 9, 9, entries, style, seed));
      }
    }
  }
}

TYPED_TEST(MatrixMarket, IsReadInAllShapes) {
  SharedScratch scratch;
  for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 7}, {7, 1}, {20, 3}, {3, 20}}) {
    expect_read(scratch, matrix_market_example<TypeParam>(Symmetry::general, rows, columns, -1, {}, seed));
    expect_read(scratch, matrix_market_example<TypeParam>(Symmetry::general, rows, columns, 17, {}, seed));
  }
  for (const auto& [rows, columns] : {std::pair{0, 0}, {0, 5}, {5, 0}}) {
    expect_read(scratch, matrix_market_example<TypeParam>(Symmetry::general, rows, columns, -1, {}, seed));
    expect_read(scratch, matrix_market_example<TypeParam>(Symmetry::general, rows, columns, 0, {}, seed));
  }
}

TEST(MatrixMarketFile, OfAPatternHasOnes) {
  SharedScratch scratch;
  const auto matrix =
      read<double>(scratch, "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n3 1\n3 2\n");
  const std::vector<double> expected{1, 0, 1, 0, 0, 1, 1, 1, 0};  // by columns
  matrix.for_each_element([&](Index i, Index j, double value) {
    EXPECT_EQ(value, expected[static_cast<std::size_t>(i + 3 * j)]) << i << ", " << j;
  });
}

TEST(MatrixMarketFile, KeepsUnusualNumbers) {
  SharedScratch scratch;
  const auto matrix =
      read<double>(scratch, "%%MatrixMarket matrix array real general\n5 1\n-0\nnan\n-inf\n1.D-320\n+1\n");
  matrix.for_each_element([&](Index i, Index, double value) {
    const std::vector<bool> as_written{value == 0 && std::signbit(value), std::isnan(value),
                                       value == -std::numeric_limits<double>::infinity(), value == 1e-320, value == 1};
    EXPECT_TRUE(as_written[static_cast<std::size_t>(i)]) << i << ": " << value;
  });
}

// Every rank sends all of its elements to the first.
TEST(MatrixMarketFile, IsReadHoweverManyEntriesOneRankGets) {
  SharedScratch scratch;
  const int entries = 400'000;
  std::string text = "%%MatrixMarket matrix coordinate real general\n4 16 " + std::to_string(entries) + "\n";
  for (int i = 0; i < entries; ++i) text += i % 4 == 3 ? "4 1 1\n" : "2 1 2\n";
  const auto matrix = read<double>(scratch, text);
  matrix.for_each_element([&](Index i, Index j, double value) {
    const double expected = j != 0 ? 0 : i == 1 ? 1.5 * entries : i == 3 ? 0.25 * entries : 0;
    EXPECT_EQ(value, expected) << i << ", " << j;
  });
}

TEST(MatrixMarketFile, TellsHowFarItIs) {
  SharedScratch scratch;
  const auto example = matrix_market_example<double>(Symmetry::general, 10, 10, -1, {}, seed);
  scratch.write("M.mtx", example.text);
  const auto header = read_matrix_market_header(scratch.context(), scratch / "M.mtx");
  Index told = 0;
  static_cast<void>(
      read_matrix_market<double>(scratch.context(), scratch / "M.mtx", header, [&](Index done) { told = done; }));
  EXPECT_EQ(mpi::all_reduce(scratch.context().comm(), told, MPI_SUM),
            static_cast<Index>(example.text.size()) - header.data_offset);
}

template <class T>
std::string error_of(SharedScratch& scratch, std::string_view text) {
  scratch.write("M.mtx", text);
  const auto header = read_matrix_market_header(scratch.context(), scratch / "M.mtx");
  const auto thrown = text_thrown_alike<FileError>(scratch.context(), [&] {
    static_cast<void>(read_matrix_market<T>(scratch.context(), scratch / "M.mtx", header));
  });
  EXPECT_THAT(thrown, StartsWith(scratch / "M.mtx"));
  return thrown.substr(std::min(thrown.size(), (scratch / "").size()));
}

TEST(MatrixMarketErrors, NameTheLineWhereverItIs) {
  SharedScratch scratch;
  constexpr int lines = 50;
  for (const int wrong : {0, 1, 17, 25, 48, 49}) {
    std::string text = "%%MatrixMarket matrix coordinate real general\n% comment\n\n10 10 50\n";
    for (int i = 0; i < lines; ++i) text += i == wrong ? "12 3 4\n" : "1 2 3\n";
    EXPECT_EQ(error_of<double>(scratch, text), "M.mtx:" + std::to_string(5 + wrong) + ": row 12 is outside 1..10");
  }
}

TEST(MatrixMarketErrors, NameTheFirstOfSeveralLines) {
  SharedScratch scratch;
  std::string text = "%%MatrixMarket matrix array real general\n100 1\n";
  for (int i = 0; i < 100; ++i) text += i >= 10 && i % 10 == 0 ? "oops\n" : "1.5\n";
  EXPECT_EQ(error_of<double>(scratch, text), "M.mtx:13: expected a number, found \"oops\"");
}

TEST(MatrixMarketErrors, TellHowManyEntriesThereAreAndShouldBe) {
  SharedScratch scratch;
  const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n10 10 3\n";
  EXPECT_EQ(
      error_of<double>(scratch, coordinate + "1 1 1\n"),
      "M.mtx: the number of lines with entries is 1; expected 3, one for each of the entries announced on line 2");
  EXPECT_EQ(
      error_of<double>(scratch, coordinate + "1 1 1\n\n1 2 3\n1 3 3\n1 4 4"),
      "M.mtx: the number of lines with entries is 4; expected 3, one for each of the entries announced on line 2");
  EXPECT_EQ(
      error_of<double>(scratch, "%%MatrixMarket matrix array real general\n2 3\n1 2 3\n4 5 6\n"),
      "M.mtx: the number of lines with entries is 2; expected 6, one for each of the elements of the array on line 2");
  EXPECT_EQ(
      error_of<double>(scratch, "%%MatrixMarket matrix array real general\n2 3\n"),
      "M.mtx: the number of lines with entries is 0; expected 6, one for each of the elements of the array on line 2");
}

TEST(MatrixMarketErrors, NameElementsWhoseSumIsTooLarge) {
  SharedScratch scratch;
  EXPECT_EQ(error_of<Index>(scratch,
                            "%%MatrixMarket matrix coordinate integer general\n10 10 3\n1 1 1\n"
                            "7 9 9223372036854775807\n7 9 1\n"),
            "M.mtx: the entries for row 7, column 9 add up to more than 64 bits");
}

TEST(MatrixMarketErrors, OfOneRankAreThrownOnEveryRank) {
  SharedScratch scratch;
  auto& context = scratch.context();
  scratch.write("M.mtx", matrix_market_example<double>(Symmetry::general, 10, 10, -1, {}, seed).text);
  const auto header = read_matrix_market_header(context, scratch / "M.mtx");
  const bool last = context.rank() == context.size() - 1;
  const std::string path = scratch / (last ? "missing" : "M.mtx");
  EXPECT_EQ(text_thrown_alike<FileError>(context,
                                         [&] { static_cast<void>(read_matrix_market<double>(context, path, header)); }),
            (scratch / "missing") + ": can't be opened: No such file or directory");
  const auto interrupted = [&] {
    static_cast<void>(read_matrix_market<double>(context, scratch / "M.mtx", header, [&](Index) {
      if (last) throw FileError("interrupted");
    }));
  };
  EXPECT_EQ(text_thrown_alike<FileError>(context, interrupted), "interrupted");
  EXPECT_EQ(text_thrown_alike<ArgumentError>(
                context, [&] { static_cast<void>(read_matrix_market<Index>(context, scratch / "M.mtx", header)); }),
            "T is i64; the header says f64");
  EXPECT_THAT(text_thrown_alike<FileError>(
                  context, [&] { static_cast<void>(read_matrix_market_header(context, scratch / "missing")); }),
              HasSubstr("No such file or directory"));
}

#ifndef __SANITIZE_ADDRESS__  // which takes so large a request for a mistake
TEST(MatrixMarketErrors, TellHowMuchMemoryThereIsNot) {
  SharedScratch scratch;
  auto& context = scratch.context();
  scratch.write("M.mtx", "%%MatrixMarket matrix coordinate real general\n536870912 1073741824 0\n");
  const auto header = read_matrix_market_header(context, scratch / "M.mtx");
  const auto text = text_thrown_alike<OutOfMemory>(
      context, [&] { static_cast<void>(read_matrix_market<double>(context, scratch / "M.mtx", header)); });
  EXPECT_THAT(text, StartsWith((scratch / "M.mtx") + ": no memory for the "));
  EXPECT_THAT(text, HasSubstr("that rank 0 holds of a 536870912 x 1073741824 matrix"));
}
#endif

}  // namespace
}  // namespace plait::io
