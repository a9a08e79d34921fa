#include "plait/io/hdf5/hdf5_file.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/contract.hpp"
#include "plait/io/hdf5/hdf5_structure.hpp"

namespace plait::io {

namespace {

// The innermost complaint comes first and is the most telling one.
herr_t take_first(unsigned /*depth*/, const H5E_error2_t* error, void* text) {
  auto& result = *static_cast<std::string*>(text);
  if (result.empty() && error->desc != nullptr) result = error->desc;
  return 0;
}

/// A driver's complaint in a line: what failed and why, without the time, the file again and addresses.
std::string without_details(const std::string& reason) {
  constexpr std::string_view of_system = "error message = '";
  const auto details = reason.find(": time = ");
  const auto words = reason.find(of_system);
  if (details == std::string::npos || words == std::string::npos) return reason;
  const auto first = words + of_system.size();
  return reason.substr(0, details) + ": " + reason.substr(first, reason.find('\'', first) - first);
}

using Hdf5Names = std::pair<std::string, std::string>;

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> complex_names{
    {{"r", "i"}, {"re", "im"}, {"real", "imag"}}};

std::string member_name(hid_t type, unsigned member) {
  char* name = H5Tget_member_name(type, member);
  std::string result = name == nullptr ? "?" : name;
  H5free_memory(name);
  return result;
}

std::optional<DType> integer(bool is_signed, std::size_t bytes) {
  switch (bytes) {
    case 1: return is_signed ? DType::i8 : DType::u8;
    case 2: return is_signed ? DType::i16 : DType::u16;
    case 4: return is_signed ? DType::i32 : DType::u32;
    case 8: return is_signed ? DType::i64 : DType::u64;
    default: return std::nullopt;
  }
}

std::optional<DType> real(hid_t type) {
  if (H5Tget_class(type) != H5T_FLOAT) return std::nullopt;
  if (H5Tget_size(type) == 4) return DType::f32;
  if (H5Tget_size(type) == 8) return DType::f64;
  return std::nullopt;
}

// The DType of a pair that is a complex number.
std::optional<DType> complex(hid_t type) {
  if (H5Tget_nmembers(type) != 2) return std::nullopt;
  const Hdf5Handle first(H5Tget_member_type(type, 0), H5Tclose);
  const Hdf5Handle second(H5Tget_member_type(type, 1), H5Tclose);
  const auto part = real(first.id());
  if (!part || real(second.id()) != part) return std::nullopt;
  const Hdf5Names names{member_name(type, 0), member_name(type, 1)};
  for (const auto& [real_part, imaginary_part] : complex_names) {
    if (names.first == real_part && names.second == imaginary_part) {
      return part == DType::f32 ? DType::c64 : DType::c128;
    }
  }
  return std::nullopt;
}

hid_t native(DType dtype) {
  switch (dtype) {
    case DType::i8: return H5T_NATIVE_INT8;
    case DType::i16: return H5T_NATIVE_INT16;
    case DType::i32: return H5T_NATIVE_INT32;
    case DType::i64: return H5T_NATIVE_INT64;
    case DType::u8: return H5T_NATIVE_UINT8;
    case DType::u16: return H5T_NATIVE_UINT16;
    case DType::u32: return H5T_NATIVE_UINT32;
    case DType::u64: return H5T_NATIVE_UINT64;
    case DType::f32:
    case DType::c64: return H5T_NATIVE_FLOAT;
    case DType::f64:
    case DType::c128: return H5T_NATIVE_DOUBLE;
  }
  contract_violated("dtype", "a DType is one of its enumerators", __FILE__, __LINE__);
}

Hdf5Handle pair_or_number(DType dtype, const Hdf5Names& names) {
  if (!is_complex(dtype)) return {H5Tcopy(native(dtype)), H5Tclose};
  const auto part = static_cast<std::size_t>(component_bytes(dtype));
  Hdf5Handle pair(H5Tcreate(H5T_COMPOUND, 2 * part), H5Tclose);
  H5Tinsert(pair.id(), names.first.c_str(), 0, native(dtype));
  H5Tinsert(pair.id(), names.second.c_str(), part, native(dtype));
  return pair;
}

std::string describe_compound(hid_t type) {
  std::string names;
  const int members = H5Tget_nmembers(type);
  for (int member = 0; member < members; ++member) {
    names += fmt::format("{}{}",
                         member == 0             ? ""
                         : member == members - 1 ? " and "
                                                 : ", ",
                         member_name(type, static_cast<unsigned>(member)));
  }
  return "a compound of " + names;
}

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

QuietHdf5::QuietHdf5() {
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietHdf5::~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

FileError hdf5_error(std::string_view file, std::string_view what) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
  return FileError(
      fmt::format("{}: {}: {}", file, what, reason.empty() ? "HDF5 does not say why" : without_details(reason)));
}

Hdf5Handle opened(hid_t id, Hdf5Handle::Close close, std::string_view file, std::string_view what) {
  if (id < 0) throw hdf5_error(file, what);
  return {id, close};
}

std::optional<DType> dtype_of_hdf5(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: return integer(H5Tget_sign(type) == H5T_SGN_2, H5Tget_size(type));
    case H5T_FLOAT: return real(type);
    case H5T_COMPOUND: return complex(type);
    default: return std::nullopt;
  }
}

std::string describe_hdf5_type(hid_t type) {
  if (const auto dtype = dtype_of_hdf5(type)) return std::string(name(*dtype));
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: return fmt::format("integers of {} bytes", H5Tget_size(type));
    case H5T_FLOAT: return fmt::format("real numbers of {} bytes", H5Tget_size(type));
    case H5T_COMPOUND: return describe_compound(type);
    case H5T_STRING: return "strings";
    case H5T_ENUM: return "names for numbers, such as false and true";
    case H5T_ARRAY: return "arrays";
    case H5T_VLEN: return "lists of any length";
    case H5T_REFERENCE: return "references";
    default: return "elements that are no numbers";
  }
}

Hdf5Handle hdf5_memory_type(DType dtype, hid_t in_file) {
  if (!is_complex(dtype)) return pair_or_number(dtype, {});
  return pair_or_number(dtype, {member_name(in_file, 0), member_name(in_file, 1)});
}

Hdf5Handle hdf5_written_type(DType dtype) { return pair_or_number(dtype, {"r", "i"}); }

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
