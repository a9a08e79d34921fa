#include "plait/io/graph/gmsh_file.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"
#include "unit/io/scratch.hpp"

namespace plait::io {
namespace {

using graph::CellKind;
using graph::Vertex;
using ::testing::HasSubstr;

/// What sections of a file hold, to be written in text or binary.
class Writer {
 public:
  enum class As : unsigned char { text, binary, swapped };
  explicit Writer(As as) : as_(as) {
    text_ = as == As::text ? "$MeshFormat\n4.1 0 8\n" : "$MeshFormat\n4.1 1 8\n";
    if (as != As::text) put(std::int32_t{1});
    text_ += "\n$EndMeshFormat\n$Comments\n$Ende $Nodes 1 2\n$EndComments\n";
  }
  Writer& begin(const std::string& name) {
    text_ += "$" + name + "\n";
    return *this;
  }
  Writer& end(const std::string& name) {
    text_ += "\n$End" + name + "\n";
    return *this;
  }
  Writer& ints(const std::vector<int>& numbers) { return all<std::int32_t>(numbers); }
  Writer& counts(const std::vector<Index>& numbers) { return all<Index>(numbers); }
  Writer& reals(const std::vector<double>& numbers) { return all<double>(numbers); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <class T, class From>
  Writer& all(const std::vector<From>& numbers) {
    for (const auto number : numbers) put(static_cast<T>(number));
    return *this;
  }
  template <class T>
  void put(T number) {
    if (as_ == As::text) {
      text_ += std::to_string(number) + (text_.size() % 3 == 0 ? "\n" : " ");
      return;
    }
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    if (as_ == As::swapped) std::ranges::reverse(bytes);
    text_ += bytes;
  }

  As as_;
  std::string text_;
};

/// Two triangles, one of them curved, and a quadrangle in a row, with a point and lines that are left out; nodes in two
/// blocks, one of which has parameters, whose numbers have gaps.
std::string small_mesh(Writer::As as) {
  Writer writer(as);
  writer.begin("Nodes").counts({2, 8, 5, 900});
  writer.ints({1, 7, 1}).counts({3, 30, 10, 20}).reals({0, 0, 0, .5, 1, 0, 0, .25, 1, 1, 0, .75});
  writer.ints({2, 1, 0}).counts({5, 900, 5, 80, 70, 60});
  writer.reals({0, 1, 0, 2, 0, 0, 2, 1, 0, .5, .5, 0, .2, .2, 0}).end("Nodes");
  writer.begin("Elements").counts({5, 6, 1, 99});
  writer.ints({0, 1, 15}).counts({1, 1, 10}).ints({1, 2, 8}).counts({1, 2, 30, 10, 70});
  writer.ints({2, 1, 2}).counts({1, 3, 30, 10, 900}).ints({2, 2, 9}).counts({1, 99, 10, 20, 900, 70, 60, 70});
  writer.ints({2, 1, 3}).counts({2, 5, 10, 5, 80, 20, 6, 10, 5, 80, 20}).end("Elements");
  return writer.text();
}

class GmshFile : public ::testing::Test {
 protected:
  graph::Mesh read(const std::string& text) {
    test::write_file(path_, text);
    return read_gmsh(path_);
  }
  void expect_refused(const std::string& text, const std::string& words) {
    EXPECT_THAT(test::message_of<FileError>([&] { return read(text); }), HasSubstr("m.msh" + words)) << text;
  }

  test::ScratchFolder folder_;
  std::string path_ = folder_ / "m.msh";
};

TEST_F(GmshFile, IsReadInTextAndInBinaryOfBothByteOrders) {
  for (const auto as : {Writer::As::text, Writer::As::binary, Writer::As::swapped}) {
    const auto mesh = read(small_mesh(as));
    EXPECT_TRUE(is_gmsh_file(path_));
    const auto quad = CellKind::quadrangle;
    EXPECT_EQ(mesh.kinds, (Vector<CellKind>{CellKind::triangle, CellKind::triangle, quad, quad}));
    EXPECT_EQ(mesh.corners, (Vector<Vertex>{0, 1, 3, 1, 2, 3, 1, 4, 5, 2, 1, 4, 5, 2}));
    EXPECT_EQ(mesh.offsets, (Vector<Index>{0, 3, 6, 10, 14}));
    EXPECT_EQ(mesh.places.count(), 24);
    EXPECT_EQ(mesh.places[Index{3}], 1);
    EXPECT_EQ(mesh.places[Index{10}], 1);
  }
}

TEST_F(GmshFile, IsRefusedWithTheLineOrByteThatIsWrong) {
  const std::string begin = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
  const std::string nodes = begin + "$Nodes\n1 2 1 2\n2 1 0 2\n1\n2\n0 0 0\n1 0 0\n$EndNodes\n";
  expect_refused("$Nodes\n", ":1: expected $MeshFormat, found \"$Nodes\"");
  expect_refused("$MeshFormat\n2.2 0 8\n", ":2: version 2.2 of gmsh's format; expected 4.1");
  expect_refused("$MeshFormat\n4.1 2 8\n", ":2: the kind of file is 2; expected 0 to 1");
  expect_refused("$MeshFormat\n4.1 0 7\n", ":2: counts of 7 bytes; expected 4 or 8");
  expect_refused(std::string("$MeshFormat\n4.1 1 8\n") + "\3\1\1\1",
                 ": in byte 24: the number that tells the byte order");
  expect_refused(begin, ": has no section $Nodes");
  expect_refused(nodes, ": has no section $Elements");
  expect_refused(begin + "$Elements\n", ":5: $Elements before $Nodes");
  expect_refused(begin + "words\n", ":4: expected a section, found \"words\"");
  expect_refused(begin + "$Entities\n1 2\n", ":6: expected $EndEntities, found the end of the file");
  expect_refused(nodes + "$Nodes\n", ":13: a second section $Nodes");
  expect_refused(begin + "$Nodes\n1 x 1 2\n", ":5: the number of nodes: expected a whole number, found \"x\"");
  expect_refused(begin + "$Nodes\n1 2 1 2\n2 1 0 3\n", ":6: the number of nodes in a block is 3; expected 0 to 2");
  expect_refused(begin + "$Nodes\n1 2 1 2\n7 1 0 2\n", ":6: a block of nodes of dimension 7");
  expect_refused(begin + "$Nodes\n1 2 1 2\n2 1 0 2\n1 2\n0 0 0\n1 nan 0\n",
                 ":9: the coordinate nan; expected finite ones");
  expect_refused(begin + "$Nodes\n1 2 1 2\n2 1 0 2\n4 4\n0 0 0\n1 0 0\n$EndNodes", ":9: node 4 comes twice");
  expect_refused(begin + "$Nodes\n1 9 1 2\n2 1 0 1\n4\n0 0 0\n$EndNodes", ":8: blocks have 1 nodes, and the section 9");
  const std::string elements = nodes + "$Elements\n1 1 1 1\n";
  expect_refused(elements + "1 1 999 1\n", ":14: elements of type 999; expected points, lines");
  expect_refused(elements + "1 1 1 1\n8 1 3\n", ":15: element 8 has node 3, which there is not");
  expect_refused(elements + "1 1 1 1\n8 1\n", ":16: expected the number of a node, found the end of the file");
  expect_refused(elements + "1 1 1 0\n", ":14: blocks have 0 elements, and the section 1");
  expect_refused(elements + "1 1 1 1\n1 1 2\n$EndNodes\n", ":16: expected $EndElements, found \"$EndNodes\"");
}

TEST_F(GmshFile, ThatIsDamagedIsReadOrRefused) {
  std::mt19937 random(7);  // NOLINT: the same data each time
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    std::string text = small_mesh(static_cast<Writer::As>(round % 3));
    for (auto left = 1 + random() % 3; left > 0; --left) {
      const auto place = random() % text.size();
      switch (random() % 4) {
        case 0: text[place] = static_cast<char>(random()); break;
        case 1: text.erase(place, 1 + random() % 9); break;
        case 2: text.insert(place, text.substr(random() % text.size(), 1 + random() % 9)); break;
        default: text.replace(place, 1, 1 + random() % 8, "\xff\x7f"[random() % 2]); break;
      }
    }
    try {
      const auto mesh = read(text);
      ASSERT_EQ(mesh.offsets[mesh.cells()], mesh.corners.count());
      for (const Vertex node : mesh.corners) ASSERT_LT(3 * node, mesh.places.count());
      static_cast<void>(graph::dual_graph(mesh));
    } catch (const FileError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 150);
}

}  // namespace
}  // namespace plait::io
