#pragma once

#include <string>
#include <string_view>

namespace plait::io {

/// A matrix in an HDF5 file.
struct Hdf5Name {
  std::string file;
  std::string data_set;  // its path from the root, which begins with "/"; empty: not given

  friend bool operator==(const Hdf5Name&, const Hdf5Name&) = default;
};

/// The two parts of "FILE.h5:/path/to/dataset". The file's name ends in .h5 or .hdf5, in letters of either case, where
/// a data set is named; what has no such colon is the name of a file. The first "/" of the path may be left out.
///
/// \throws ArgumentError  nothing, or only slashes, follow the colon
[[nodiscard]] Hdf5Name parse_hdf5_name(std::string_view text);

/// Whether a file to be written under this name becomes an HDF5 file: FILE.h5 or FILE.h5:/path, .hdf5 alike.
[[nodiscard]] bool is_hdf5_name(std::string_view text);

}  // namespace plait::io
