#include "plait/io/hdf5/hdf5_messages.hpp"

#include <algorithm>
#include <utility>

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

}  // namespace plait::io::hdf5
