#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plait/io/dtype.hpp"
#include "plait/io/extents.hpp"
#include "plait/io/hdf5/hdf5_handle.hpp"

/// What is in an HDF5 file; for sources of a build that has HDF5. All throw FileError, beginning with the file's name.
namespace plait::io {

/// Opens a file by this process alone, without locking it: it is looked at before and after whether it changed. Its
/// superblock and root group are sound (see Hdf5Structure).
[[nodiscard]] Hdf5Handle open_hdf5(const std::string& file);

/// The properties with which a process opens or makes a file alone and unlocked.
[[nodiscard]] Hdf5Handle hdf5_file_access(const std::string& file);

struct Hdf5Object {
  std::string path;
  bool is_group;
};

/// Every group and data set of the file but its root that hard links lead to, in the order of their paths.
[[nodiscard]] std::vector<Hdf5Object> hdf5_objects(hid_t file);

/// A data set of any kind, as lists for people and choices need it.
struct Hdf5DataSet {
  std::string path;
  std::vector<hsize_t> extents;
  std::optional<DType> dtype;
  std::string type;

  [[nodiscard]] bool is_one_of(Dimensions wanted) const { return wanted.contain(extents.size()) && dtype.has_value(); }
  /// "/a/H (20 x 30, f64)"
  [[nodiscard]] std::string text() const;
};

/// An open data set as such.
[[nodiscard]] Hdf5DataSet describe_hdf5_data_set(hid_t data_set, std::string path);

/// All data sets of the file, in the order of their paths.
[[nodiscard]] std::vector<Hdf5DataSet> hdf5_data_sets(hid_t file);

}  // namespace plait::io
