// Names and numbers are those of the "HDF5 File Format Specification", version 3.0.
#include "plait/io/hdf5/hdf5_structure.hpp"

#include <hdf5.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/hdf5/hdf5.hpp"

namespace plait::io {

namespace {

using Address = Hdf5Structure::Address;
using Super = Hdf5Structure::Super;

using Bytes = std::span<const unsigned char>;

std::uint64_t little_endian(Bytes bytes) {
  std::uint64_t result = 0;
  for (const auto byte : std::views::reverse(bytes)) result = result << 8U | byte;
  return result;
}

// The bytes of a structure, taken one field after the other.
class Fields {
 public:
  Fields(const File& file, const Super& super, Address at, std::uint64_t size, std::string_view what)
      : file_(file), super_(super), what_(fmt::format("the {} at byte {}", what, at)) {
    const auto end = static_cast<Address>(file.size()) - super.base;
    expect(at <= end && size <= end - at, "lies beyond the end of the file");
    storage_.resize(size);
    const Index got = file.read_at(static_cast<Index>(super.base + at), std::as_writable_bytes(std::span(storage_)));
    expect(static_cast<std::uint64_t>(got) == size, "lies beyond the end of the file");
    left_ = storage_;
  }
  // A structure at another place of the same file.
  Fields(const Fields& of, Address at, std::uint64_t size, std::string_view what)
      : Fields(of.file_, of.super_, at, size, what) {}
  // The next bytes of another structure.
  Fields(Fields& of, std::uint64_t size, std::string_view what)
      : file_(of.file_), super_(of.super_), what_(fmt::format("the {} in {}", what, of.what_)), left_(of.bytes(size)) {}
  Fields(Fields& of, std::uint64_t size) : file_(of.file_), super_(of.super_), what_(of.what_), left_(of.bytes(size)) {}

  [[nodiscard]] const Super& super() const noexcept { return super_; }
  [[nodiscard]] Bytes left() const noexcept { return left_; }

  Bytes bytes(std::uint64_t count) {
    expect(count <= left_.size(), "is too short for what is in it");
    const auto result = left_.first(count);
    left_ = left_.subspan(count);
    return result;
  }
  std::uint64_t number(std::size_t size) { return little_endian(bytes(size)); }
  Address address() { return number(super_.address_bytes); }
  std::uint64_t length() { return number(super_.length_bytes); }
  bool has(std::string_view signature) {
    return std::ranges::equal(bytes(signature.size()), signature, {}, [](auto c) { return static_cast<char>(c); });
  }
  // The length of a name, which ends with a zero.
  std::uint64_t name() {
    const auto size = std::ranges::find(left_, 0) - left_.begin();
    return bytes(static_cast<std::uint64_t>(size) + 1).size() - 1;
  }
  [[noreturn]] void refuse(std::string_view why) const { throw FileError(fmt::format("{}: {}", file_.path(), why)); }
  void expect(bool holds, std::string_view otherwise) const {
    if (!holds) throw FileError(fmt::format("{}: is damaged: {} {}", file_.path(), what_, otherwise));
  }

 private:
  const File& file_;
  const Super& super_;
  std::string what_;
  std::vector<unsigned char> storage_;
  Bytes left_;
};

bool is_undefined(Address address, const Super& super) {
  return address == ~Address{0} >> (8 * (sizeof(Address) - super.address_bytes));
}

struct Filter {
  std::uint64_t id;
  std::vector<std::uint64_t> values;
};

// What an object's header tells, as far as it has to fit together.
struct Object {
  std::optional<std::uint64_t> rank;
  std::optional<std::uint64_t> element_bytes;
  std::vector<std::uint64_t> fill_bytes;
  std::optional<std::vector<Filter>> filters;
  bool has_layout = false;
  std::vector<std::uint64_t> chunk;  // its extents, then the bytes of an element; empty if there are none
  std::optional<Address> chunk_tree;
  bool has_shared_messages = false;
  std::optional<Super> nodes;  // in which nothing but their sizes is set
};

// IV.A.2.d. The bytes of an element.
std::uint64_t read_type(Fields& fields, int depth = 0) {
  constexpr int most_nested = 64;
  fields.expect(depth < most_nested, "nests types too deeply");
  enum Class { integer, real, time, text, bits, opaque, compound, reference, enumeration, list, array };
  const auto kind = fields.number(1);
  const auto version = kind >> 4U;
  const auto flags = fields.number(3);
  const auto size = fields.number(4);
  if (version < 1 || version > 3) return size;  // none that the library reads without checks
  fields.expect(size > 0, "has elements without a byte");
  const auto skip_name = [&] {
    const auto length = fields.name() + 1;
    if (version < 3) fields.bytes((8 - length % 8) % 8);
  };
  const auto read_bits = [&] {
    const auto offset = fields.number(2);
    const auto count = fields.number(2);
    fields.expect(0 < count && offset + count <= 8 * size, "has bits of a number beyond its end");
    return count;
  };
  const auto members = flags & 0xffffU;
  switch (kind & 0xfU) {
    case integer:
    case bits: read_bits(); break;
    case real: {
      const auto number_bits = read_bits();
      const auto exponent = fields.number(1);
      const auto exponent_bits = fields.number(1);
      const auto mantissa = fields.number(1);
      const auto mantissa_bits = fields.number(1);
      fields.bytes(4);
      fields.expect((flags >> 8U & 0xffU) < number_bits && exponent + exponent_bits <= number_bits &&
                        mantissa + mantissa_bits <= number_bits,
                    "has parts of a number beyond its end");
      break;
    }
    case time: fields.bytes(2); break;
    case opaque: fields.bytes(flags & 0xffU); break;
    case compound: {
      std::size_t offset_bytes = 1;
      while (size >> (8 * offset_bytes) != 0) ++offset_bytes;
      for (std::uint64_t i = 0; i < members; ++i) {
        skip_name();
        const auto offset = fields.number(version < 3 ? 4 : offset_bytes);
        std::uint64_t count = 1;
        if (version == 1) {
          const auto rank = fields.number(1);
          fields.expect(rank <= 4, "has members of too many dimensions");
          fields.bytes(11);
          for (std::uint64_t j = 0; j < 4; ++j) {
            const auto extent = fields.number(4);
            if (j < rank) count = std::min(count * extent, size + 1);
          }
        }
        const auto bytes = read_type(fields, depth + 1);
        fields.expect(offset <= size && count * bytes <= size - offset, "has a member beyond the end of its compound");
      }
      break;
    }
    case enumeration: {
      fields.expect(read_type(fields, depth + 1) == size, "has names for numbers of another size");
      for (std::uint64_t i = 0; i < members; ++i) skip_name();
      fields.bytes(members * size);
      break;
    }
    case list: read_type(fields, depth + 1); break;
    case array: {
      const auto rank = fields.number(1);
      fields.expect(0 < rank && rank <= 32, "has arrays of too many dimensions");
      if (version < 3) fields.bytes(3);
      std::uint64_t count = 1;
      for (std::uint64_t i = 0; i < rank; ++i) count = std::min(count * fields.number(4), size + 1);
      if (version < 3) fields.bytes(4 * rank);
      fields.expect(count * read_type(fields, depth + 1) == size, "has arrays of another size than their elements");
      break;
    }
    default: break;
  }
  return size;
}

// IV.A.2.b
std::uint64_t read_rank(Fields& fields) {
  const auto version = fields.number(1);
  const auto rank = fields.number(1);
  const auto flags = fields.number(1);
  fields.expect(rank <= 32, "has too many dimensions");
  fields.bytes(version == 1 ? 5 : 1);
  const std::uint64_t lists = 1 + (flags & 1U) + (version == 1 ? flags >> 1U & 1U : 0);
  fields.bytes(lists * rank * fields.super().length_bytes);
  return rank;
}

// IV.A.2.i
void read_layout(Fields& fields, Object& object) {
  enum Class { compact, contiguous, chunked, elsewhere };
  object.has_layout = true;
  const auto version = fields.number(1);
  const auto extents = [&](std::uint64_t count, std::size_t bytes) {
    std::vector<std::uint64_t> result(count);
    std::uint64_t chunk_bytes = 1;
    for (auto& extent : result) {
      extent = fields.number(bytes);
      fields.expect(extent > 0 && extent <= 0xffffffffU / chunk_bytes, "has chunks of no or more than 4 GiB");
      chunk_bytes *= extent;
    }
    object.chunk = std::move(result);
  };
  if (version < 3) {
    const auto count = fields.number(1);
    const auto kind = fields.number(1);
    fields.expect(kind <= chunked, "has no known kind");
    fields.bytes(5);
    const Address at = kind == compact ? 0 : fields.address();
    if (kind == chunked) {
      object.chunk_tree = at;
      return extents(count, 4);
    }
    fields.bytes(4 * count);
    if (kind == compact) fields.bytes(fields.number(4));
    return;
  }
  const auto kind = fields.number(1);
  if (kind == elsewhere)
    fields.refuse("the elements of a virtual data set are in other files, which plait doesn't read");
  fields.expect(kind < elsewhere, "has no known kind");
  if (kind == compact) {
    fields.bytes(fields.number(2));
  } else if (kind == contiguous) {
    fields.address();
    fields.length();
  } else if (version == 3) {
    const auto count = fields.number(1);
    object.chunk_tree = fields.address();
    extents(count, 4);
  } else {
    const auto flags = fields.number(1);
    const auto count = fields.number(1);
    const auto bytes = fields.number(1);
    fields.expect(0 < bytes && bytes <= 8, "has extents of too many bytes");
    extents(count, bytes);
    switch (fields.number(1)) {
      case 1: fields.bytes((flags & 2U) != 0 ? fields.super().length_bytes + 4 : 0); break;
      case 3: fields.bytes(1); break;
      case 4: fields.bytes(5); break;
      case 5: fields.bytes(6); break;
      default: break;
    }
    fields.address();
  }
}

// IV.A.2.l
std::vector<Filter> read_filters(Fields& fields) {
  constexpr std::uint64_t first_without_number = 256;
  const auto version = fields.number(1);
  const auto count = fields.number(1);
  if (version == 1) fields.bytes(6);
  std::vector<Filter> result;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto id = fields.number(2);
    const auto name_bytes = version == 1 || id >= first_without_number ? fields.number(2) : 0;
    fields.number(2);
    const auto values = fields.number(2);
    if (name_bytes > 0) Fields(fields, name_bytes, "name of a filter").name();
    result.push_back({id, {}});
    for (std::uint64_t j = 0; j < values; ++j) result.back().values.push_back(fields.number(4));
    if (version == 1 && values % 2 == 1) fields.bytes(4);
  }
  return result;
}

// IV.A.2.e and f
void read_fill(Fields& fields, bool old, Object& object) {
  if (!old) {
    const auto version = fields.number(1);
    const auto flags = fields.number(version < 3 ? 3 : 1);
    if (version < 3 ? version > 1 && flags >> 16U == 0 : (flags & 0x20U) == 0) return;
  }
  const auto size = fields.number(4);
  if (size == 0 || size > 0x7fffffffU) return;
  fields.bytes(size);
  object.fill_bytes.push_back(size);
}

// IV.A.2.g, as strictly as the library: where it refuses one, it frees what it has not made.
void read_link(Fields& fields) {
  constexpr std::uint64_t hard = 0;
  constexpr std::uint64_t soft = 1;
  constexpr std::uint64_t first_of_users = 64;
  const auto version = fields.number(1);
  const auto flags = fields.number(1);
  const auto kind = (flags & 8U) != 0 ? fields.number(1) : hard;
  fields.bytes((flags & 4U) != 0 ? 8 : 0);
  const auto letters = (flags & 0x10U) != 0 ? fields.number(1) : 0;
  fields.expect(version == 1 && flags < 0x20U && letters < 2 && (kind <= soft || kind >= first_of_users),
                "has no known kind");
  const auto expect_bytes = [&](std::size_t length_bytes) { return fields.bytes(fields.number(length_bytes)).size(); };
  fields.expect(expect_bytes(std::size_t{1} << (flags & 3U)) > 0, "has no name");
  if (kind == hard) {
    fields.address();
  } else {
    fields.expect(expect_bytes(2) > 0 || kind != soft, "leads nowhere");
  }
}

// III.D: the names of links or of external files.
class LocalHeap {
 public:
  LocalHeap(const Fields& from, Address at) : LocalHeap(Prefix(from, at)) {}

  // The length of a name, which is in it as a whole.
  std::uint64_t name(std::uint64_t offset) const {
    const Bytes all = names_.left();
    names_.expect(offset < all.size(), "has a name beyond its end");
    const auto length = std::ranges::find(all.subspan(offset), 0) - all.subspan(offset).begin();
    names_.expect(offset + static_cast<std::uint64_t>(length) < all.size(), "has a name without an end");
    return static_cast<std::uint64_t>(length);
  }

 private:
  struct Prefix {
    Prefix(const Fields& from, Address at)
        : fields(from, at, 8 + 2 * from.super().length_bytes + from.super().address_bytes, "local heap") {
      fields.expect(fields.has("HEAP"), "has no signature");
      fields.bytes(4);
      size = fields.length();
      free = fields.length();
    }
    Fields fields;
    std::uint64_t size;
    std::uint64_t free;
  };

  explicit LocalHeap(Prefix prefix)
      : names_(prefix.fields, prefix.fields.address(), prefix.size, "data of the local heap") {
    constexpr std::uint64_t end_of_list = 1;
    const auto bytes = names_.super().length_bytes;
    auto blocks = prefix.size / (2 * bytes);
    for (auto block = prefix.free; block != end_of_list; --blocks) {
      names_.expect(blocks > 0 && block <= prefix.size - 2 * bytes, "has a damaged list of free blocks");
      block = little_endian(names_.left().subspan(block, bytes));
    }
  }

  Fields names_;
};

// III.A.1: calls f(key, child) for the keys of all nodes; the last one of a node and those of inner nodes have no
// child.
template <class F>
void walk_tree(const Fields& from, Address root, std::uint64_t type, std::uint64_t key_bytes,
               std::uint64_t most_children, const F& f) {
  const auto address_bytes = from.super().address_bytes;
  std::set<Address> seen{root};
  std::vector<std::pair<Address, std::optional<std::uint64_t>>> nodes{{root, std::nullopt}};  // with their levels
  while (!nodes.empty()) {
    const auto [at, expected_level] = nodes.back();
    nodes.pop_back();
    Fields prefix(from, at, 8 + 2 * address_bytes, "B-tree node");
    prefix.expect(prefix.has("TREE") && prefix.number(1) == type, "is none");
    const auto level = prefix.number(1);
    prefix.expect(level == expected_level.value_or(level), "is at another level than its parent says");
    const auto children = prefix.number(2);
    prefix.expect(children <= most_children, "has too many children");
    if (children == 0) continue;
    Fields node(from, at + 8 + 2 * address_bytes, children * (key_bytes + address_bytes) + key_bytes,
                "keys of a B-tree");
    for (std::uint64_t i = 0; i <= children; ++i) {
      Fields key(node, key_bytes, "key");
      std::optional<Address> child;
      if (i < children) child = node.address();
      f(key, level == 0 ? child : std::nullopt);
      if (level == 0 || !child) continue;
      node.expect(seen.insert(*child).second, "lead to a node twice");
      nodes.emplace_back(*child, level - 1);
    }
  }
}

// III.B and C: a group in the old style.
void check_links(Fields& table) {
  const auto& super = table.super();
  const Address tree = table.address();
  const LocalHeap heap(table, table.address());
  walk_tree(table, tree, 0, super.length_bytes, super.children_of_group, [&](Fields& key, std::optional<Address> leaf) {
    heap.name(key.length());
    if (!leaf) return;
    Fields prefix(table, *leaf, 8, "node of a group");
    prefix.expect(prefix.has("SNOD"), "has no signature");
    prefix.bytes(2);
    const auto links = prefix.number(2);
    prefix.expect(links <= super.links_of_leaf, "has too many links");
    const auto link_bytes = super.length_bytes + super.address_bytes + 24;
    Fields entries(table, *leaf + 8, links * link_bytes, "links of a group");
    for (std::uint64_t i = 0; i < links; ++i) {
      Fields link(entries, link_bytes, "link");
      heap.name(link.length());
      link.address();
      constexpr std::uint64_t soft = 2;
      const bool is_soft = link.number(4) == soft;
      link.bytes(4);
      if (is_soft) heap.name(link.number(4));
    }
  });
}

// IV.A.2.h
void check_external_files(Fields& fields) {
  fields.bytes(4);
  const auto room = fields.number(2);
  const auto files = fields.number(2);
  fields.expect(files <= room, "has more files than room");
  const LocalHeap heap(fields, fields.address());
  for (std::uint64_t i = 0; i < files; ++i) {
    fields.expect(heap.name(fields.length()) > 0, "has a file without a name");
    fields.bytes(2 * fields.super().length_bytes);
  }
}

// IV.A.2.t
Super read_nodes(Fields& fields) {
  Super result = fields.super();
  fields.bytes(1);
  result.children_of_chunks = 2 * fields.number(2);
  result.children_of_group = 2 * fields.number(2);
  result.links_of_leaf = 2 * fields.number(2);
  return result;
}

Object read_object(const Fields& from, Address at, int depth = 0);

// What a message says that lies elsewhere: in another object or in a heap, which has checksums.
Object read_shared(Fields& fields, int depth) {
  constexpr std::uint64_t in_heap = 1;
  const auto version = fields.number(1);
  const auto kind = fields.number(1);
  if (version == 1) fields.bytes(6 + fields.super().length_bytes);
  if (version >= 2 && kind == in_heap) {
    fields.expect(fields.super().has_shared_messages, "lies in a heap that the file does not have");
    return {};
  }
  fields.expect(depth < 2, "leads on and on");
  return read_object(fields, fields.address(), depth + 1);
}

// The library takes the first message of a kind.
template <class T>
void keep(std::optional<T>& first, std::optional<T> another) {
  if (!first) first = std::move(another);
}

enum class Message : std::uint64_t {
  space = 1,
  link_info,
  element_type,
  old_fill,
  fill,
  link,
  external_files,
  layout,
  group_info = 10,
  filters,
  shared_messages = 15,
  continuation,
  symbol_table,
  nodes = 19
};

std::string_view message_name(Message type) {
  using enum Message;
  switch (type) {
    case space: return "data space";
    case element_type: return "data type";
    case old_fill:
    case fill: return "fill value";
    case link: return "link";
    case external_files: return "list of external files";
    case layout: return "layout";
    case filters: return "filter pipeline";
    case continuation: return "continuation";
    case symbol_table: return "symbol table";
    default: return "message";
  }
}

void read_message(Message type, bool is_shared, Fields& fields, int depth, Object& object) {
  using enum Message;
  switch (type) {
    case space: return keep(object.rank, is_shared ? read_shared(fields, depth).rank : read_rank(fields));
    case element_type:
      return keep(object.element_bytes, is_shared ? read_shared(fields, depth).element_bytes : read_type(fields));
    case old_fill:
    case fill:
      if (is_shared) {
        std::ranges::copy(read_shared(fields, depth).fill_bytes, std::back_inserter(object.fill_bytes));
      } else {
        read_fill(fields, type == old_fill, object);
      }
      return;
    case filters: return keep(object.filters, is_shared ? read_shared(fields, depth).filters : read_filters(fields));
    case layout:
      if (!object.has_layout) read_layout(fields, object);
      return;
    case link: return read_link(fields);
    case link_info: {
      fields.bytes(1);
      const auto flags = fields.number(1);
      fields.bytes(((flags & 1U) != 0 ? 8U : 0U) + (2 + (flags >> 1U & 1U)) * fields.super().address_bytes);
      return;
    }
    case group_info: {
      fields.bytes(1);
      const auto flags = fields.number(1);
      fields.bytes(4 * ((flags & 1U) + (flags >> 1U & 1U)));
      return;
    }
    case external_files: return check_external_files(fields);
    case symbol_table: return check_links(fields);
    case shared_messages: object.has_shared_messages = true; return;
    case nodes: return keep(object.nodes, std::optional(read_nodes(fields)));
    default: return;
  }
}

// What messages say has to fit together.
void expect_fit(const Fields& header, const Object& object) {
  if (!object.element_bytes) return;
  for (const auto bytes : object.fill_bytes) {
    header.expect(bytes == object.element_bytes, "fills with another size than that of its elements");
  }
  if (object.chunk.empty()) return;
  header.expect(object.chunk.size() == object.rank.value_or(object.chunk.size() - 1) + 1,
                "has chunks of another number of dimensions");
  header.expect(object.chunk.back() == object.element_bytes, "has chunks of elements of another size");
}

// IV.A.1
Object read_object(const Fields& from, Address at, int depth) {
  Object object;
  Fields start(from, at, 6, "object header");
  const bool old = !start.has("OHDR");
  std::uint64_t flags = 0;
  std::uint64_t prefix_bytes = 16;
  if (!old) {
    start.number(1);
    flags = start.number(1);
    prefix_bytes = 6U + ((flags & 0x20U) != 0 ? 16U : 0U) + ((flags & 0x10U) != 0 ? 4U : 0U) + (1U << (flags & 3U));
  }
  Fields prefix(from, at, prefix_bytes, "object header");
  prefix.bytes(old ? 8 : prefix_bytes - (1U << (flags & 3U)));
  const auto first_bytes = prefix.number(old ? 4 : std::size_t{1} << (flags & 3U));
  const std::uint64_t message_prefix = old ? 8 : 4 + ((flags & 4U) != 0 ? 2 : 0);

  std::set<Address> seen;
  std::vector<std::pair<Address, std::uint64_t>> blocks{{at + prefix_bytes, first_bytes}};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [begin, size] = blocks[i];
    prefix.expect(seen.insert(begin).second, "is continued in circles");
    Fields block(from, begin, size, "object header");
    const bool has_frame = !old && i > 0;
    block.expect(!has_frame || (size >= 8 && block.has("OCHK")), "has no signature");
    Fields messages(block, has_frame ? size - 8 : size);
    while (messages.left().size() >= message_prefix) {
      const auto type = static_cast<Message>(messages.number(old ? 2 : 1));
      const auto bytes = messages.number(2);
      const bool is_shared = (messages.number(1) & 2U) != 0;
      messages.bytes(message_prefix - (old ? 5 : 4));
      Fields message(messages, bytes, message_name(type));
      if (type == Message::continuation) {
        const Address next = message.address();
        blocks.emplace_back(next, message.length());
      } else {
        read_message(type, is_shared, message, depth, object);
      }
    }
    messages.expect(!old || messages.left().empty(), "ends within a message");
  }
  expect_fit(prefix, object);
  return object;
}

enum class FilterId : std::uint64_t { shuffle = 2, fletcher32, szip, n_bit, scale_offset };

bool trusts_its_input(const Filter& filter) {
  using enum FilterId;
  const auto id = static_cast<FilterId>(filter.id);
  return id == szip || id == n_bit || id == scale_offset;
}

// Whether the filters make a whole chunk of so many bytes at a place of the file, where the library takes that for
// granted: it is what inflating checks by itself.
void expect_whole(const Fields& from, const Object& object, Address at, std::uint64_t bytes, std::uint64_t skipped) {
  using enum FilterId;
  Fields chunk(from, at, std::min<std::uint64_t>(bytes, 4), "chunk");
  Fields(from, at + bytes, 0, "end of the chunk");
  const auto element = object.chunk.back();
  std::uint64_t elements = 1;
  for (const auto extent : object.chunk) elements *= extent;
  elements /= element;
  const auto whole = elements * element;
  const auto expect_enough = [&](std::uint64_t least) { chunk.expect(bytes >= least, "is too short"); };
  const auto filters = object.filters.value_or(std::vector<Filter>());
  for (auto i = filters.size(); i-- > 0;) {
    if ((skipped >> i & 1U) != 0) continue;
    const auto& [id, values] = filters[i];
    switch (static_cast<FilterId>(id)) {
      case shuffle: break;
      case fletcher32:
        expect_enough(4);
        bytes -= 4;
        break;
      case szip:
        chunk.expect(chunk.number(4) == whole, "unpacks to another size");
        bytes = whole;
        break;
      case n_bit: {
        chunk.expect(values.size() >= 3, "has a filter without its numbers");
        if (values[1] != 0) break;  // which does nothing
        chunk.expect(values.size() == 8 && values[2] == elements && values[3] == 1 && values[4] == element &&
                         0 < values[6] && values[6] <= 8 * element && values[7] <= 8 * element - values[6],
                     "has an n-bit filter that is not one of its numbers");
        expect_enough(elements * values[6] / 8 + 1);
        bytes = whole;
        break;
      }
      case scale_offset: {
        constexpr std::uint64_t prefix_bytes = 21;
        chunk.expect(values.size() == 20 && values[2] == elements && values[4] == element,
                     "has a scale-offset filter that is not one of its numbers");
        if (values[0] == 2 && values[1] == 8 * element) break;  // which does nothing
        const auto bits = chunk.number(4);
        chunk.expect(bits <= 8 * element, "has numbers of too many bits");
        expect_enough(prefix_bytes + (bits == 8 * element ? whole : elements * bits / 8 + 1));
        bytes = whole;
        break;
      }
      default: return;
    }
  }
  chunk.expect(bytes == whole, "has another size than its extents say");
}

void expect_not_truncated(const File& file, Address end) {
  if (end <= static_cast<Address>(file.size())) return;
  throw FileError(fmt::format("{}: is truncated: it has {} of {} bytes", file.path(), file.size(), end));
}

// II
Super read_super(const File& file) {
  constexpr std::uint64_t most_bytes = 96;
  const auto base = find_hdf5(file);
  if (!base) throw FileError(fmt::format("{}: is no HDF5 file: it has no signature of one", file.path()));
  Super super;
  super.base = static_cast<Address>(*base);
  Fields fields(file, super, 0, std::min(most_bytes, static_cast<Address>(file.size()) - super.base), "superblock");
  fields.bytes(8);
  const auto version = fields.number(1);
  if (version < 2) fields.bytes(4);
  super.address_bytes = fields.number(1);
  super.length_bytes = fields.number(1);
  for (const auto bytes : {super.address_bytes, super.length_bytes}) {
    fields.expect(bytes == 2 || bytes == 4 || bytes == 8, "has addresses or lengths of other than 2, 4 or 8 bytes");
  }
  fields.bytes(1);
  if (version < 2) {
    super.links_of_leaf = 2 * fields.number(2);
    super.children_of_group = 2 * fields.number(2);
    fields.bytes(4);
    if (version == 1) {
      super.children_of_chunks = 2 * fields.number(2);
      fields.bytes(2);
    }
    fields.bytes(2 * super.address_bytes);
    expect_not_truncated(file, fields.address());
    fields.bytes(super.address_bytes + super.length_bytes);
    super.root = fields.address();
    return super;
  }
  fields.address();
  const Address extension = fields.address();
  expect_not_truncated(file, fields.address());
  super.root = fields.address();
  if (is_undefined(extension, super)) return super;
  const Object object = read_object(fields, extension);
  super.has_shared_messages = object.has_shared_messages;
  if (const auto& nodes = object.nodes) {
    super.links_of_leaf = nodes->links_of_leaf;
    super.children_of_group = nodes->children_of_group;
    super.children_of_chunks = nodes->children_of_chunks;
  }
  return super;
}

}  // namespace

Hdf5Structure::Hdf5Structure(const std::string& path) : file_(File::open_to_read(path)), super_(read_super(file_)) {}

void Hdf5Structure::expect_sound(Address object) const {
  read_object(Fields(file_, super_, 0, 0, "beginning"), object);
}

void Hdf5Structure::expect_sound_chunks(Address data_set) const {
  const Fields from(file_, super_, 0, 0, "beginning");
  const Object object = read_object(from, data_set);
  for (const auto& [id, values] : object.filters.value_or(std::vector<Filter>())) {
    if (H5Zfilter_avail(static_cast<H5Z_filter_t>(id)) > 0) continue;
    from.refuse(
        fmt::format("its elements are compressed by filter {}, which this HDF5 library lacks; expected another "
                    "one, as h5repack -f GZIP=1 sets",
                    id));
  }
  if (!object.chunk_tree && !object.chunk.empty() && object.filters &&
      std::ranges::any_of(*object.filters, trusts_its_input)) {
    throw FileError(fmt::format(
        "{}: the data set at byte {} combines the szip, n-bit or scale-offset filter with an index of HDF5 1.10 or "
        "later, "
        "whose chunks can't be checked; expected another filter, as h5repack -f GZIP=1 sets, or an earlier format",
        file_.path(), data_set));
  }
  if (!object.chunk_tree || is_undefined(*object.chunk_tree, super_)) return;
  const auto key_bytes = 8 * (1 + object.chunk.size());
  walk_tree(from, *object.chunk_tree, 1, key_bytes, super_.children_of_chunks,
            [&](Fields& key, std::optional<Address> chunk) {
              const auto bytes = key.number(4);
              const auto skipped = key.number(4);
              for (const auto extent : object.chunk) {
                key.expect(key.number(8) % extent == 0, "is no multiple of the extents of chunks");
              }
              if (chunk) expect_whole(from, object, *chunk, bytes, skipped);
            });
}

}  // namespace plait::io
