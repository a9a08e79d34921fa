#include "plait/simd/reduce/reduce_reference.hpp"

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "plait/simd/reduce/reduce_element.hpp"

namespace plait::simd {
namespace {

using enum ReduceOperation;

template <class T>
std::vector<T> combined(ReduceOperation operation, Element element, const std::vector<T>& a, const std::vector<T>& b) {
  EXPECT_EQ(size_in_bytes(element), static_cast<Index>(sizeof(T)));
  std::vector<T> out(a.size());
  reduce_reference(operation, element).combine(static_cast<Index>(a.size()), a.data(), b.data(), out.data());
  std::vector<T> inout = b;
  reduce_reference(operation, element).reduce(static_cast<Index>(a.size()), a.data(), inout.data());
  EXPECT_EQ(std::memcmp(out.data(), inout.data(), out.size() * sizeof(T)), 0);
  return out;
}

TEST(ReduceReference, IsDefinedWhereMpiDefinesTheOperation) {
  std::vector<int> elements_of;
  for (const ReduceOperation operation : reduce_operations()) {
    int defined = 0;
    for (const Element element : elements()) defined += reduce_reference(operation, element).reduce != nullptr ? 1 : 0;
    elements_of.push_back(defined);
  }
  const int integers = 8;
  const int reals = 5;
  EXPECT_EQ(elements_of,
            (std::vector<int>{integers + reals, integers + reals, integers + reals + 2, integers + reals + 2, integers,
                              integers, integers, integers + 2, integers + 2, integers + 2, 8, 8, 25, 25}));
  EXPECT_EQ(reduce_reference(max, Element::complex64).reduce, nullptr);
  EXPECT_EQ(reduce_reference(land, Element::float32).combine, nullptr);
  EXPECT_EQ(reduce_reference(band, Element::logical).combine, nullptr);
  EXPECT_EQ(reduce_reference(sum, Element::int_int).combine, nullptr);
  EXPECT_EQ(reduce_reference(maxloc, Element::int32).combine, nullptr);
}

TEST(ReduceReference, WrapsIntegers) {
  using Int8 = std::vector<std::int8_t>;
  EXPECT_EQ(combined(sum, Element::int8, Int8{100, -128}, Int8{100, -1}), (Int8{-56, 127}));
  EXPECT_EQ(combined(prod, Element::int8, Int8{100, -128}, Int8{3, -1}), (Int8{44, -128}));
  using UInt16 = std::vector<std::uint16_t>;
  EXPECT_EQ(combined(prod, Element::uint16, UInt16{65535}, UInt16{65535}), UInt16{1});
  using Int64 = std::vector<std::int64_t>;
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(combined(sum, Element::int64, Int64{least}, Int64{least}), Int64{0});
  EXPECT_EQ(combined(prod, Element::int64, Int64{(std::int64_t{1} << 32) + 3}, Int64{5}),
            Int64{(std::int64_t{5} << 32) + 15});
}

TEST(ReduceReference, ComparesIntegersWithTheirSigns) {
  using Int32 = std::vector<std::int32_t>;
  EXPECT_EQ(combined(max, Element::int32, Int32{-1, 5}, Int32{1, -7}), (Int32{1, 5}));
  EXPECT_EQ(combined(min, Element::int32, Int32{-1, 5}, Int32{1, -7}), (Int32{-1, -7}));
  using UInt8 = std::vector<std::uint8_t>;
  EXPECT_EQ(combined(max, Element::uint8, UInt8{255, 1}, UInt8{1, 128}), (UInt8{255, 128}));
}

TEST(ReduceReference, GivesTheSecondOperandWhereNumbersAreUnorderedOrEqual) {
  using Doubles = std::vector<double>;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ReduceOperation operation : {max, min}) {
    const Doubles result =
        combined(operation, Element::float64, Doubles{nan, 1, 0.0, -0.0}, Doubles{2, nan, -0.0, 0.0});
    EXPECT_EQ(result[0], 2);
    EXPECT_TRUE(std::isnan(result[1]));
    EXPECT_TRUE(std::signbit(result[2]));
    EXPECT_FALSE(std::signbit(result[3]));
  }
}

TEST(ReduceReference, TakesAllThatIsNotZeroForTrue) {
  const std::vector<Boolean> a{{0}, {0}, {2}, {255}};
  const std::vector<Boolean> b{{0}, {1}, {0}, {128}};
  const auto bytes = [](const std::vector<Boolean>& values) {
    std::vector<int> all;
    for (const Boolean value : values) all.push_back(value.value);
    return all;
  };
  EXPECT_EQ(bytes(combined(land, Element::boolean, a, b)), (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(bytes(combined(lor, Element::boolean, a, b)), (std::vector<int>{0, 1, 1, 1}));
  EXPECT_EQ(bytes(combined(lxor, Element::boolean, a, b)), (std::vector<int>{0, 1, 1, 0}));
  using Int32 = std::vector<std::int32_t>;
  EXPECT_EQ(combined(land, Element::int32, Int32{0x10000, -1}, Int32{0x200, 0}), (Int32{1, 0}));
}

TEST(ReduceReference, CombinesBits) {
  using UInt8 = std::vector<std::uint8_t>;
  EXPECT_EQ(combined(band, Element::uint8, UInt8{0b1100}, UInt8{0b1010}), UInt8{0b1000});
  EXPECT_EQ(combined(bor, Element::uint8, UInt8{0b1100}, UInt8{0b1010}), UInt8{0b1110});
  EXPECT_EQ(combined(bxor, Element::uint8, UInt8{0b1100}, UInt8{0b1010}), UInt8{0b0110});
}

TEST(ReduceReference, MultipliesComplexNumbersByTheTextbook) {
  using C = std::complex<double>;
  EXPECT_EQ(combined(prod, Element::complex128, std::vector<C>{{1, 2}}, std::vector<C>{{3, 4}})[0], C(-5, 10));
  EXPECT_EQ(combined(sum, Element::complex128, std::vector<C>{{1, 2}}, std::vector<C>{{3, 4}})[0], C(4, 6));
  const float third = 1.0F / 3;
  volatile float square = third * third;  // rounded, whereas a fused operation would leave an error
  const std::vector<std::complex<float>> a{{third, third}};
  EXPECT_EQ(combined(prod, Element::complex64, a, a)[0], std::complex<float>(0, square + square));
}

TEST(ReduceReference, TakesThePairOfTheLowerIndexWhereValuesAreEqual) {
  using Pair = ValueAndIndex<float, std::int32_t>;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Pair> a{{1, 7}, {2, 7}, {3, 7}, {3, -7}, {nan, 0}};
  const std::vector<Pair> b{{2, 9}, {1, 9}, {3, 9}, {3, -9}, {1, 9}};
  const auto expect = [&](ReduceOperation operation, const std::vector<Pair>& pairs) {
    const std::vector<Pair> result = combined(operation, Element::float_int, a, b);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_EQ(result[i].value, pairs[i].value) << i;
      EXPECT_EQ(result[i].index, pairs[i].index) << i;
    }
  };
  expect(maxloc, {b[0], a[1], a[2], b[3], b[4]});
  expect(minloc, {a[0], b[1], a[2], b[3], b[4]});
}

template <class Value>
struct WithOther {
  Value value;
  std::int32_t index;
  std::int32_t other;  // the program's own, where MPI's type has nothing
};

TEST(ReduceReference, LeavesThePaddingOfPairsAlone) {
  using Pair = WithOther<double>;
  const std::vector<Pair> taken = combined(maxloc, Element::double_int, std::vector<Pair>{{2, 1, 7}, {1, 1, 7}},
                                           std::vector<Pair>{{1, 2, 8}, {2, 2, 9}});
  EXPECT_EQ(taken[0].value, 2);
  EXPECT_EQ(taken[0].index, 1);
  EXPECT_EQ(taken[0].other, 8);
  EXPECT_EQ(taken[1].index, 2);
  EXPECT_EQ(taken[1].other, 9);
  std::vector<Pair> a{{2, 1, 7}};
  const Pair b{1, 2, 8};
  reduce_reference(maxloc, Element::double_int).combine(1, a.data(), &b, a.data());
  EXPECT_EQ(a[0].index, 1);
  EXPECT_EQ(a[0].other, 8);

  struct ShortAndOther {
    std::int16_t value, other;
    std::int32_t index;
  };
  const auto shorts = combined(minloc, Element::short_int, std::vector<ShortAndOther>{{1, 7, 1}},
                               std::vector<ShortAndOther>{{2, 8, 2}});
  EXPECT_EQ(shorts[0].value, 1);
  EXPECT_EQ(shorts[0].other, 8);
  EXPECT_EQ(shorts[0].index, 1);
}

TEST(ReduceReference, RoundsSumsOf16BitFloats) {
  const std::vector<Float16> one{to_float16(1)};
  const std::vector<Float16> last{to_float16(0x1p-11F)};  // a half of the last bit of 1
  const std::vector<Float16> more{to_float16(0x1.8p-11F)};
  EXPECT_EQ(to_float(combined(sum, Element::float16, one, last)[0]), 1);
  EXPECT_EQ(to_float(combined(sum, Element::float16, one, more)[0]), 1 + 0x1p-10F);
  const std::vector<BFloat16> three{to_bfloat16(3)};
  EXPECT_EQ(to_float(combined(prod, Element::bfloat16, three, three)[0]), 9);
}

TEST(ReduceReference, ReplacesOrLeavesAlone) {
  using Ints = std::vector<std::int32_t>;
  EXPECT_EQ(combined(replace, Element::int32, Ints{1, 2}, Ints{3, 4}), (Ints{1, 2}));
  EXPECT_EQ(combined(no_op, Element::int32, Ints{1, 2}, Ints{3, 4}), (Ints{3, 4}));
}

TEST(Element, HasTheSizeThatCGivesIt) {
  struct ShortInt {
    short value;
    int index;
  };
  struct LongInt {
    long value;
    int index;
  };
  struct LongDoubleInt {
    long double value;
    int index;
  };
  EXPECT_EQ(size_in_bytes(Element::short_int), static_cast<Index>(sizeof(ShortInt)));
  EXPECT_EQ(size_in_bytes(Element::long_int), static_cast<Index>(sizeof(LongInt)));
  EXPECT_EQ(size_in_bytes(Element::long_double_int), static_cast<Index>(sizeof(LongDoubleInt)));
  EXPECT_EQ(size_in_bytes(Element::complex64), 8);
  EXPECT_EQ(size_in_bytes(Element::double_int), 16);
  EXPECT_EQ(name(Element::double_int), "double_int");
}

TEST(Element, IsPaddedWhereItsFieldsDoNotFillIt) {
  std::vector<Element> padded;
  for (const Element element : elements()) {
    if (is_padded(element)) padded.push_back(element);
  }
  EXPECT_EQ(padded,
            (std::vector{Element::double_int, Element::long_int, Element::short_int, Element::long_double_int}));
}

}  // namespace
}  // namespace plait::simd
