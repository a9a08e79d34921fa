#include "plait/io/graph/graph_file.hpp"

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

using graph::Vertex;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class GraphFile : public ::testing::Test {
 protected:
  graph::Graph read(const std::string& text, Asymmetry asymmetry = Asymmetry::refuse) {
    test::write_file(path_, text);
    return read_graph(path_, asymmetry);
  }
  void expect_refused(const std::string& text, const std::string& words) {
    EXPECT_THAT(test::message_of<FileError>([&] { return read(text); }), HasSubstr("g.graph" + words)) << text;
  }

  test::ScratchFolder folder_;
  std::string path_ = folder_ / "g.graph";
};

// Figure 2 of METIS' manual.
constexpr const char* manual = "7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n";

TEST_F(GraphFile, OfMetisIsReadWithVerticesCountedFromOne) {
  const auto graph = read(manual);
  EXPECT_EQ(graph.offsets, (Vector<Index>{0, 3, 6, 10, 14, 17, 20, 22}));
  EXPECT_EQ(graph.neighbours, (Vector<Vertex>{4, 2, 1, 0, 2, 3, 4, 3, 1, 0, 1, 2, 5, 6, 0, 2, 5, 4, 3, 6, 5, 3}));
  EXPECT_TRUE(graph.edge_weights.empty() && graph.vertex_weights.empty() && graph.vertex_sizes.empty());
}

TEST_F(GraphFile, OfMetisHasSizesWeightsAndWeightsOfEdgesAsItsFormatSays) {
  const std::vector<std::string> formats{"",   "0",   "000", "1",   "001", "10", "010",
                                         "11", "011", "100", "101", "110", "111"};
  for (const auto& format : formats) {
    const auto has = [&](std::size_t from_end) {
      return format.size() > from_end && format[format.size() - 1 - from_end] == '1';
    };
    std::string text = "2 1 " + format + "\n";
    for (int v = 0; v < 2; ++v) {
      if (has(2)) text += std::to_string(7 + v) + " ";
      if (has(1)) text += std::to_string(5 * v) + " ";
      text += std::to_string(2 - v);
      if (has(0)) text += " 9";
      text += "\n";
    }
    const auto graph = read(text);
    EXPECT_EQ(graph.neighbours, (Vector<Vertex>{1, 0})) << text;
    EXPECT_EQ(graph.vertex_sizes, has(2) ? (Vector<Index>{7, 8}) : Vector<Index>{}) << text;
    EXPECT_EQ(graph.vertex_weights, has(1) ? (Vector<Index>{0, 5}) : Vector<Index>{}) << text;
    EXPECT_EQ(graph.edge_weights, has(0) ? (Vector<Index>{9, 9}) : Vector<Index>{}) << text;
  }
}

TEST_F(GraphFile, OfMetisMayHaveCommentsEmptyLinesAndNoEndOfTheLastLine) {
  const auto expected = read("4 1\n\n3\n2\n\n");
  EXPECT_EQ(expected.offsets, (Vector<Index>{0, 0, 1, 2, 2}));
  for (const char* text : {"% one\n4 1\n% two\n\n  % three\n3\n\t2 \r\n%four\n\n", "4 1\n\n3\n2\n",
                           "4 1\n\n3\n2\n\n\n\n", "  4\t1 000 \n\n+3\n2\n\n% five", "4 1\r\n\r\n3\r\n2\r\n\r\n"}) {
    EXPECT_EQ(read(text), expected) << text;
  }
  EXPECT_EQ(read("0 0").offsets, (Vector<Index>{0}));
  EXPECT_EQ(read("1 0\n").offsets, (Vector<Index>{0, 0}));
}

TEST_F(GraphFile, MayHaveLinesOfAnyLength) {
  constexpr int n = 400'000;
  std::string hub;
  std::string text = std::to_string(n) + " " + std::to_string(n - 1) + "\n";
  for (int v = 2; v <= n; ++v) hub += std::to_string(v) + " ";
  text += hub + "\n";
  for (int v = 2; v <= n; ++v) text += "1\n";
  EXPECT_EQ(read(text).offsets[Index{1}], n - 1);
}

TEST_F(GraphFile, OfMetisIsRefusedWithTheLineThatIsWrong) {
  expect_refused("", ": is empty; expected a graph in METIS' format");
  expect_refused("% only\n", ": is empty");
  expect_refused("\x93NUMPY\x01", ": is a NumPy .npy file; expected a graph in METIS' format, a sparse matrix");
  expect_refused("PK\x03\x04", ": is an archive, as NumPy's .npz are; expected a graph");
  expect_refused("\x89HDF\r\n\x1a\n", ": is an HDF5 file; expected a graph");
  expect_refused("3 1\x1f\n", ": is binary, with \\x1f in byte 3; expected a graph");
  expect_refused("3\n", ":1: expected the number of edges, found the end of the line");
  expect_refused("x 3\n", ":1: expected a whole number, found \"x\"");
  expect_refused("3000000000 1\n", ":1: 3000000000 vertices; expected 0 to 2147483647");
  expect_refused("-1 0\n", ":1: -1 vertices");
  expect_refused("3 4\n", ":1: 4 edges; expected 0 to 3");
  expect_refused("2 1 2\n", ":1: fmt is 2; expected three digits, each 0 or 1");
  expect_refused("2 1 1000\n", ":1: fmt is 1000");
  expect_refused("2 1 10 3\n1 1 1 2\n1 1 1 1\n", ":1: 3 constraints, which is 3 weights a vertex; expected 1");
  expect_refused("2 1 10 0\n", ":1: 0 constraints; expected 1");
  expect_refused("2 1 0 1\n2\n1\n", ":1: a number of constraints, but fmt says that vertices have no weights");
  expect_refused("3 1\n2\n", ": ends after 1 of 3 vertices");
  expect_refused("% a\n2 1\n2\n% b\n3\n", ":5: vertex 2 has the neighbour 3; expected 1 to 2");
  expect_refused("2 1\n2\n0\n", ":3: vertex 2 has the neighbour 0; expected 1 to 2");
  expect_refused("2 1\n2\n1\n1\n", ":4: expected the end of the file after 2 vertices");
  expect_refused("2 1 1\n2 1\n1\n", ":3: expected the weight of an edge, found the end of the line");
  expect_refused("2 1 1\n2 0\n1 0\n", ":2: the weight of an edge 0 is below 1");
  expect_refused("2 1 10\n-4 2\n1 1\n", ":2: the weight -4 is below 0");
  expect_refused("2 1 10\n9223372036854775807 2\n1 1\n",
                 ":2: with the weight 9223372036854775807 their sum exceeds 2^62");
  expect_refused("2 1 10\n9223372036854775808 2\n1 1\n",
                 ":2: expected a whole number of 64 bits, found \"9223372036854775808\"");
  expect_refused("2 1 10\n" + std::string(70, '0') + "1 2\n1 1\n", ":2: a number of 64 digits or more");
  expect_refused("2 1 10\n+-1 2\n1 1\n", ":2: expected a whole number, found \"+-1\"");
  expect_refused("2 1 10\n1 2\n1x 1\n", ":3: expected a whole number, found \"1x\"");
  expect_refused("3 2\n2\n1 3\n2 2\n", ":4: vertex 3 has the neighbour 2 twice");
  expect_refused("2 1\n2\n2\n", ":3: vertex 2 is its own neighbour");
  expect_refused("3 1\n2\n\n2\n", ":2: vertex 1 has the neighbour 2, which (line 3) does not have 1");
  expect_refused("% c\n2 1 1\n2 4\n1 5\n", ":3: the edge of vertices 1 and 2 weighs something else in line 4");
  expect_refused("3 1\n2\n1 3\n2\n", ": has 2 edges, each at both of its ends; its first line says 1");
}

TEST_F(GraphFile, IsSymmetrisedWhereAsked) {
  EXPECT_EQ(read("3 1\n2 1\n3 3\n\n", Asymmetry::symmetrise), read("3 2\n2\n1 3\n2\n"));
  // Both ends together weigh 2^62 at most.
  EXPECT_EQ(read("2 1 1\n2 2305843009213693952\n\n", Asymmetry::symmetrise).edge_weights,
            Vector<Index>(Index{2}, Index{1} << 61));
  EXPECT_THROW(read("2 1 1\n2 2305843009213693953\n\n", Asymmetry::symmetrise), FileError);
}

TEST_F(GraphFile, OfMatrixMarketHasAnEdgeForEachEntryOffTheDiagonal) {
  const auto path = read("3 2\n2\n1 3\n2\n");
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate pattern symmetric\n% c\n3 3 3\n2 1\n3 2\n2 2\n"), path);
  EXPECT_EQ(read("%%matrixmarket matrix coordinate real general\n3 3 5\n2 1 0\n1 2 3\n3 2 1\n2 3 -1\n3 3 1e9\n"), path);
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate complex hermitian\n3 3 2\n2 1 0 1\n3 2 1 1\n"), path);
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 4\n3 2 4\n", Asymmetry::symmetrise),
            path);
  expect_refused("%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 4\n3 2 4\n",
                 ": has an entry in row 1, column 2, but none in row 2, column 1; --symmetrise adds that");
  expect_refused("%%MatrixMarket matrix coordinate pattern general\n3 4 1\n1 2\n",
                 ": is 3 x 4; expected a square matrix");
  expect_refused("%%MatrixMarket matrix array real general\n1 1\n1\n", ": is an array; expected a sparse matrix");
  expect_refused("%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n",
                 ": has 1 entries; its header says 2");
}

TEST_F(GraphFile, OfPartsIsWrittenAndReadInBothFormats) {
  const std::vector<int> parts{3, 0, 2147483646, 1};
  for (const char* name : {"p.npy", "g.graph.part.4"}) {
    const std::string path = folder_ / name;
    write_parts_aside(path, parts).publish();
    EXPECT_EQ(read_parts(path, 4), parts);
    EXPECT_THAT(test::message_of<FileError>([&] { return read_parts(path, 5); }),
                EndsWith("has the parts of 4 vertices; expected 5"));
  }
  EXPECT_EQ(test::read_file(folder_ / "g.graph.part.4"), "3\n0\n2147483646\n1\n");
  EXPECT_THAT(test::read_file(folder_ / "p.npy"), AllOf(HasSubstr("'<i4'"), HasSubstr("(4,)")));
  test::write_file(path_, "1\n-1\n");
  EXPECT_THAT(test::message_of<FileError>([&] { return read_parts(path_, 2); }),
              EndsWith("vertex 1 is in part -1; expected 0 to 2147483646"));
}

TEST_F(GraphFile, OfWholeNumbersIsReadExactlyWhateverTypeItHas) {
  const std::vector<Index> large{(Index{1} << 62) - 1, -5};
  write_npy_vector_aside<Index>(folder_ / "i.npy", large).publish();
  EXPECT_EQ(read_npy_integers(folder_ / "i.npy"), large);
  write_npy_vector_aside<float>(folder_ / "f.npy", std::vector<float>{3, -2}).publish();
  EXPECT_EQ(read_npy_integers(folder_ / "f.npy"), (std::vector<Index>{3, -2}));
  write_npy_vector_aside<double>(folder_ / "h.npy", std::vector<double>{3, .5}).publish();
  EXPECT_THAT(test::message_of<FileError>([&] { return read_npy_integers(folder_ / "h.npy"); }),
              EndsWith("element 1 is 0.5; expected whole numbers of 64 bits"));
  write_npy_vector_aside<std::uint64_t>(folder_ / "u.npy", std::vector<std::uint64_t>{~std::uint64_t{0}}).publish();
  EXPECT_THROW(static_cast<void>(read_npy_integers(folder_ / "u.npy")), FileError);
}

TEST_F(GraphFile, OfColumnsIsReadRowByRow) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  write_npy_local(folder_ / "r.npy", matrix_view<const double>(values.data(), 3, 2, 2, StorageOrder::row_major));
  write_npy_local(folder_ / "c.npy", matrix_view<const double>(values.data(), 2, 3, 2, StorageOrder::column_major));
  EXPECT_EQ(read_npy_columns(folder_ / "r.npy").values, values);
  EXPECT_EQ(read_npy_columns(folder_ / "c.npy").values, (std::vector<double>{1, 3, 5, 2, 4, 6}));
  write_npy_vector_aside<double>(folder_ / "v.npy", values).publish();
  EXPECT_EQ(read_npy_columns(folder_ / "v.npy").shape, (layout::Shape{6, 1}));
}

}  // namespace
}  // namespace plait::io
