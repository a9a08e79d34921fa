#pragma once

#define H5_USE_110_API  // links with addresses, also of later versions
#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

#include "plait/base/error.hpp"

/// What is needed to call the HDF5 library; included only by sources of a build that has it.
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

}  // namespace plait::io
