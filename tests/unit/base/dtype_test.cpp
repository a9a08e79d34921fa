#include "plait/base/dtype.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace plait {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::vector<DType> all{DType::i8,  DType::i16, DType::i32, DType::i64, DType::u8,  DType::u16,
                             DType::u32, DType::u64, DType::f32, DType::f64, DType::c64, DType::c128};

TEST(DTypes, HaveNamesThatAreUnderstood) {
  for (const DType dtype : all) EXPECT_EQ(parse_dtype(name(dtype)), dtype) << name(dtype);
}

TEST(DTypes, AreUnderstoodByTheirNumpyNames) {
  const std::vector<std::string> numpy{"int8",   "int16",  "int32",   "int64",   "uint8",     "uint16",
                                       "uint32", "uint64", "float32", "float64", "complex64", "complex128"};
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(parse_dtype(numpy[i]), all[i]) << numpy[i];
}

TEST(DTypes, ThatAreUnknownAreRefusedWithAllThatThereAre) {
  for (const char* text : {"", "f16", "F64", "float", "float16", " f64", "f64 ", "bool"}) {
    EXPECT_THAT(test::message_of<ArgumentError>([&] { return parse_dtype(text); }),
                AllOf(HasSubstr('"' + std::string(text) + '"'),
                      HasSubstr("i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64 and c128")))
        << text;
  }
}

TEST(DTypes, LeadToTheirTypeAndBack) {
  for (const DType dtype : all) {
    const DType back = with_dtype(dtype, []<class T>() { return dtype_of<T>(); });
    EXPECT_EQ(back, dtype) << name(dtype);
  }
}

TEST(DTypes, HaveTheSizesOfTheirTypes) {
  const std::vector<Index> sizes{1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16};
  const std::vector<Index> components{1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 4, 8};
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(bytes(all[i]), sizes[i]) << name(all[i]);
    EXPECT_EQ(component_bytes(all[i]), components[i]) << name(all[i]);
  }
}

TEST(DTypes, ThatAreNotServedAreRefusedNamingThoseThatAre) {
  EXPECT_EQ(RealDTypes::with(DType::f32, []<class T>() { return sizeof(T); }), 4U);
  for (const DType dtype : all) {
    EXPECT_EQ(FieldDTypes::has(dtype), dtype >= DType::f32) << name(dtype);
    if (RealDTypes::has(dtype)) continue;
    EXPECT_THAT(test::message_of<ArgumentError>([&] { RealDTypes::with(dtype, []<class T>() {}); }),
                "type: is " + std::string(name(dtype)) + ", expected f32 or f64");
  }
}

template <Field T>
struct Named {
  explicit Named(int number) : number(number) {}
  int number;
};

TEST(DTypes, ChooseTheTypeOfAKernel) {
  AnyKernel<FieldDTypes, Named<float>, Named<double>, Named<std::complex<float>>, Named<std::complex<double>>> any;
  for (const DType dtype : {DType::f32, DType::f64, DType::c64, DType::c128}) {
    any.emplace(dtype, 7);
    EXPECT_EQ(any.visit([]<class T>(Named<T>& kernel) { return std::pair(dtype_of<T>(), kernel.number); }),
              std::pair(dtype, 7));
  }
  EXPECT_THAT(test::message_of<ArgumentError>([&] { any.emplace(DType::i8, 1); }), HasSubstr("type: is i8"));
}

}  // namespace
}  // namespace plait
