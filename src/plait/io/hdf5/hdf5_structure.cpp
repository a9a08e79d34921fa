// Names and numbers are those of the "HDF5 File Format Specification", version 3.0.
#include "plait/io/hdf5/hdf5_structure.hpp"

#include <hdf5.h>

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/hdf5/hdf5.hpp"
#include "plait/io/hdf5/hdf5_groups.hpp"
#include "plait/io/hdf5/hdf5_object.hpp"

namespace plait::io {

using hdf5::Address;
using hdf5::Fields;
using hdf5::Filter;
using hdf5::Object;
using hdf5::Super;

namespace {

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
  const auto element = object.placement->chunk.back();
  std::uint64_t elements = 1;
  for (const auto extent : object.placement->chunk) elements *= extent;
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
  const hdf5::Placement placement = object.placement.value_or(hdf5::Placement());
  if (!placement.chunk_tree && !placement.chunk.empty() && object.filters &&
      std::ranges::any_of(*object.filters, trusts_its_input)) {
    throw FileError(fmt::format(
        "{}: the data set at byte {} combines the szip, n-bit or scale-offset filter with an index of HDF5 1.10 or "
        "later, whose chunks can't be checked; expected another filter, as h5repack -f GZIP=1 sets, or an earlier "
        "format",
        file_.path(), data_set));
  }
  if (!placement.chunk_tree || is_undefined(*placement.chunk_tree, super_)) return;
  const auto key_bytes = 8 * (1 + placement.chunk.size());
  walk_tree(from, {*placement.chunk_tree, 1, key_bytes, super_.children_of_chunks},
            [&](Fields& key, std::optional<Address> chunk) {
              const auto bytes = key.number(4);
              const auto skipped = key.number(4);
              for (const auto extent : placement.chunk) {
                key.expect(key.number(8) % extent == 0, "is no multiple of the extents of chunks");
              }
              if (chunk) expect_whole(from, object, *chunk, bytes, skipped);
            });
}

}  // namespace plait::io
