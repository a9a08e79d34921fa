#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "plait/io/file.hpp"

namespace plait::io {

/// What an HDF5 file consists of, checked before the HDF5 library follows it. The library trusts the sizes, counts and
/// addresses that have no checksum: where they are damaged, it reads and writes memory that is not its own.
///
/// Not checked is what lies under a checksum and what later versions of the format add. All throw FileError, which
/// begins with the path.
class Hdf5Structure {
 public:
  using Address = std::uint64_t;

  /// What the superblock says.
  struct Super {
    Address base = 0;  // of the superblock itself: all addresses count from here
    Address root = 0;  // of the root group
    std::size_t address_bytes = 8;
    std::size_t length_bytes = 8;
    std::uint64_t links_of_leaf = 8;  // at most, as the next two
    std::uint64_t children_of_group = 32;
    std::uint64_t children_of_chunks = 64;
    bool has_shared_messages = false;  // in a heap
  };

  /// Reads the superblock.
  explicit Hdf5Structure(const std::string& path);

  [[nodiscard]] Address root() const noexcept { return super_.root; }

  /// Checks the header of an object, the messages in it and the names of a group's links, but not what these lead to.
  void expect_sound(Address object) const;

  /// The same of a data set, and that each of its chunks holds as much as its filters need.
  void expect_sound_chunks(Address data_set) const;

 private:
  File file_;
  Super super_;
};

}  // namespace plait::io
