#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plait/io/hdf5/hdf5_fields.hpp"

/// The messages in the header of an object [IV.A.2]: each takes its fields, and returns what others have to agree with.
namespace plait::io::hdf5 {

/// A filter that chunks pass.
struct Filter {
  std::uint64_t id;
  std::vector<std::uint64_t> values;
};

/// Where the elements of a data set are.
struct Placement {
  std::vector<std::uint64_t> chunk = {};  // its extents, then the bytes of an element; empty if there are none
  std::optional<Address> chunk_tree = {};
};

/// The bytes of an element.
std::uint64_t read_type(Fields& fields);
/// How many dimensions there are.
std::uint64_t read_rank(Fields& fields);
Placement read_layout(Fields& fields);
std::vector<Filter> read_filters(Fields& fields);
/// The bytes of the value, where there is one.
std::optional<std::uint64_t> read_fill(Fields& fields);
std::optional<std::uint64_t> read_old_fill(Fields& fields);
void read_link(Fields& fields);
void read_link_info(Fields& fields);
void read_group_info(Fields& fields);
/// A superblock in which nothing but the sizes of nodes is set.
Super read_nodes(Fields& fields);

/// What an object's header tells, as far as it has to fit together: of each kind the first message, which is the one
/// that the library takes.
struct Object {
  std::optional<std::uint64_t> rank = {};
  std::optional<std::uint64_t> element_bytes = {};
  std::vector<std::uint64_t> fill_bytes = {};
  std::optional<std::vector<Filter>> filters = {};
  std::optional<Placement> placement = {};
  bool has_shared_messages = false;
  std::optional<Super> nodes = {};  // see read_nodes
};

/// The object at an address of the file [IV.A.1], with all its messages checked.
Object read_object(const Fields& from, Address at);

}  // namespace plait::io::hdf5
