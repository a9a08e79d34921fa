#include "plait/io/hdf5/hdf5_type.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plait/base/contract.hpp"

namespace plait::io {

namespace {

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

}  // namespace

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

}  // namespace plait::io
