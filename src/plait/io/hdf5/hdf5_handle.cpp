#include "plait/io/hdf5/hdf5_handle.hpp"

#include <fmt/format.h>

namespace plait::io {

namespace {

// The innermost complaint comes first and is the most telling one.
herr_t take_first(unsigned /*depth*/, const H5E_error2_t* error, void* text) {
  auto& result = *static_cast<std::string*>(text);
  if (result.empty() && error->desc != nullptr) result = error->desc;
  return 0;
}

}  // namespace

QuietHdf5::QuietHdf5() {
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietHdf5::~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

FileError hdf5_error(std::string_view file, std::string_view what) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
  return FileError(fmt::format("{}: {}: {}", file, what, reason.empty() ? "HDF5 does not say why" : reason));
}

Hdf5Handle opened(hid_t id, Hdf5Handle::Close close, std::string_view file, std::string_view what) {
  if (id < 0) throw hdf5_error(file, what);
  return {id, close};
}

}  // namespace plait::io
