#include "plait/io/hdf5/hdf5_groups.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace plait::io::hdf5 {

namespace {

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

}  // namespace

void walk_tree(const Fields& from, const Tree& tree,
               const std::function<void(Fields& key, std::optional<Address> child)>& f) {
  const auto& [root, type, key_bytes, most_children] = tree;
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

void check_links(Fields& table) {
  const auto& super = table.super();
  const Address tree = table.address();
  const LocalHeap heap(table, table.address());
  walk_tree(table, {tree, 0, super.length_bytes, super.children_of_group},
            [&](Fields& key, std::optional<Address> leaf) {
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

}  // namespace plait::io::hdf5
