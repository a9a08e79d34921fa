#include "plait/io/matrix_market/matrix_market_entries.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait::io {
namespace {

using ::testing::StartsWith;
using Complex = std::complex<double>;
using Symmetry = MatrixMarketSymmetry;

template <class T>
MatrixMarketEntries<T> entries(const std::string& words, const std::string& size, Index first_entry = 0) {
  const auto header = parse_matrix_market_header("%%MatrixMarket matrix " + words + "\n" + size, true, "M.mtx");
  return {header.value(), "M.mtx", header->size_line + 1, first_entry};
}

TEST(MatrixMarketEntries, AreReadWithRowAndColumn) {
  auto real = entries<double>("coordinate real general", "3 4 9");
  EXPECT_EQ(real.read("1 1 2.5"), (MatrixEntry<double>{0, 0, 2.5}));
  EXPECT_EQ(real.read("  3\t4   -1.D+02 \r"), (MatrixEntry<double>{2, 3, -100}));
  auto integer = entries<Index>("coordinate integer general", "3 4 9");
  EXPECT_EQ(integer.read("2 4 9223372036854775807"), (MatrixEntry<Index>{1, 3, 9223372036854775807}));
  auto complex = entries<Complex>("coordinate complex general", "3 4 9");
  EXPECT_EQ(complex.read("2 1 1 -2"), (MatrixEntry<Complex>{1, 0, {1, -2}}));
  auto pattern = entries<double>("coordinate pattern general", "3 4 9");
  EXPECT_EQ(pattern.read("2 1"), (MatrixEntry<double>{1, 0, 1}));
}

TEST(MatrixMarketEntries, AreNotInBlankLinesAndComments) {
  auto reader = entries<double>("array real general", "2 2");
  for (const char* line : {"", "   ", "\r", "\t \r", "% comment", "  % comment"}) {
    EXPECT_EQ(reader.read(line), std::nullopt) << line;
    EXPECT_FALSE(MatrixMarketEntries<double>::has_entry(line)) << line;
  }
  EXPECT_EQ(reader.read("5"), (MatrixEntry<double>{0, 0, 5}));
}

// The places of an array's entries one after the other, by the definition.
std::vector<MatrixEntry<double>> naive_places(Symmetry symmetry, Index rows, Index columns) {
  std::vector<MatrixEntry<double>> result;
  for (Index column = 0; column < columns; ++column) {
    for (Index row = 0; row < rows; ++row) {
      const bool above = row < column;
      const bool diagonal = row == column;
      const bool stored =
          symmetry == Symmetry::general || (!above && !(symmetry == Symmetry::skew_symmetric && diagonal));
      if (stored) result.push_back({row, column, static_cast<double>(result.size())});
    }
  }
  return result;
}

TEST(MatrixMarketEntries, OfArraysComeColumnByColumnFromAnyOneOn) {
  const std::vector<std::pair<std::string, Symmetry>> symmetries{
      {"general", Symmetry::general}, {"symmetric", Symmetry::symmetric}, {"skew-symmetric", Symmetry::skew_symmetric}};
  for (const auto& [word, symmetry] : symmetries) {
    for (const auto& [rows, columns] : {std::pair{1, 1}, {2, 2}, {3, 3}, {5, 5}, {8, 8}, {3, 5}, {5, 1}, {1, 5}}) {
      if (rows != columns && symmetry != Symmetry::general) continue;
      const auto places = naive_places(symmetry, rows, columns);
      for (std::size_t first = 0; first <= places.size(); ++first) {
        auto reader = entries<double>("array real " + word, std::to_string(rows) + " " + std::to_string(columns),
                                      static_cast<Index>(first));
        for (std::size_t i = first; i < places.size(); ++i) {
          ASSERT_EQ(reader.read(std::to_string(i)), places[i])
              << word << ' ' << rows << " x " << columns << " entry " << i;
        }
      }
    }
  }
}

TEST(MatrixMarketEntries, OfHugeArraysAreFound) {
  const Index n = 3000000000;
  const auto size = std::to_string(n) + " " + std::to_string(n);
  const Index before_last_column = n * n - n;
  auto general = entries<double>("array real general", size, before_last_column - 1);
  EXPECT_EQ(general.read("1"), (MatrixEntry<double>{n - 1, n - 2, 1}));
  EXPECT_EQ(general.read("2"), (MatrixEntry<double>{0, n - 1, 2}));
  auto symmetric = entries<double>("array real symmetric", size, (n * n - n) / 2 + n - 2);
  EXPECT_EQ(symmetric.read("1"), (MatrixEntry<double>{n - 1, n - 2, 1}));
  EXPECT_EQ(symmetric.read("2"), (MatrixEntry<double>{n - 1, n - 1, 2}));
}

TEST(MatrixMarketEntries, AreMirroredAsTheSymmetryTells) {
  const MatrixEntry<Complex> below{2, 1, {3, 4}};
  const MatrixEntry<Complex> diagonal{2, 2, {3, 0}};
  const auto mirrored = [&](const std::string& symmetry, const MatrixEntry<Complex>& entry) {
    return entries<Complex>("coordinate complex " + symmetry, "3 3 9").mirrored(entry);
  };
  EXPECT_EQ(mirrored("general", below), std::nullopt);
  EXPECT_EQ(mirrored("symmetric", below), (MatrixEntry<Complex>{1, 2, {3, 4}}));
  EXPECT_EQ(mirrored("skew-symmetric", below), (MatrixEntry<Complex>{1, 2, {-3, -4}}));
  EXPECT_EQ(mirrored("hermitian", below), (MatrixEntry<Complex>{1, 2, {3, -4}}));
  EXPECT_EQ(mirrored("symmetric", diagonal), std::nullopt);
  EXPECT_EQ(mirrored("hermitian", diagonal), std::nullopt);
}

TEST(MatrixMarketEntries, AreRefusedWithTheirLine) {
  struct Case {
    std::string words;
    std::string line;
    std::string expected;
  };
  const std::vector<Case> cases{
      {"coordinate real general", "4 1 2.5", "row 4 is outside 1..3"},
      {"coordinate real general", "0 1 2.5", "row 0 is outside 1..3"},
      {"coordinate real general", "1 -1 2.5", "column -1 is outside 1..3"},
      {"coordinate real general", "1 2.0 2.5", "expected a whole number, found \"2.0\""},
      {"coordinate real general", "1 2", "expected a number, found the end of the line"},
      {"coordinate real general", "1", "expected a whole number, found the end of the line"},
      {"coordinate real general", "1 2 3 4", "\"4\" follows the entry; expected one entry to a line"},
      {"coordinate real general", "1 2 x", "expected a number, found \"x\""},
      {"coordinate real general", "1 2 1e999", "expected a number that a double can hold, found \"1e999\""},
      {"coordinate pattern general", "1 2 1", "\"1\" follows the entry"},
      {"coordinate complex general", "1 2 1", "expected a number, found the end of the line"},
      {"coordinate integer general", "1 2 1.5", "expected a whole number, found \"1.5\""},
      {"coordinate integer general", "1 2 9223372036854775808", "expected a whole number of 64 bits"},
      {"coordinate real symmetric", "1 2 1", "the entry at row 1, column 2 is above the diagonal; a symmetric file"},
      {"coordinate real skew-symmetric", "2 2 1", "a skew-symmetric matrix has no entries on the diagonal"},
      {"coordinate integer skew-symmetric", "2 1 -9223372036854775808", "-9223372036854775808 has no negative"},
      {"coordinate complex hermitian", "2 2 1 0.5", "the imaginary part of a diagonal element is 0.5; in a hermitian"},
      {"array real general", "1 2", "\"2\" follows the entry; expected one entry to a line"},
      {"array complex hermitian", "1 1", "the imaginary part of a diagonal element is 1"},
  };
  for (const auto& [words, line, expected] : cases) {
    const std::string size = words.starts_with("array") ? "3 3" : "3 3 9";
    const auto read_third_line = [&, line = line](auto reader) {
      static_cast<void>(reader.read("% comment"));
      static_cast<void>(reader.read(line));
    };
    const auto read = [&, words = words] {
      if (words.find("complex") != std::string::npos) return read_third_line(entries<Complex>(words, size));
      if (words.find("integer") != std::string::npos) return read_third_line(entries<Index>(words, size));
      read_third_line(entries<double>(words, size));
    };
    EXPECT_THAT(test::message_of<FileError>(read), StartsWith("M.mtx:4: " + expected)) << words << ": " << line;
  }
}

}  // namespace
}  // namespace plait::io
