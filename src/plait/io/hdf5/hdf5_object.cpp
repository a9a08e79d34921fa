#include "plait/io/hdf5/hdf5_object.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "plait/io/hdf5/hdf5_groups.hpp"

namespace plait::io::hdf5 {

namespace {

// IV.A.2.d
std::uint64_t read_nested_type(Fields& fields, int depth) {
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
        const auto bytes = read_nested_type(fields, depth + 1);
        fields.expect(offset <= size && count * bytes <= size - offset, "has a member beyond the end of its compound");
      }
      break;
    }
    case enumeration: {
      fields.expect(read_nested_type(fields, depth + 1) == size, "has names for numbers of another size");
      for (std::uint64_t i = 0; i < members; ++i) skip_name();
      fields.bytes(members * size);
      break;
    }
    case list: read_nested_type(fields, depth + 1); break;
    case array: {
      const auto rank = fields.number(1);
      fields.expect(0 < rank && rank <= 32, "has arrays of too many dimensions");
      if (version < 3) fields.bytes(3);
      std::uint64_t count = 1;
      for (std::uint64_t i = 0; i < rank; ++i) count = std::min(count * fields.number(4), size + 1);
      if (version < 3) fields.bytes(4 * rank);
      fields.expect(count * read_nested_type(fields, depth + 1) == size,
                    "has arrays of another size than their elements");
      break;
    }
    default: break;
  }
  return size;
}

Object read_object(const Fields& from, Address at, int depth);

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
    case fill: {
      if (is_shared) {
        std::ranges::copy(read_shared(fields, depth).fill_bytes, std::back_inserter(object.fill_bytes));
      } else if (const auto bytes = type == fill ? read_fill(fields) : read_old_fill(fields)) {
        object.fill_bytes.push_back(*bytes);
      }
      return;
    }
    case filters: return keep(object.filters, is_shared ? read_shared(fields, depth).filters : read_filters(fields));
    case layout:
      if (!object.placement) object.placement = read_layout(fields);
      return;
    case link: return read_link(fields);
    case link_info: return read_link_info(fields);
    case group_info: return read_group_info(fields);
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
  if (!object.placement || object.placement->chunk.empty()) return;
  const auto& chunk = object.placement->chunk;
  header.expect(chunk.size() == object.rank.value_or(chunk.size() - 1) + 1,
                "has chunks of another number of dimensions");
  header.expect(chunk.back() == object.element_bytes, "has chunks of elements of another size");
}

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

}  // namespace

std::uint64_t read_type(Fields& fields) { return read_nested_type(fields, 0); }

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
Placement read_layout(Fields& fields) {
  enum Class { compact, contiguous, chunked, elsewhere };
  Placement placement;
  const auto version = fields.number(1);
  const auto extents = [&](std::uint64_t count, std::size_t bytes) {
    std::vector<std::uint64_t> result(count);
    std::uint64_t chunk_bytes = 1;
    for (auto& extent : result) {
      extent = fields.number(bytes);
      fields.expect(extent > 0 && extent <= 0xffffffffU / chunk_bytes, "has chunks of no or more than 4 GiB");
      chunk_bytes *= extent;
    }
    placement.chunk = std::move(result);
  };
  if (version < 3) {
    const auto count = fields.number(1);
    const auto kind = fields.number(1);
    fields.expect(kind <= chunked, "has no known kind");
    fields.bytes(5);
    const Address at = kind == compact ? 0 : fields.address();
    if (kind == chunked) {
      placement.chunk_tree = at;
      extents(count, 4);
    } else {
      fields.bytes(4 * count);
      if (kind == compact) fields.bytes(fields.number(4));
    }
    return placement;
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
    placement.chunk_tree = fields.address();
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
  return placement;
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

// IV.A.2.e
std::optional<std::uint64_t> read_old_fill(Fields& fields) {
  const auto size = fields.number(4);
  if (size == 0 || size > 0x7fffffffU) return std::nullopt;
  fields.bytes(size);
  return size;
}

// IV.A.2.f
std::optional<std::uint64_t> read_fill(Fields& fields) {
  const auto version = fields.number(1);
  const auto flags = fields.number(version < 3 ? 3 : 1);
  if (version < 3 ? version > 1 && flags >> 16U == 0 : (flags & 0x20U) == 0) return std::nullopt;
  return read_old_fill(fields);
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

// IV.A.2.c
void read_link_info(Fields& fields) {
  fields.bytes(1);
  const auto flags = fields.number(1);
  fields.bytes(((flags & 1U) != 0 ? 8U : 0U) + (2 + (flags >> 1U & 1U)) * fields.super().address_bytes);
}

// IV.A.2.k
void read_group_info(Fields& fields) {
  fields.bytes(1);
  const auto flags = fields.number(1);
  fields.bytes(4 * ((flags & 1U) + (flags >> 1U & 1U)));
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

Object read_object(const Fields& from, Address at) { return read_object(from, at, 0); }

}  // namespace plait::io::hdf5
