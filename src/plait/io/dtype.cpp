#include "plait/io/dtype.hpp"

#include <array>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::io {

namespace {

struct Names {
  DType dtype;
  std::string_view plait;
  std::string_view numpy;
};

constexpr std::array<Names, 12> names{{{DType::i8, "i8", "int8"},
                                       {DType::i16, "i16", "int16"},
                                       {DType::i32, "i32", "int32"},
                                       {DType::i64, "i64", "int64"},
                                       {DType::u8, "u8", "uint8"},
                                       {DType::u16, "u16", "uint16"},
                                       {DType::u32, "u32", "uint32"},
                                       {DType::u64, "u64", "uint64"},
                                       {DType::f32, "f32", "float32"},
                                       {DType::f64, "f64", "float64"},
                                       {DType::c64, "c64", "complex64"},
                                       {DType::c128, "c128", "complex128"}}};

}  // namespace

std::string_view name(DType dtype) { return names[static_cast<std::size_t>(dtype)].plait; }

std::string_view all_dtype_names() { return "i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64 and c128"; }

DType parse_dtype(std::string_view text) {
  for (const auto& candidate : names) {
    if (text == candidate.plait || text == candidate.numpy) return candidate.dtype;
  }
  throw ArgumentError(fmt::format("dtype is \"{}\"; it can be {}, or NumPy's name of one of these, such as float64",
                                  text, all_dtype_names()));
}

Index bytes(DType dtype) {
  return with_dtype(dtype, []<class T>() { return Index{sizeof(T)}; });
}

}  // namespace plait::io
