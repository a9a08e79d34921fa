#include "plait/base/dtype.hpp"

#include "plait/base/error.hpp"

namespace plait {

DType parse_dtype(std::string_view text) {
  constexpr std::array<std::string_view, 12> numpy{"int8",   "int16",  "int32",   "int64",   "uint8",     "uint16",
                                                   "uint32", "uint64", "float32", "float64", "complex64", "complex128"};
  for (std::size_t i = 0; i < numpy.size(); ++i) {
    if (text == numpy[i] || text == name(static_cast<DType>(i))) return static_cast<DType>(i);
  }
  throw ArgumentError("dtype is \"" + std::string(text) + "\"; it can be " + all_dtype_names() +
                      ", or NumPy's name of one of these, such as float64");
}

void throw_other_dtype(DType dtype, const std::string& expected) {
  throw ArgumentError("type: is " + std::string(name(dtype)) + ", expected " + expected);
}

}  // namespace plait
