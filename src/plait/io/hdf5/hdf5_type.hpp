#pragma once

#include <optional>
#include <string>

#include "plait/io/dtype.hpp"
#include "plait/io/hdf5/hdf5_handle.hpp"

/// HDF5's types of elements as plait's.
namespace plait::io {

/// The DType of the elements of a file, in any byte order; nothing if it is none.
[[nodiscard]] std::optional<DType> dtype_of_hdf5(hid_t type);

/// A type for people: "f64", "strings", "a compound of x, y and z".
[[nodiscard]] std::string describe_hdf5_type(hid_t type);

/// How this machine holds elements that a file has as `in_file`, whose DType it is.
[[nodiscard]] Hdf5Handle hdf5_memory_type(DType dtype, hid_t in_file);

/// How plait writes elements: as this machine holds them, complex ones as a compound of r and i.
[[nodiscard]] Hdf5Handle hdf5_written_type(DType dtype);

}  // namespace plait::io
