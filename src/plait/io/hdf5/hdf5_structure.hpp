#pragma once

#include <string>

#include "plait/io/file.hpp"
#include "plait/io/hdf5/hdf5_fields.hpp"

namespace plait::io {

/// What an HDF5 file consists of, checked before the HDF5 library follows it. The library trusts the sizes, counts and
/// addresses that have no checksum: where they are damaged, it reads and writes memory that is not its own.
///
/// Not checked is what lies under a checksum and what later versions of the format add. All throw FileError, which
/// begins with the path.
class Hdf5Structure {
 public:
  using Address = hdf5::Address;

  /// Reads the superblock.
  explicit Hdf5Structure(const std::string& path);

  [[nodiscard]] Address root() const noexcept { return super_.root; }

  /// Checks the header of an object, the messages in it and the names of a group's links, but not what these lead to.
  void expect_sound(Address object) const;

  /// The same of a data set, and that each of its chunks holds as much as its filters need.
  void expect_sound_chunks(Address data_set) const;

 private:
  File file_;
  hdf5::Super super_;
};

}  // namespace plait::io
