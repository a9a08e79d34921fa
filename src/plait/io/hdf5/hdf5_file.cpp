#include "plait/io/hdf5/hdf5_file.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/io/hdf5/hdf5_structure.hpp"
#include "plait/io/hdf5/hdf5_type.hpp"

namespace plait::io {

namespace {

struct Visit {
  const Hdf5Structure structure;
  std::vector<Hdf5Object> found;
  std::exception_ptr failure;
};

herr_t visit(hid_t root, const char* name, const H5L_info_t* link, void* data) {
  auto& visited = *static_cast<Visit*>(data);
  if (link->type != H5L_TYPE_HARD) return 0;
  try {
    visited.structure.expect_sound(link->u.address);
    const Hdf5Handle object(H5Oopen(root, name, H5P_DEFAULT), H5Oclose);
    if (!object.valid()) return 0;  // damaged, or of a later version of HDF5: the others may do
    const H5I_type_t kind = H5Iget_type(object.id());
    if (kind == H5I_GROUP || kind == H5I_DATASET)
      visited.found.push_back({fmt::format("/{}", name), kind == H5I_GROUP});
    return 0;
  } catch (...) {
    visited.failure = std::current_exception();  // none may pass through HDF5
    return -1;
  }
}

}  // namespace

std::string hdf5_file_name(hid_t file) {
  const ssize_t length = H5Fget_name(file, nullptr, 0);
  std::string result(static_cast<std::size_t>(std::max(length, ssize_t{0})), '\0');
  H5Fget_name(file, result.data(), result.size() + 1);
  return result;
}

Hdf5Handle hdf5_file_access(const std::string& file) {
  auto access = opened(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, file, "HDF5 can't be used");
  H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  H5Pset_file_locking(access.id(), false, true);  // not every file system has locks
#endif
  return access;
}

Hdf5Handle open_hdf5(const std::string& file) {
  const Hdf5Structure structure(file);
  structure.expect_sound(structure.root());
  const auto access = hdf5_file_access(file);
  return opened(H5Fopen(file.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose, file, "can't be opened as an HDF5 file");
}

std::string Hdf5DataSet::text() const {
  return fmt::format("{} ({}, {})", path,
                     extents.empty() ? "a single value" : fmt::format("{}", fmt::join(extents, " x ")), type);
}

Hdf5DataSet describe_hdf5_data_set(hid_t data_set, std::string path) {
  Hdf5DataSet result{std::move(path), {}, {}, {}};
  const Hdf5Handle space(H5Dget_space(data_set), H5Sclose);
  if (const int dimensions = H5Sget_simple_extent_ndims(space.id()); dimensions > 0) {
    result.extents.resize(static_cast<std::size_t>(dimensions));
    H5Sget_simple_extent_dims(space.id(), result.extents.data(), nullptr);
  }
  const Hdf5Handle type(H5Dget_type(data_set), H5Tclose);
  result.dtype = dtype_of_hdf5(type.id());
  result.type = describe_hdf5_type(type.id());
  return result;
}

std::vector<Hdf5Object> hdf5_objects(hid_t file) {
  Visit visited{Hdf5Structure(hdf5_file_name(file)), {}, nullptr};
  // HDF5 1.10 frees what it has not made where a list that it is to sort is damaged.
  H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &visited);
  if (visited.failure) std::rethrow_exception(visited.failure);
  std::ranges::sort(visited.found, {}, &Hdf5Object::path);
  return std::move(visited.found);
}

std::vector<Hdf5DataSet> hdf5_data_sets(hid_t file) {
  std::vector<Hdf5DataSet> result;
  for (const auto& [path, is_group] : hdf5_objects(file)) {
    if (is_group) continue;
    const Hdf5Handle data_set(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
    if (data_set.valid()) result.push_back(describe_hdf5_data_set(data_set.id(), path));
  }
  return result;
}

}  // namespace plait::io
