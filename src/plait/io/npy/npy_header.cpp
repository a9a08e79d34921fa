#include "plait/io/npy/npy_header.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"
#include "plait/io/byte_order.hpp"
#include "plait/io/npy/python_literal.hpp"

namespace plait::io {

namespace {

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
      entries_ = parse_python_dictionary(text);
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
