#include "plait/simd/reduce/element.hpp"

#include "plait/simd/reduce/reduce_element.hpp"

namespace plait::simd {

std::string_view name(Element element) noexcept {
  switch (element) {
    case Element::int8: return "int8";
    case Element::int16: return "int16";
    case Element::int32: return "int32";
    case Element::int64: return "int64";
    case Element::uint8: return "uint8";
    case Element::uint16: return "uint16";
    case Element::uint32: return "uint32";
    case Element::uint64: return "uint64";
    case Element::float16: return "float16";
    case Element::bfloat16: return "bfloat16";
    case Element::float32: return "float32";
    case Element::float64: return "float64";
    case Element::long_double: return "long_double";
    case Element::complex64: return "complex64";
    case Element::complex128: return "complex128";
    case Element::boolean: return "boolean";
    case Element::logical: return "logical";
    case Element::float_int: return "float_int";
    case Element::double_int: return "double_int";
    case Element::long_int: return "long_int";
    case Element::short_int: return "short_int";
    case Element::int_int: return "int_int";
    case Element::long_double_int: return "long_double_int";
    case Element::float_float: return "float_float";
    case Element::double_double: return "double_double";
  }
  return "unknown";
}

Index size_in_bytes(Element element) noexcept {
  return with_type_of(element, []<class T>() { return static_cast<Index>(sizeof(T)); });
}

bool is_padded(Element element) noexcept {
  return with_type_of(element, []<class T>() { return has_padding<T>; });
}

}  // namespace plait::simd
