#include <complex>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/io/matrix_market/matrix_market.hpp"
#include "plait/layout/axis.hpp"

#include "mpi/io/naive_matrix_market.hpp"
#include "mpi/io/shared_scratch.hpp"

namespace plait::io {
namespace {

using layout::SparseRows;
using test::LineStyle;
using test::matrix_market_example;
using test::MatrixMarketExample;
using test::SharedScratch;
using test::text_thrown_alike;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Symmetry = MatrixMarketSymmetry;

constexpr std::uint64_t sparse_seed = 815;

template <class T>
SparseRows<T> read_rows(SharedScratch& scratch, std::string_view text) {
  scratch.write("S.mtx", text);
  const auto header = read_matrix_market_header(scratch.context(), scratch / "S.mtx");
  auto rows = read_matrix_market_rows<T>(scratch.context(), scratch / "S.mtx", header);
  mpi::barrier(scratch.context().comm());  // before the file is written again
  return rows;
}

/// That the rows are sound, this rank's, and hold what the example names.
template <class T>
void expect_rows(SharedScratch& scratch, MatrixMarketExample<T> example) {
  const auto rows = read_rows<T>(scratch, example.text);
  ASSERT_EQ(rows.shape, (layout::Shape{example.rows, example.columns}));
  const auto axis = layout::Axis::even(example.rows, scratch.context().size());
  ASSERT_EQ(rows.rows(), axis.local_extent(scratch.context().rank()));
  ASSERT_EQ(rows.first_row, mpi::sum_below(scratch.context().comm(), rows.rows()));
  ASSERT_EQ(rows.starts.front(), 0);
  ASSERT_EQ(rows.starts.back(), rows.entries());
  ASSERT_EQ(rows.values.size(), rows.columns.size());
  for (Index i = 0; i < rows.rows(); ++i) {
    std::vector<T> whole(static_cast<std::size_t>(example.columns));
    const auto columns = rows.columns_of(i);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (k > 0) {
        ASSERT_LT(columns[k - 1], columns[k]) << "row " << rows.first_row + i << "\n" << example.text;
      }
      whole[columns[k]] = rows.values_of(i)[k];
    }
    for (Index j = 0; j < example.columns; ++j) {
      EXPECT_EQ(whole[static_cast<std::size_t>(j)], example.at(rows.first_row + i, j))
          << rows.first_row + i << ", " << j << " of seed " << sparse_seed << "\n"
          << example.text;
    }
  }
}

TEST(SparseRows, AreReadInAllSymmetriesWithRepeatedEntries) {
  SharedScratch scratch;
  constexpr Index entries = 150;  // of 81 elements: some come again
  for (const auto symmetry : {Symmetry::general, Symmetry::symmetric, Symmetry::skew_symmetric}) {
    for (const LineStyle& style : {LineStyle{"\r\n", true, true}, LineStyle{"\n", true, false}}) {
      expect_rows(scratch, matrix_market_example<double>(symmetry, 9, 9, entries, style, sparse_seed));
    }
    expect_rows(scratch, matrix_market_example<Index>(symmetry, 9, 9, entries, {}, sparse_seed + 1));
  }
}

TEST(SparseRows, AreReadInAllShapesAlsoWithFewerThanRanks) {
  SharedScratch scratch;
  for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 30}, {30, 1}, {2, 7}, {23, 11}}) {
    expect_rows(scratch, matrix_market_example<double>(Symmetry::general, rows, columns, 20, {}, sparse_seed));
  }
  for (const auto& [rows, columns] : {std::pair{0, 0}, {0, 5}, {5, 0}}) {
    expect_rows(scratch, matrix_market_example<double>(Symmetry::general, rows, columns, 0, {}, sparse_seed));
  }
}

TEST(SparseRows, OfAPatternAreOnesAndKeepNamedZeros) {
  SharedScratch scratch;
  const auto pattern = read_rows<double>(
      scratch, "%%MatrixMarket matrix coordinate pattern symmetric\n% rows 2 and 4 are empty\n4 4 3\n1 1\n3 1\n3 3\n");
  const std::vector<std::vector<std::uint32_t>> expected{{0, 2}, {}, {0, 2}, {}};
  for (Index i = 0; i < pattern.rows(); ++i) {
    const auto columns = pattern.columns_of(i);
    EXPECT_EQ(std::vector<std::uint32_t>(columns.begin(), columns.end()),
              expected[static_cast<std::size_t>(pattern.first_row + i)]);
    for (const double value : pattern.values_of(i)) EXPECT_EQ(value, 1);
  }
  const auto zeros = read_rows<double>(scratch, "%%MatrixMarket matrix coordinate real general\n1 3 2\n1 2 0\n1 3 4\n");
  if (zeros.rows() == 1) {
    EXPECT_THAT(zeros.values, ElementsAre(0, 4));
  }
}

TEST(SparseRows, MayHaveFarMoreElementsThanEntries) {
  SharedScratch scratch;
  const auto rows = read_rows<double>(
      scratch,
      "%%MatrixMarket matrix coordinate real general\n5 4294967296 3\n5 4294967296 2\n5 1 3\n1 2147483649 4\n");
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto columns = rows.columns_of(i);
    const std::vector<std::uint32_t> found(columns.begin(), columns.end());
    if (rows.first_row + i == 4) {
      EXPECT_THAT(found, ElementsAre(0U, 4294967295U));
    } else if (rows.first_row + i == 0) {
      EXPECT_THAT(found, ElementsAre(2147483648U));
    } else {
      EXPECT_TRUE(found.empty());
    }
  }
}

template <class T>
std::string rows_error(SharedScratch& scratch, std::string_view text) {
  const auto thrown =
      text_thrown_alike<Error>(scratch.context(), [&] { static_cast<void>(read_rows<T>(scratch, text)); });
  mpi::barrier(scratch.context().comm());
  const std::string folder = scratch / "";
  return thrown.starts_with(folder) ? thrown.substr(folder.size()) : thrown;
}

TEST(SparseRows, AreRefusedWithTheLineOfWhatIsWrong) {
  SharedScratch scratch;
  const std::string general = "%%MatrixMarket matrix coordinate real general\n% a comment\n3 4 2\n";
  for (const auto& [line, message] :
       std::vector<std::pair<std::string, std::string>>{{"0 1 1", "S.mtx:5: row 0 is outside 1..3"},
                                                        {"4 1 1", "S.mtx:5: row 4 is outside 1..3"},
                                                        {"1 0 1", "S.mtx:5: column 0 is outside 1..4"},
                                                        {"1 5 1", "S.mtx:5: column 5 is outside 1..4"},
                                                        {"1.5 1 1", "S.mtx:5: "},
                                                        {"1 1", "S.mtx:5: expected a number"},
                                                        {"1 1 1 1", "S.mtx:5: \"1\" follows the entry"},
                                                        {"99999999999999999999 1 1", "S.mtx:5: "}}) {
    EXPECT_THAT(rows_error<double>(scratch, general + "1 1 1\n" + line + "\n"), ::testing::StartsWith(message));
  }
  EXPECT_THAT(rows_error<double>(scratch, "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 2 1\n"),
              HasSubstr("S.mtx:3: the entry at row 1, column 2 is above the diagonal"));
  EXPECT_THAT(rows_error<double>(scratch, "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 1\n"),
              HasSubstr("S.mtx:3: a skew-symmetric matrix has no entries on the diagonal"));
  EXPECT_EQ(rows_error<Index>(scratch,
                              "%%MatrixMarket matrix coordinate integer general\n10 10 3\n1 1 1\n7 9 "
                              "9223372036854775807\n7 9 1\n"),
            "S.mtx: the entries for row 7, column 9 add up to more than 64 bits");
}

TEST(SparseRows, AreRefusedWhereTheFileIsOfAnotherKindOrLength) {
  SharedScratch scratch;
  const std::string announced = "; expected 9223372036854775807, one for each of the entries announced on line 2";
  EXPECT_EQ(rows_error<double>(
                scratch, "%%MatrixMarket matrix coordinate real general\n3 3 9223372036854775807\n1 1 1\n2 2 2\n"),
            "S.mtx: the number of lines with entries is 2" + announced);
  EXPECT_THAT(rows_error<double>(scratch, "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n"),
              HasSubstr("the number of lines with entries is 1; expected 2"));
  EXPECT_THAT(rows_error<double>(scratch, "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\n2 2 2"),
              HasSubstr("the number of lines with entries is 2; expected 1"));
  EXPECT_THAT(rows_error<double>(scratch, "%%MatrixMarket matrix coordinate real general\n"),
              HasSubstr("the file ends before the line with the size of the matrix"));
  EXPECT_THAT(rows_error<double>(scratch, "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 "),
              HasSubstr("S.mtx:3: expected a number"));  // cut in the middle of a line
  EXPECT_THAT(rows_error<double>(scratch, "%%MatrixMarket matrix array real general\n1 1\n1\n"),
              HasSubstr("is an array, expected the coordinate format"));
  EXPECT_THAT(rows_error<Index>(scratch, "%%MatrixMarket matrix coordinate real general\n1 1 0\n"),
              HasSubstr("says f64"));
  EXPECT_THAT(rows_error<double>(scratch, "%%MatrixMarket matrix coordinate complex hermitian\n1 1 0\n"),
              HasSubstr("says c128"));
  EXPECT_THAT(rows_error<double>(scratch, "%%MatrixMarket matrix coordinate real general\n2 4294967297 0\n"),
              HasSubstr("has 4294967297 columns, expected 4294967296 at most"));
}

#ifndef __SANITIZE_ADDRESS__  // which takes so large a request for a mistake
TEST(SparseRows, OfMoreRowsThanThereIsMemoryForAreAnErrorOnEveryRank) {
  SharedScratch scratch;
  scratch.write("S.mtx", "%%MatrixMarket matrix coordinate real general\n140737488355328 1 0\n");
  const auto header = read_matrix_market_header(scratch.context(), scratch / "S.mtx");
  static_cast<void>(text_thrown_alike<OutOfMemory>(scratch.context(), [&] {
    static_cast<void>(read_matrix_market_rows<double>(scratch.context(), scratch / "S.mtx", header));
  }));
}
#endif

std::string content(SharedScratch& scratch, const std::string& name) {
  mpi::barrier(scratch.context().comm());
  std::stringstream text;
  text << std::ifstream(scratch / name).rdbuf();
  mpi::barrier(scratch.context().comm());
  return text.str();
}

TEST(SparseRows, AreWrittenAsTheyWereReadWithTheirSymmetry) {
  SharedScratch scratch;
  const std::string body = "4 4 5\n1 1 0.1\n2 1 2.5\n4 2 -1e-300\n4 3 3\n4 4 0\n";
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n" + body;
  const auto rows = read_rows<double>(scratch, symmetric);
  write_matrix_market(scratch.context(), scratch / "out.mtx", rows, Symmetry::symmetric);
  EXPECT_EQ(content(scratch, "out.mtx"), symmetric);
  write_matrix_market(scratch.context(), scratch / "out.mtx", rows);
  EXPECT_EQ(content(scratch, "out.mtx"),
            "%%MatrixMarket matrix coordinate real general\n4 4 8\n1 1 0.1\n1 2 2.5\n2 1 2.5\n2 4 -1e-300\n3 4 3\n"
            "4 2 -1e-300\n4 3 3\n4 4 0\n");
  const auto refuse = [&](const SparseRows<double>& of, Symmetry as) {
    return text_thrown_alike<ArgumentError>(
        scratch.context(), [&] { write_matrix_market(scratch.context(), scratch / "no.mtx", of, as); });
  };
  EXPECT_THAT(refuse(rows, Symmetry::hermitian), HasSubstr("expected general or symmetric"));
  const auto wide = read_rows<double>(scratch, "%%MatrixMarket matrix coordinate real general\n2 3 0\n");
  EXPECT_THAT(refuse(wide, Symmetry::symmetric), HasSubstr("the matrix is 2 x 3, expected as many rows as columns"));
}

}  // namespace
}  // namespace plait::io
