#include "plait/io/npy/npy_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"
#include "plait/io/byte_order.hpp"

namespace plait::io {

namespace {

/// A value in the dictionary of a .npy header: a string, a truth value, a tuple of integers; of anything else the text.
struct OtherLiteral {
  std::string text;
};
using Literal = std::variant<std::string, bool, std::vector<Index>, OtherLiteral>;

constexpr std::string_view blanks = " \t\r\n\f\v";

/// Parses a dictionary as Python writes it, `{'descr': '<f8', 'shape': (3L, 4,), }`: strings in either quotes, with or
/// without prefix, integers also of Python 2.
///
/// \throws ArgumentError  with the place (counted from 0) and what was expected there
/// \throws ArgumentError  if a key comes twice or an integer does not fit an Index
class PythonDictionary {
 public:
  explicit PythonDictionary(std::string_view text) : text_(text) {}

  std::map<std::string, Literal> entries() {
    std::map<std::string, Literal> result;
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      const std::size_t at = at_;
      if (!result.emplace(key, value()).second) fail_at(at, fmt::format("key '{:.60}' comes twice", key));
      if (accept(',')) continue;
      expect('}', "',' or '}'");
      break;
    }
    skip_blanks();
    if (at_ != text_.size()) fail("the end");
    return result;
  }

 private:
  Literal value() {
    skip_blanks();
    if (starts_string()) return string();
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    const std::size_t begin = at_;
    if (accept('(')) {
      if (auto numbers = rest_of_tuple()) return std::move(*numbers);
      at_ = begin;
    }
    return OtherLiteral{skipped()};
  }

  // What follows the '(' of a tuple of integers; nothing if it is something else.
  std::optional<std::vector<Index>> rest_of_tuple() {
    std::vector<Index> numbers;
    bool comma = true;  // after the last number; (3) is no tuple
    while (!accept(')')) {
      if (!comma) return std::nullopt;
      const auto number = integer();
      if (!number) return std::nullopt;
      numbers.push_back(*number);
      comma = accept(',');
    }
    if (numbers.size() == 1 && !comma) return std::nullopt;
    return numbers;
  }

  std::optional<Index> integer() {
    skip_blanks();
    Index number = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, failure] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (failure == std::errc::result_out_of_range) {
      fail_at(at_, fmt::format("{:.60} is too large", std::string_view(begin, static_cast<std::size_t>(end - begin))));
    }
    if (failure != std::errc()) return std::nullopt;
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2's long integers
    return number;
  }

  bool starts_string() const {
    const auto rest = text_.substr(at_);
    const auto quote = rest.find_first_of("'\"");
    return quote == 0 || (quote == 1 && std::string_view("ubUB").find(rest[0]) != std::string_view::npos);
  }

  std::string string() {
    skip_blanks();
    if (!starts_string()) fail("a string");
    if (text_[at_] != '\'' && text_[at_] != '"') ++at_;
    const char quote = text_[at_++];
    std::string result;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      result += text_[at_++];
    }
    if (at_ == text_.size()) fail("the end of a string");
    ++at_;
    return result;
  }

  // Passes over any value, brackets within brackets and strings within those.
  std::string skipped() {
    const std::size_t begin = at_;
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (depth == 0 && (c == ',' || c == '}')) break;
      if (c == '\'' || c == '"') {
        static_cast<void>(string());
        continue;
      }
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      ++at_;
    }
    if (at_ == begin) fail("a value");
    if (depth != 0) fail("a closing bracket");
    return std::string(text_.substr(begin, at_ - begin));
  }

  void skip_blanks() {
    while (at_ < text_.size() && blanks.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool accept(char c) {
    skip_blanks();
    const bool found = at_ < text_.size() && text_[at_] == c;
    if (found) ++at_;
    return found;
  }

  bool accept_word(std::string_view word) {
    const bool found = text_.substr(at_).starts_with(word);
    if (found) at_ += word.size();
    return found;
  }

  void expect(char c, std::string_view expected = {}) {
    if (!accept(c)) fail(expected.empty() ? fmt::format("'{}'", c) : std::string(expected));
  }

  [[noreturn]] void fail(std::string_view expected) const {
    const auto found = text_.substr(at_, 10);
    const auto what = found.empty() ? std::string("the end") : fmt::format("\"{}\"", found);
    fail_at(at_, fmt::format("expected {}, found {}", expected, what));
  }

  [[noreturn]] static void fail_at(std::size_t at, std::string_view what) {
    throw ArgumentError(fmt::format("at character {}: {}", at, what));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

constexpr std::size_t version_at = 6;
constexpr std::size_t length_at = 8;
constexpr Index longest_header = Index{1} << 20;  // a matrix needs some 100 bytes; damaged lengths reach 4 GiB

unsigned to_number(std::byte byte) { return std::to_integer<unsigned>(byte); }

// Of the text: 2 bytes of length in format 1.0, 4 in later ones.
std::size_t text_begin(std::span<const std::byte> start) {
  return length_at + (to_number(start[version_at]) == 1 ? 2 : 4);
}

bool is_npy(std::span<const std::byte> start) {
  return start.size() >= npy_magic.size() &&
         std::equal(npy_magic.begin(), npy_magic.end(), start.begin(), [](char a, std::byte b) {
           return static_cast<unsigned char>(a) == std::to_integer<unsigned char>(b);
         });
}

// NumPy's code of an element type, without the byte order.
struct Code {
  DType dtype;
  std::string_view code;
};
constexpr std::array<Code, 13> codes{{{DType::i8, "i1"},
                                      {DType::i16, "i2"},
                                      {DType::i32, "i4"},
                                      {DType::i64, "i8"},
                                      {DType::u8, "u1"},
                                      {DType::u16, "u2"},
                                      {DType::u32, "u4"},
                                      {DType::u64, "u8"},
                                      {DType::f32, "f4"},
                                      {DType::f64, "f8"},
                                      {DType::c64, "c8"},
                                      {DType::c128, "c16"},
                                      {DType::u8, "b1"}}};  // truth values are 0 or 1

// What a code that is none of the above stands for.
std::string_view meaning(std::string_view code) {
  if (code == "f2") return "half precision";
  if (code == "f12" || code == "f16") return "long double";
  if (code == "c24" || code == "c32") return "complex long double";
  switch (code.empty() ? '\0' : code.front()) {
    case 'O': return "Python objects";
    case 'S':
    case 'a':
    case 'U': return "strings";
    case 'M':
    case 'm': return "dates or durations";
    case 'V': return "raw bytes";
    default: return "an unknown type";
  }
}

class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::string_view path) : path_(path) {
    try {
      entries_ = PythonDictionary(text).entries();
    } catch (const ArgumentError& error) {
      fail(fmt::format("malformed .npy header: {}", error.what()));
    }
    for (const auto& [key, value] : entries_) {
      if (key != "descr" && key != "fortran_order" && key != "shape") {
        fail(fmt::format("malformed .npy header: key '{:.60}'; expected only descr, fortran_order and shape", key));
      }
    }
  }

  void read_into(NpyHeader& header, Dimensions wanted) const {
    read_type_and_order(header);
    const auto& shape = extents();
    if (!wanted.contain(shape.size())) {
      fail(fmt::format("has {} dimension{}; {}", shape.size(), shape.size() == 1 ? "" : "s",
                       wanted.most == 2 ? "a matrix has 2" : "expected one to three"));
    }
    header.extents.dimensions = static_cast<int>(shape.size());
    std::ranges::copy(shape, header.extents.values.begin());
    if (shape.size() == 1) header.order = StorageOrder::row_major;  // both are the same
    set_shape(header);
  }

  void read_vector_into(NpyHeader& header) const {
    read_type_and_order(header);
    const auto& shape = extents();
    const bool is_vector = shape.size() == 1 || (shape.size() == 2 && (shape[0] == 1 || shape[1] == 1));
    if (!is_vector) {
      fail(fmt::format("has {} dimensions; expected a vector: one dimension, or one row or column", shape.size()));
    }
    header.extents = Extents::of({shape.size() == 2 && shape[0] == 1 ? shape[1] : shape[0], 1});
    set_shape(header);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const { throw FileError(fmt::format("{}: {}", path_, what)); }

  template <class T>
  const T& entry(const std::string& key, std::string_view expected) const {
    const auto found = entries_.find(key);
    if (found == entries_.end()) fail(fmt::format("malformed .npy header: there is no '{}'", key));
    if (const T* value = std::get_if<T>(&found->second)) return *value;
    fail(fmt::format("malformed .npy header: '{}' is not {}", key, expected));
  }

  void read_dtype(NpyHeader& header) const {
    const auto found = entries_.find("descr");
    if (found != entries_.end()) {
      if (const auto* fields = std::get_if<OtherLiteral>(&found->second)) {
        refuse_dtype(fmt::format("{:.60}", fields->text), "a structure");
      }
    }
    const std::string_view descr = entry<std::string>("descr", "a string");
    const bool ordered = !descr.empty() && std::string_view("<>=|").find(descr.front()) != std::string_view::npos;
    const char byte_order = ordered ? descr.front() : '=';
    const auto code = descr.substr(ordered ? 1 : 0);
    const auto known = std::find_if(codes.begin(), codes.end(), [&](const Code& c) { return c.code == code; });
    if (known == codes.end()) refuse_dtype(fmt::format("'{:.60}'", descr), meaning(code));
    header.dtype = known->dtype;
    // '=' and '|' stand for the writer's own order; nothing tells which machine that was.
    header.big_endian = byte_order == '>' || (byte_order != '<' && machine_is_big_endian);
    if (component_bytes(header.dtype) == 1) header.big_endian = machine_is_big_endian;
  }

  [[noreturn]] void refuse_dtype(std::string_view descr, std::string_view what) const {
    fail(fmt::format("has the dtype {} ({}); supported are {}", descr, what, all_dtype_names()));
  }

  void read_type_and_order(NpyHeader& header) const {
    read_dtype(header);
    header.order = entry<bool>("fortran_order", "True or False") ? StorageOrder::column_major : StorageOrder::row_major;
  }

  [[nodiscard]] const std::vector<Index>& extents() const {
    return entry<std::vector<Index>>("shape", "a tuple of integers");
  }

  void set_shape(NpyHeader& header) const {
    const auto text = to_string(header.extents);
    if (std::ranges::min(header.extents.list()) < 0) {
      fail(fmt::format("has the shape {}; no extent can be negative", text));
    }
    const Index most = (std::numeric_limits<Index>::max() - longest_header) / bytes(header.dtype);
    try {
      header.shape = header.extents.as_matrix(header.order);
      if (layout::elements(header.shape) <= most) return;
    } catch (const LayoutError&) {  // more than can be counted
    }
    fail(fmt::format("has the shape {}, which is more than 2^63 bytes of {}", text, name(header.dtype)));
  }

  std::string_view path_;
  std::map<std::string, Literal> entries_;
};

}  // namespace

std::optional<Index> npy_header_bytes(std::span<const std::byte> start, std::string_view path) {
  if (start.size() < length_at) return std::nullopt;
  if (!is_npy(start)) throw FileError(fmt::format("{}: is no .npy file: it does not begin with \\x93NUMPY", path));
  const unsigned major = to_number(start[version_at]);
  const unsigned minor = to_number(start[version_at + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    throw FileError(
        fmt::format("{}: is of .npy format {}.{}; formats 1.0, 2.0 and 3.0 are supported", path, major, minor));
  }
  const std::size_t begin = text_begin(start);
  if (start.size() < begin) return std::nullopt;
  Index length = 0;
  for (std::size_t at = begin; at-- > length_at;) length = length * 256 + to_number(start[at]);
  if (length > longest_header) {
    throw FileError(
        fmt::format("{}: malformed .npy header: {} bytes long; expected at most {}", path, length, longest_header));
  }
  return static_cast<Index>(begin) + length;
}

namespace {

template <class Read>
NpyHeader parsed_header(std::span<const std::byte> start, std::string_view path, Read read) {
  const auto length = npy_header_bytes(start, path);
  PLAIT_ASSERT(length && *length <= static_cast<Index>(start.size()), "the whole header has been read");
  const auto text = start.first(static_cast<std::size_t>(*length)).subspan(text_begin(start));
  NpyHeader header;
  header.data_offset = *length;
  read(HeaderReader({reinterpret_cast<const char*>(text.data()), text.size()}, path), header);
  return header;
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> start, std::string_view path, Dimensions wanted) {
  return parsed_header(start, path,
                       [&](const HeaderReader& reader, NpyHeader& header) { reader.read_into(header, wanted); });
}

NpyHeader parse_npy_vector_header(std::span<const std::byte> start, std::string_view path) {
  return parsed_header(start, path,
                       [](const HeaderReader& reader, NpyHeader& header) { reader.read_vector_into(header); });
}

std::string npy_header_text(DType dtype, const Extents& extents, StorageOrder order) {
  const bool by_columns = order == StorageOrder::column_major;
  const char byte_order = component_bytes(dtype) == 1 ? '|' : machine_is_big_endian ? '>' : '<';
  const auto all = extents.list();
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}{}), }}", byte_order,
                                 codes[static_cast<std::size_t>(dtype)].code, by_columns ? "True" : "False",
                                 fmt::join(all, ", "), all.size() == 1 ? "," : "");
  // NumPy leaves room for the extent that may grow as the file is appended to, and so makes the same file of it.
  constexpr std::size_t longest_extent = 21;
  const auto growing = fmt::format_int(by_columns ? all.back() : all.front());
  text.append(longest_extent - growing.size(), ' ');

  constexpr std::size_t alignment = 64;
  const std::size_t preamble = length_at + 2;
  const std::size_t total = (preamble + text.size() + 1 + alignment - 1) / alignment * alignment;
  text.append(total - preamble - text.size() - 1, ' ');
  text += '\n';
  std::string header(npy_magic);
  for (const std::size_t byte : {std::size_t{1}, std::size_t{0}, text.size() % 256, text.size() / 256}) {
    header += static_cast<char>(byte);
  }
  return header + text;
}

}  // namespace plait::io
