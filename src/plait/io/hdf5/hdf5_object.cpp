#include "plait/io/hdf5/hdf5_object.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "plait/io/hdf5/hdf5_groups.hpp"

namespace plait::io::hdf5 {

namespace {

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

Object read_object(const Fields& from, Address at) { return read_object(from, at, 0); }

}  // namespace plait::io::hdf5
