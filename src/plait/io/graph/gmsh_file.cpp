#include "plait/io/graph/gmsh_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/byte_order.hpp"
#include "plait/io/byte_reader.hpp"
#include "plait/io/file.hpp"
#include "plait/io/text/text_number.hpp"

namespace plait::io {

namespace {

using graph::CellKind;
using graph::Vertex;

/// Words of a text with binary numbers between them, in turn.
class GmshWords {
 public:
  explicit GmshWords(const std::string& path) : bytes_(path), path_(path) {}

  [[nodiscard]] Index bytes() const { return bytes_.file().size(); }
  void be_binary(Index bytes_of_count) {
    is_binary_ = true;
    bytes_of_count_ = bytes_of_count;
  }
  void swap() { swaps_ = true; }

  /// The next word of text, empty at the end of the file.
  [[nodiscard]] std::string word() {
    while (is_space(peek())) static_cast<void>(get());
    std::string word;
    while (peek() != end_of_file && !is_space(peek())) {
      if (word.size() == longest_word) fail(fmt::format("expected a word, found {}...", quoted_text(word)));
      word += static_cast<char>(get());
    }
    return word;
  }
  /// What is left of the line, and its end.
  void end_line() {
    while (peek() != '\n' && peek() != end_of_file) {
      if (!is_space(get())) fail("expected the end of the line");
    }
    static_cast<void>(get());
  }
  void expect(std::string_view wanted) {
    const std::string found = word();
    if (found == wanted) return;
    fail(fmt::format("expected {}, found {}", wanted, found.empty() ? "the end of the file" : quoted_text(found)));
  }
  /// Goes on behind this word, which nothing else holds.
  void skip_past(std::string_view wanted) {
    std::size_t matched = 0;
    while (matched < wanted.size()) {
      if (peek() == end_of_file) fail(fmt::format("expected {}, found the end of the file", wanted));
      const int c = get();
      matched = c == wanted[matched] ? matched + 1 : c == wanted[0] ? 1 : 0;
    }
  }

  /// Numbers in text or binary, as the file has them.
  [[nodiscard]] Index integer(std::string_view what) {
    return is_binary_ ? binary<std::int32_t>(what) : parsed(what, [](auto& text) { return take_integer(text); });
  }
  [[nodiscard]] Index count(std::string_view what, Index most) {
    Index number = 0;
    if (!is_binary_) {
      number = parsed(what, [](auto& text) { return take_integer(text); });
    } else if (bytes_of_count_ == 4) {
      number = binary<std::uint32_t>(what);
    } else {
      number = binary<Index>(what);
    }
    if (number >= 0 && number <= most) return number;
    fail(fmt::format("{} is {}; expected 0 to {}", what, number, most));
  }
  [[nodiscard]] double real(std::string_view what) {
    return is_binary_ ? binary<double>(what) : parsed(what, [](auto& text) { return take_real(text); });
  }
  /// A number of the kind that tells the byte order.
  [[nodiscard]] std::int32_t one() { return binary<std::int32_t>("the number 1"); }

  [[noreturn]] void fail(const std::string& what) const {
    throw FileError(is_binary_ ? fmt::format("{}: in byte {}: {}", path_, bytes_.position(), what)
                               : fmt::format("{}:{}: {}", path_, line_, what));
  }
  [[noreturn]] void fail_whole(const std::string& what) const { throw FileError(fmt::format("{}: {}", path_, what)); }

 private:
  static constexpr int end_of_file = ByteReader::end_of_file;
  static constexpr std::size_t longest_word = 400;

  [[nodiscard]] static bool is_space(int c) { return c == '\n' || is_blank(static_cast<char>(c)); }

  [[nodiscard]] int peek() { return bytes_.peek(); }
  int get() {
    const int c = peek();
    if (c == end_of_file) return c;
    bytes_.take();
    line_ += c == '\n' ? 1 : 0;
    return c;
  }

  template <class Take>
  [[nodiscard]] std::invoke_result_t<Take, std::string_view&> parsed(std::string_view what, Take take) {
    const std::string text = word();
    if (text.empty()) fail(fmt::format("expected {}, found the end of the file", what));
    try {
      std::string_view rest = text;
      return take(rest);
    } catch (const ArgumentError& error) {
      fail(fmt::format("{}: {}", what, error.what()));
    }
  }
  template <class T>
  [[nodiscard]] T binary(std::string_view what) {
    std::array<std::byte, sizeof(T)> bytes{};
    for (std::byte& byte : bytes) {
      const int c = get();
      if (c == end_of_file) fail(fmt::format("expected {}, found the end of the file", what));
      byte = static_cast<std::byte>(c);
    }
    if (swaps_) swap_bytes(bytes, Index{sizeof(T)});
    T number;
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }

  ByteReader bytes_;
  std::string path_;
  Index line_ = 1;
  bool is_binary_ = false;
  bool swaps_ = false;
  Index bytes_of_count_ = 8;
};

struct ElementType {
  CellKind kind;
  Index nodes;  // those of corners come first
};

std::optional<ElementType> element_type(Index number) {
  using enum CellKind;
  static constexpr std::array<std::pair<Index, ElementType>, 36> types{{
      {1, {line, 2}},          {2, {triangle, 3}},      {3, {quadrangle, 4}},    {4, {tetrahedron, 4}},
      {5, {hexahedron, 8}},    {6, {prism, 6}},         {7, {pyramid, 5}},       {8, {line, 3}},
      {9, {triangle, 6}},      {10, {quadrangle, 9}},   {11, {tetrahedron, 10}}, {12, {hexahedron, 27}},
      {13, {prism, 18}},       {14, {pyramid, 14}},     {15, {point, 1}},        {16, {quadrangle, 8}},
      {17, {hexahedron, 20}},  {18, {prism, 15}},       {19, {pyramid, 13}},     {20, {triangle, 9}},
      {21, {triangle, 10}},    {22, {triangle, 12}},    {23, {triangle, 15}},    {24, {triangle, 15}},
      {25, {triangle, 21}},    {26, {line, 4}},         {27, {line, 5}},         {28, {line, 6}},
      {29, {tetrahedron, 20}}, {30, {tetrahedron, 35}}, {31, {tetrahedron, 56}}, {36, {quadrangle, 16}},
      {37, {quadrangle, 25}},  {38, {quadrangle, 36}},  {92, {hexahedron, 64}},  {93, {hexahedron, 125}},
  }};
  const auto found = std::ranges::find(types, number, &std::pair<Index, ElementType>::first);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

class GmshReader {
 public:
  explicit GmshReader(const std::string& path) : words_(path) {}

  graph::Mesh read() {
    read_format();
    bool has_nodes = false;
    bool has_elements = false;
    for (std::string name = words_.word(); !name.empty(); name = words_.word()) {
      if (!name.starts_with('$')) words_.fail(fmt::format("expected a section, found {}", quoted_text(name)));
      const std::string end = "$End" + name.substr(1);
      words_.end_line();
      if (name == "$Nodes") {
        if (std::exchange(has_nodes, true)) words_.fail("a second section $Nodes");
        read_nodes();
        words_.expect(end);
      } else if (name == "$Elements") {
        if (!has_nodes) words_.fail("$Elements before $Nodes");
        if (std::exchange(has_elements, true)) words_.fail("a second section $Elements");
        read_elements();
        words_.expect(end);
      } else {
        words_.skip_past(end);
      }
    }
    if (!has_elements) words_.fail_whole(fmt::format("has no section {}", has_nodes ? "$Elements" : "$Nodes"));
    return std::move(mesh_);
  }

 private:
  void read_format() {
    words_.expect("$MeshFormat");
    const std::string version = words_.word();
    if (version != "4.1") {
      words_.fail(fmt::format("version {} of gmsh's format; expected 4.1, as gmsh -format msh41 writes it", version));
    }
    const Index is_binary = words_.count("the kind of file", 1);
    const Index bytes = words_.count("the size of counts", 8);
    if (bytes != 8 && bytes != 4) words_.fail(fmt::format("counts of {} bytes; expected 4 or 8", bytes));
    words_.end_line();
    if (is_binary == 1) {
      words_.be_binary(bytes);
      const std::int32_t one = words_.one();
      if (one == 1 << 24) {
        words_.swap();
      } else if (one != 1) {
        words_.fail(fmt::format("the number that tells the byte order is {}; expected 1", one));
      }
    }
    words_.expect("$EndMeshFormat");
  }

  /// The numbers that both sections begin with: of blocks, and of what is in all of them.
  std::pair<Index, Index> read_counts(std::string_view what) {
    const Index blocks = words_.count("the number of blocks", words_.bytes());
    const Index all = words_.count(what, std::min(graph::most_vertices, words_.bytes()));
    for (const char* number : {"the lowest number", "the highest number"}) static_cast<void>(tag(number));
    return {blocks, all};
  }
  Index tag(std::string_view what) { return words_.count(what, std::numeric_limits<Index>::max()); }

  void read_nodes() {
    const auto [blocks, all] = read_counts("the number of nodes");
    for (Index block = 0; block < blocks; ++block) {
      const Index dimension = words_.integer("the dimension of a block");
      static_cast<void>(words_.integer("the number of an entity"));
      const Index has_parameters = words_.integer("whether nodes have parameters");
      if (dimension < 0 || dimension > 3 || has_parameters < 0 || has_parameters > 1) {
        words_.fail(fmt::format("a block of nodes of dimension {} with parameters {}; expected 0 to 3, and 0 or 1",
                                dimension, has_parameters));
      }
      const Index count = words_.count("the number of nodes in a block", all - tags_.count());
      for (Index i = 0; i < count; ++i) tags_.push_back(tag("the number of a node"));
      for (Index i = 0; i < count; ++i) {
        for (Index c = 0; c < 3 + has_parameters * dimension; ++c) {
          const double coordinate = words_.real("a coordinate");
          if (!std::isfinite(coordinate))
            words_.fail(fmt::format("the coordinate {}; expected finite ones", coordinate));
          if (c < 3) mesh_.places.push_back(coordinate);
        }
      }
    }
    if (tags_.count() != all) words_.fail(fmt::format("blocks have {} nodes, and the section {}", tags_.count(), all));
    const auto next = [&](Index a, Index b) { return b != a + 1; };
    is_dense_ = std::adjacent_find(tags_.begin(), tags_.end(), next) == tags_.end();
    if (is_dense_) return;
    by_tag_.reserve(tags_.size());
    for (Index i = 0; i < tags_.count(); ++i) by_tag_.emplace_back(tags_[i], static_cast<Vertex>(i));
    std::ranges::sort(by_tag_);
    const auto twice = std::ranges::adjacent_find(by_tag_, {}, &std::pair<Index, Vertex>::first);
    if (twice != by_tag_.end()) words_.fail(fmt::format("node {} comes twice", twice->first));
  }

  [[nodiscard]] std::optional<Vertex> node_of(Index tag) const {
    if (is_dense_) {
      if (tags_.empty() || tag < tags_.front() || tag > tags_.back()) return {};
      return static_cast<Vertex>(tag - tags_.front());
    }
    const auto found = std::ranges::lower_bound(by_tag_, std::pair(tag, Vertex{-1}));
    return found == by_tag_.end() || found->first != tag ? std::nullopt : std::optional(found->second);
  }

  void read_elements() {
    const auto [blocks, all] = read_counts("the number of elements");
    Index seen = 0;
    int highest = -1;
    for (Index block = 0; block < blocks; ++block) {
      static_cast<void>(words_.integer("the dimension of a block"));
      static_cast<void>(words_.integer("the number of an entity"));
      const Index number = words_.integer("the type of elements");
      const auto type = element_type(number);
      if (!type) {
        words_.fail(fmt::format(
            "elements of type {}; expected points, lines, triangles, quadrangles, tetrahedra, hexahedra, prisms or "
            "pyramids",
            number));
      }
      const Index count = words_.count("the number of elements in a block", all - seen);
      seen += count;
      const auto& shape = graph::shape_of(type->kind);
      if (shape.dimension > highest && count > 0) {
        highest = shape.dimension;
        mesh_.kinds.clear();
        mesh_.corners.clear();
        mesh_.offsets = {0};
      }
      for (Index i = 0; i < count; ++i) {
        const Index element = tag("the number of an element");
        for (Index corner = 0; corner < type->nodes; ++corner) {
          const Index wanted = tag("the number of a node");
          const auto node = node_of(wanted);
          if (!node) words_.fail(fmt::format("element {} has node {}, which there is not", element, wanted));
          if (corner < shape.corners && shape.dimension == highest) mesh_.corners.push_back(*node);
        }
        if (shape.dimension < highest) continue;
        mesh_.kinds.push_back(type->kind);
        mesh_.offsets.push_back(mesh_.corners.count());
      }
    }
    if (seen != all) words_.fail(fmt::format("blocks have {} elements, and the section {}", seen, all));
  }

  GmshWords words_;
  graph::Mesh mesh_;
  Vector<Index> tags_;  // of nodes
  bool is_dense_ = true;
  std::vector<std::pair<Index, Vertex>> by_tag_;  // increasing; where numbers have gaps
};

}  // namespace

bool is_gmsh_file(const std::string& path) {
  std::array<std::byte, 1> first{};
  return path.ends_with(".msh") || (File::open_to_read(path).read_at(0, first) == 1 && first[0] == std::byte{'$'});
}

graph::Mesh read_gmsh(const std::string& path) { return GmshReader(path).read(); }

}  // namespace plait::io
