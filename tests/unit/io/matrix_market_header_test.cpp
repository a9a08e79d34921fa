#include "plait/io/matrix_market/matrix_market_header.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait::io {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Format = MatrixMarketFormat;
using Field = MatrixMarketField;
using Symmetry = MatrixMarketSymmetry;

MatrixMarketHeader parsed_header(const std::string& text) {
  const auto header = parse_matrix_market_header(text, true, "M.mtx");
  EXPECT_TRUE(header.has_value()) << text;
  return header.value_or(MatrixMarketHeader{});
}

TEST(MatrixMarketHeader, TellsWhatTheFileHolds) {
  const std::string text = "%%MatrixMarket matrix coordinate real general\n% a comment\n\n 5 6 8\n1 1 2.5\n";
  const MatrixMarketHeader expected{
      Format::coordinate, Field::real, Symmetry::general, {5, 6}, 8, 4, static_cast<Index>(text.find("1 1"))};
  EXPECT_EQ(parsed_header(text), expected);
}

TEST(MatrixMarketHeader, MayBeInAnyCaseWithAnyLineEnds) {
  const auto header = parsed_header("%%matrixmarket\tMATRIX  Array Complex HERMITIAN\r\n%\r\n  \r\n3\t3\r\n");
  EXPECT_EQ(header.format, Format::array);
  EXPECT_EQ(header.field, Field::complex);
  EXPECT_EQ(header.symmetry, Symmetry::hermitian);
  EXPECT_EQ(header.shape, (layout::Shape{3, 3}));
  EXPECT_EQ(header.size_line, 4);
}

TEST(MatrixMarketHeader, TellsTheElementType) {
  const auto dtype = [](const std::string& field) {
    return parsed_header("%%MatrixMarket matrix coordinate " + field + " general\n1 1 0\n").dtype();
  };
  EXPECT_EQ(dtype("real"), DType::f64);
  EXPECT_EQ(dtype("double"), DType::f64);
  EXPECT_EQ(dtype("integer"), DType::i64);
  EXPECT_EQ(dtype("complex"), DType::c128);
  EXPECT_EQ(dtype("pattern"), DType::f64);
}

TEST(MatrixMarketHeader, CountsTheEntriesOfArrays) {
  const auto entries = [](const std::string& symmetry, const std::string& size) {
    return parsed_header("%%MatrixMarket matrix array complex " + symmetry + "\n" + size).entries;
  };
  EXPECT_EQ(entries("general", "4 7"), 28);
  EXPECT_EQ(entries("general", "4 0"), 0);
  EXPECT_EQ(entries("symmetric", "4 4"), 10);
  EXPECT_EQ(entries("hermitian", "4 4"), 10);
  EXPECT_EQ(entries("skew-symmetric", "4 4"), 6);
  EXPECT_EQ(entries("skew-symmetric", "0 0"), 0);
  EXPECT_EQ(entries("symmetric", "3000000000 3000000000"), 4500000001500000000);
}

TEST(MatrixMarketHeader, AsksForMoreUntilTheSizeLineIsThere) {
  const std::string text = "%%MatrixMarket matrix array real general\n% a comment\n5 6\n";
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_matrix_market_header(text.substr(0, size), false, "M.mtx").has_value()) << size;
  }
  EXPECT_TRUE(parse_matrix_market_header(text, false, "M.mtx").has_value());
  EXPECT_EQ(parsed_header(text.substr(0, text.size() - 1)).data_offset, static_cast<Index>(text.size()) - 1);
}

TEST(MatrixMarketHeader, RefusesWhatContradictsItselfWithTheLine) {
  const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n";
  const std::vector<std::pair<std::string, std::string>> texts{
      {"", "M.mtx:1: is no Matrix Market file: it does not begin with %%MatrixMarket"},
      {"1 2 3\n", "M.mtx:1: is no Matrix Market file"},
      {"%%MatrixMarketX matrix array real general\n", "M.mtx:1: is no Matrix Market file"},
      {"%%MatrixMarket vector array real general\n", "M.mtx:1: is a \"vector\"; only matrices are supported"},
      {"%%MatrixMarket matrix sparse real general\n",
       "M.mtx:1: the format is \"sparse\"; expected one of array, coordinate"},
      {"%%MatrixMarket matrix array quaternion general\n",
       "M.mtx:1: the field is \"quaternion\"; expected one of real, integer, complex, pattern, double"},
      {"%%MatrixMarket matrix array real\n",
       "M.mtx:1: the symmetry is \"\"; expected one of general, symmetric, skew-symmetric, hermitian"},
      {"%%MatrixMarket matrix array pattern general\n", "M.mtx:1: an array can't be a pattern"},
      {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n", "M.mtx:1: a pattern can't be skew-symmetric"},
      {"%%MatrixMarket matrix array real hermitian\n", "M.mtx:1: only a complex matrix can be hermitian"},
      {coordinate, "M.mtx:2: the file ends before the line with the size of the matrix"},
      {coordinate + "% only\n%\n% comments\n", "M.mtx:5: the file ends before"},
      {coordinate + "\n3 4\n", "M.mtx:3: the number of entries: expected a whole number, found the end of the line"},
      {coordinate + "3 four 5\n", "M.mtx:2: the number of columns: expected a whole number, found \"four\""},
      {coordinate + "3 4 5 6\n", "M.mtx:2: \"6\" follows the size of a coordinate matrix; expected 3 numbers"},
      {"%%MatrixMarket matrix array real general\n3 4 5\n",
       "M.mtx:2: \"5\" follows the size of an array; expected 2 numbers"},
      {coordinate + "-3 4 5\n", "M.mtx:2: the number of rows is -3; it can't be negative"},
      {coordinate + "99999999999999999999 4 5\n", "M.mtx:2: the number of rows: expected a whole number of 64 bits"},
      {coordinate + "4294967296 4294967296 1\n", "M.mtx:2: "},
      {"%%MatrixMarket matrix coordinate real symmetric\n3 4 0\n",
       "M.mtx:2: only a square matrix can be symmetric, and this one is 3 x 4"},
  };
  for (const auto& [text, expected] : texts) {
    EXPECT_THAT(test::message_of<FileError>(
                    [text = text] { static_cast<void>(parse_matrix_market_header(text, true, "M.mtx")); }),
                StartsWith(expected))
        << text;
  }
}

}  // namespace
}  // namespace plait::io
