#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plait/io/hdf5/hdf5_fields.hpp"
#include "plait/io/hdf5/hdf5_messages.hpp"

namespace plait::io::hdf5 {

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
