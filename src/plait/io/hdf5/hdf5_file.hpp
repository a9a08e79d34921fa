#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define H5_USE_110_API  // links with addresses, also of later versions
#include <hdf5.h>

#include "plait/base/error.hpp"
#include "plait/io/dtype.hpp"
#include "plait/io/extents.hpp"

/// What is needed to call the HDF5 library, its types of elements as plait's, and what is in a file; included only by
/// sources of a build that has HDF5.
namespace plait::io {

/// Something that the HDF5 library has opened, and the function that closes it.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Handle(hid_t id, Close closing) noexcept : id_(id), close_(closing) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }

  [[nodiscard]] hid_t id() const noexcept { return id_; }
  [[nodiscard]] bool valid() const noexcept { return id_ >= 0; }

  /// Closes it now, and tells whether that went well: much is written only then.
  [[nodiscard]] bool close() noexcept { return close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  Close close_;
};

/// While it lives, the HDF5 library keeps its complaints to itself, instead of printing them.
class QuietHdf5 {
 public:
  QuietHdf5();
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;
  ~QuietHdf5();

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// "FILE: WHAT: the words of the HDF5 library for what failed last".
[[nodiscard]] FileError hdf5_error(std::string_view file, std::string_view what);

/// The handle, if it is valid.
///
/// \throws FileError  "FILE: WHAT: ..." otherwise
[[nodiscard]] Hdf5Handle opened(hid_t id, Hdf5Handle::Close close, std::string_view file, std::string_view what);

/// The DType of the elements of a file, in any byte order; nothing if it is none.
[[nodiscard]] std::optional<DType> dtype_of_hdf5(hid_t type);

/// A type for people: "f64", "strings", "a compound of x, y and z".
[[nodiscard]] std::string describe_hdf5_type(hid_t type);

/// How this machine holds elements that a file has as `in_file`, whose DType it is.
[[nodiscard]] Hdf5Handle hdf5_memory_type(DType dtype, hid_t in_file);

/// How plait writes elements: as this machine holds them, complex ones as a compound of r and i.
[[nodiscard]] Hdf5Handle hdf5_written_type(DType dtype);

/// This and what follows throw FileError, beginning with the file's name.
///
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
