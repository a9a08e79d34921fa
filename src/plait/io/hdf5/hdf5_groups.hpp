#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "plait/io/hdf5/hdf5_fields.hpp"

/// Groups in the old style, and the trees that they share with chunks.
namespace plait::io::hdf5 {

/// What kind a tree is of, and what its nodes consist of.
struct Tree {
  Address root = 0;
  std::uint64_t type = 0;
  std::uint64_t key_bytes = 0;
  std::uint64_t most_children = 0;
};

/// Calls f(key, child) for the keys of all nodes of a B-tree [III.A.1]; the last one of a node and those of inner nodes
/// have no child.
void walk_tree(const Fields& from, const Tree& tree,
               const std::function<void(Fields& key, std::optional<Address> child)>& f);

/// A symbol table: all links of a group [III.B and C], and their names.
void check_links(Fields& table);

/// The message of that name [IV.A.2.h].
void check_external_files(Fields& fields);

}  // namespace plait::io::hdf5
