#include "plait/io/graph/graph_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/io/byte_reader.hpp"
#include "plait/io/file.hpp"
#include "plait/io/hdf5/hdf5.hpp"
#include "plait/io/matrix_market/matrix_market.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/text/text_lines.hpp"
#include "plait/io/text/text_number.hpp"
#include "plait/layout/text.hpp"

namespace plait::io {

namespace {

/// Whole numbers in a text file, line by line. Lines may have any length.
class Numbers {
 public:
  /// \throws FileError  it is no text
  Numbers(const std::string& path, std::string_view expected) : bytes_(path), path_(path) {
    const std::string_view start = bytes_.ahead(64).substr(0, 64);
    const auto refuse = [&](std::string_view kind) { fail_whole(fmt::format("is {}; expected {}", kind, expected)); };
    if (start.starts_with(npy_magic)) refuse("a NumPy .npy file");
    if (start.starts_with("PK\x03\x04")) refuse("an archive, as NumPy's .npz are");
    if (find_hdf5(bytes_.file())) refuse("an HDF5 file");
    const auto is_text = [](char c) { return static_cast<unsigned char>(c) >= ' ' || is_blank(c) || c == '\n'; };
    const auto bad = std::ranges::find_if_not(start, is_text);
    if (bad != start.end()) {
      refuse(fmt::format("binary, with \\x{:02x} in byte {}", static_cast<unsigned char>(*bad), bad - start.begin()));
    }
  }

  [[nodiscard]] Index line() const noexcept { return line_; }

  /// Goes to the next line that is no comment; false at the end of the file.
  [[nodiscard]] bool next_line() {
    for (;;) {
      if (line_ > 0) {  // the rest of the last one
        while (peek() != '\n' && peek() != end_of_file) bytes_.take();
        if (peek() == '\n') bytes_.take();
      }
      ++line_;
      if (peek() == end_of_file) return false;
      skip_blanks();
      if (peek() != '%') return true;
    }
  }

  /// The next number of the line, if there is one.
  [[nodiscard]] std::optional<Index> next() {
    skip_blanks();
    std::string_view text = bytes_.ahead(Index{longest_number}).substr(0, longest_number);
    text = text.substr(0, text.find('\n'));
    if (text.empty()) return std::nullopt;
    const std::size_t length = text.size();
    Index number = 0;
    try {
      number = take_integer(text);
    } catch (const ArgumentError& error) {
      fail(error.what());
    }
    if (text.empty() && length == longest_number) fail(fmt::format("a number of {} digits or more", longest_number));
    bytes_.take(static_cast<Index>(length - text.size()));
    return number;
  }

  [[nodiscard]] Index expect(std::string_view what) {
    const auto number = next();
    if (!number) fail(fmt::format("expected {}, found the end of the line", what));
    return *number;
  }

  [[noreturn]] void fail(const std::string& what) const { fail_at(line_, what); }
  [[noreturn]] void fail_at(Index line, const std::string& what) const {
    throw FileError(fmt::format("{}:{}: {}", path_, line, what));
  }
  [[noreturn]] void fail_whole(const std::string& what) const { throw FileError(fmt::format("{}: {}", path_, what)); }

 private:
  static constexpr int end_of_file = ByteReader::end_of_file;
  static constexpr std::size_t longest_number = 64;  // characters

  [[nodiscard]] int peek() { return bytes_.peek(); }

  void skip_blanks() {
    while (peek() != end_of_file && is_blank(static_cast<char>(peek()))) bytes_.take();
  }

  ByteReader bytes_;
  std::string path_;
  Index line_ = 0;
};

/// A sum of weights that tells when it becomes too large.
class WeightSum {
 public:
  WeightSum(const Numbers& numbers, std::string_view what, Index most = graph::most_weight)
      : numbers_(numbers), what_(what), most_(most) {}
  Index operator()(Index weight, Index least) {
    if (weight < least) numbers_.fail(fmt::format("the {} {} is below {}", what_, weight, least));
    if (weight > most_ - sum_) {
      numbers_.fail(fmt::format("with the {} {} their sum exceeds 2^{}", what_, weight, std::bit_width(at(most_)) - 1));
    }
    sum_ += weight;
    return weight;
  }

 private:
  const Numbers& numbers_;
  std::string_view what_;
  Index most_;
  Index sum_ = 0;
};

struct MetisHeader {
  Index vertices = 0;
  Index edges = 0;
  bool has_sizes = false;
  bool has_weights = false;
  bool has_edge_weights = false;
};

MetisHeader read_metis_header(Numbers& numbers) {
  if (!numbers.next_line())
    numbers.fail_whole("is empty; expected a graph in METIS' format, a Matrix Market file or a mesh of gmsh");
  MetisHeader header;
  header.vertices = numbers.expect("the number of vertices");
  header.edges = numbers.expect("the number of edges");
  if (header.vertices < 0 || header.vertices > graph::most_vertices) {
    numbers.fail(fmt::format("{} vertices; expected 0 to {}", header.vertices, graph::most_vertices));
  }
  // A simple graph has no more; and each takes four bytes in the file at least.
  if (header.edges < 0 || header.edges > header.vertices * (header.vertices - 1) / 2) {
    numbers.fail(fmt::format("{} edges; expected 0 to {}, those of a complete graph", header.edges,
                             header.vertices * (header.vertices - 1) / 2));
  }
  const Index format = numbers.next().value_or(0);
  const bool is_known = format >= 0 && format <= 111 && format % 10 <= 1 && format / 10 % 10 <= 1;
  if (!is_known) numbers.fail(fmt::format("fmt is {}; expected three digits, each 0 or 1", format));
  header.has_sizes = format >= 100;
  header.has_weights = format / 10 % 10 == 1;
  header.has_edge_weights = format % 10 == 1;
  const auto constraints = numbers.next();
  if (constraints && *constraints > 1) {
    numbers.fail(
        fmt::format("{} constraints, which is {} weights a vertex; expected 1: parts are balanced by one weight",
                    *constraints, *constraints));
  }
  if (constraints && *constraints < 1) numbers.fail(fmt::format("{} constraints; expected 1", *constraints));
  if (constraints && !header.has_weights) {
    numbers.fail("a number of constraints, but fmt says that vertices have no weights");
  }
  if (numbers.next()) numbers.fail("expected the end of the line after the number of constraints");
  return header;
}

// How a vertex is called in the file, which counts from 1.
std::string words_of(const graph::Flaw& flaw, const std::vector<Index>& line_of) {
  const Index v = flaw.v + 1;
  const Index u = flaw.u + 1;
  switch (flaw.kind) {
    case graph::Flaw::Kind::self_loop:
      return fmt::format("vertex {} is its own neighbour; --symmetrise leaves self loops out", v);
    case graph::Flaw::Kind::twice:
      return fmt::format("vertex {} has the neighbour {} twice; --symmetrise keeps one", v, u);
    case graph::Flaw::Kind::one_way:
      return fmt::format("vertex {} has the neighbour {}, which (line {}) does not have {}; --symmetrise adds that", v,
                         u, line_of[at(flaw.u)], v);
    case graph::Flaw::Kind::weights_differ:
      return fmt::format(
          "the edge of vertices {} and {} weighs something else in line {}; --symmetrise takes the larger one", v, u,
          line_of[at(flaw.u)]);
  }
  return {};
}

graph::Graph read_metis_graph(const std::string& path, Asymmetry asymmetry) {
  Numbers numbers(path, "a graph in METIS' format, a sparse matrix in a Matrix Market file or a mesh of gmsh");
  const MetisHeader header = read_metis_header(numbers);
  graph::Graph graph;
  std::vector<Index> line_of;
  WeightSum sizes(numbers, "size");
  WeightSum weights(numbers, "weight");
  // An edge that is there in one direction only comes to have a second end.
  WeightSum edge_weights(numbers, "weight of an edge",
                         asymmetry == Asymmetry::symmetrise ? graph::most_weight / 2 : graph::most_weight);
  // Not what the header says, which may be far more than there is.
  const auto most = static_cast<std::size_t>(File::open_to_read(path).size());
  graph.offsets.reserve(std::min(static_cast<std::size_t>(header.vertices), most) + 1);
  graph.neighbours.reserve(std::min(static_cast<std::size_t>(2 * header.edges), most));
  for (Index v = 0; v < header.vertices; ++v) {
    if (!numbers.next_line()) {
      // Vertices without neighbours at the end may lack their empty lines' ends.
      if (v == header.vertices - 1 && !header.has_sizes && !header.has_weights) {
        line_of.push_back(numbers.line());
        graph.offsets.push_back(graph.neighbours.count());
        break;
      }
      numbers.fail_whole(fmt::format("ends after {} of {} vertices", v, header.vertices));
    }
    line_of.push_back(numbers.line());
    if (header.has_sizes) graph.vertex_sizes.push_back(sizes(numbers.expect("a size"), 0));
    if (header.has_weights) graph.vertex_weights.push_back(weights(numbers.expect("a weight"), 0));
    while (const auto neighbour = numbers.next()) {
      if (*neighbour < 1 || *neighbour > header.vertices) {
        numbers.fail(
            fmt::format("vertex {} has the neighbour {}; expected 1 to {}", v + 1, *neighbour, header.vertices));
      }
      graph.neighbours.push_back(static_cast<graph::Vertex>(*neighbour - 1));
      if (header.has_edge_weights)
        graph.edge_weights.push_back(edge_weights(numbers.expect("the weight of an edge"), 1));
    }
    graph.offsets.push_back(graph.neighbours.count());
  }
  while (numbers.next_line()) {
    if (numbers.next()) numbers.fail(fmt::format("expected the end of the file after {} vertices", header.vertices));
  }
  if (asymmetry == Asymmetry::symmetrise) return graph::symmetrised(std::move(graph));
  if (const auto flaw = graph::flaw_of(graph.view())) numbers.fail_at(line_of[at(flaw->v)], words_of(*flaw, line_of));
  if (graph.view().edges() != header.edges) {
    numbers.fail_whole(fmt::format("has {} edges, each at both of its ends; its first line says {}",
                                   graph.view().edges(), header.edges));
  }
  return graph;
}

graph::Graph read_matrix_graph(const std::string& path, Asymmetry asymmetry) {
  const MatrixMarketHeader header = read_matrix_market_header_local(path);
  const auto fail = [&](const std::string& what) { throw FileError(fmt::format("{}: {}", path, what)); };
  if (header.format == MatrixMarketFormat::array)
    fail("is an array; expected a sparse matrix, in the coordinate format");
  if (header.shape.rows != header.shape.columns) {
    fail(fmt::format("is {}; expected a square matrix, the pattern of which is a graph",
                     layout::to_string(header.shape)));
  }
  if (header.shape.rows > graph::most_vertices) {
    fail(fmt::format("has {} rows; expected at most {}", header.shape.rows, graph::most_vertices));
  }
  std::vector<std::pair<graph::Vertex, graph::Vertex>> pairs;
  pairs.reserve(static_cast<std::size_t>(std::min(header.entries, File::open_to_read(path).size())));
  DTypes<Index, double, std::complex<double>>::with(header.dtype(), [&]<class T>() {
    const File file = File::open_to_read(path);
    TextLines lines(file, header.data_offset, header.data_offset, file.size());
    MatrixMarketEntries<T> entries(header, path, header.size_line + 1, 0);
    Index count = 0;
    while (const auto line = lines.next()) {
      const auto entry = entries.read(*line);
      if (!entry) continue;
      ++count;
      if (entry->row != entry->column) {
        pairs.emplace_back(static_cast<graph::Vertex>(entry->row), static_cast<graph::Vertex>(entry->column));
      }
    }
    if (count != header.entries) fail(fmt::format("has {} entries; its header says {}", count, header.entries));
  });
  if (header.symmetry == MatrixMarketSymmetry::general && asymmetry == Asymmetry::refuse) {
    std::ranges::sort(pairs);
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    for (const auto& [row, column] : pairs) {
      if (std::ranges::binary_search(pairs, std::pair(column, row))) continue;
      fail(fmt::format("has an entry in row {}, column {}, but none in row {}, column {}; --symmetrise adds that",
                       row + 1, column + 1, column + 1, row + 1));
    }
    std::erase_if(pairs, [](const auto& pair) { return pair.first > pair.second; });  // each from one end is enough
  }
  return graph::graph_of_pairs(header.shape.rows, pairs);
}

bool is_matrix_market(const std::string& path) {
  std::array<char, matrix_market_banner.size()> start{};
  const auto got =
      static_cast<std::size_t>(File::open_to_read(path).read_at(0, std::as_writable_bytes(std::span(start))));
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(std::string_view(start.data(), got), matrix_market_banner, {}, lower, lower);
}

}  // namespace

graph::Graph read_graph(const std::string& path, Asymmetry asymmetry) {
  return is_matrix_market(path) ? read_matrix_graph(path, asymmetry) : read_metis_graph(path, asymmetry);
}

std::vector<int> read_parts(const std::string& path, Index vertices) {
  std::vector<Index> parts;
  std::array<char, npy_magic.size()> start{};
  const auto got =
      static_cast<std::size_t>(File::open_to_read(path).read_at(0, std::as_writable_bytes(std::span(start))));
  if (std::string_view(start.data(), got) == npy_magic) {
    parts = read_npy_integers(path);
  } else {
    Numbers numbers(path, "a .npy vector, or the number of one part a line");
    while (numbers.next_line()) {
      if (const auto part = numbers.next()) parts.push_back(*part);
      if (numbers.next()) numbers.fail("expected the number of one part a line");
    }
  }
  if (static_cast<Index>(parts.size()) != vertices) {
    throw FileError(fmt::format("{}: has the parts of {} vertices; expected {}", path, parts.size(), vertices));
  }
  std::vector<int> result;
  result.reserve(parts.size());
  for (const Index part : parts) {
    if (part < 0 || part >= most_parts) {
      throw FileError(
          fmt::format("{}: vertex {} is in part {}; expected 0 to {}", path, result.size(), part, most_parts - 1));
    }
    result.push_back(static_cast<int>(part));
  }
  return result;
}

AsideFile write_parts_aside(const std::string& path, std::span<const int> parts) {
  if (path.ends_with(".npy")) return write_npy_vector_aside<std::int32_t>(path, parts);
  std::string text;
  for (const int part : parts) fmt::format_to(std::back_inserter(text), "{}\n", part);
  AsideFile file = AsideFile::create(path, static_cast<Index>(text.size()));
  file.write_at(0, std::as_bytes(std::span(text)));
  file.sync();
  file.close();
  return file;
}

}  // namespace plait::io
