#include "plait/simd/reduce/reduce.hpp"

#include <cfenv>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/simd/reduce/reduce_reference.hpp"

#include "reduce_check.hpp"

namespace plait::simd {
namespace {

TEST(Reduce, GivesTheBitsOfTheReferenceOnEveryIsaForAllLengthsAndPlaces) {
  for (const ReduceOperation operation : reduce_operations()) {
    for (const Element element : elements()) {
      if (reduce_kernel(operation, element, Isa::scalar) == nullptr) continue;
      for (const Isa isa : supported_isas()) {
        EXPECT_EQ(test::check_short_reductions(operation, element, isa, test::Lengths::all), "");
      }
    }
  }
}

TEST(Reduce, GivesTheBitsOfTheReferenceWhereItStreamsTheResult) {
  std::size_t turn = 0;  // one instruction set a kernel, in turn
  for (const Element element : {Element::uint8, Element::float16, Element::bfloat16, Element::float32,
                                Element::complex128, Element::float_int, Element::double_int}) {
    for (const ReduceOperation operation : reduce_operations()) {
      if (reduce_kernel(operation, element, Isa::scalar) == nullptr) continue;
      const Isa isa = supported_isas()[turn++ % supported_isas().size()];
      EXPECT_EQ(test::check_long_reduction(operation, element, isa), "");
    }
  }
}

TEST(Reduce, TreatsAllNumbersOf16BitsAsTheReferenceDoes) {
  for (const Element element : {Element::float16, Element::bfloat16}) {
    for (const Isa isa : supported_isas()) EXPECT_EQ(test::check_all_16_bit_floats(element, isa), "");
  }
}

TEST(Reduce, TakesNoQuietNanOf16BitsForAnInvalidOperand) {
  for (const auto& [element, nan] : {std::pair{Element::float16, 0x7e00}, std::pair{Element::bfloat16, 0x7fc0}}) {
    for (const ReduceOperation operation : {ReduceOperation::sum, ReduceOperation::prod}) {
      for (const Isa isa : supported_isas()) {
        const std::vector<std::uint16_t> in(40, static_cast<std::uint16_t>(nan));
        std::vector<std::uint16_t> inout(40, 0x3c00);
        std::feclearexcept(FE_ALL_EXCEPT);
        reduce_kernel(operation, element, isa)(40, in.data(), inout.data());
        EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_OVERFLOW), 0) << name(operation) << name(element) << name(isa);
      }
    }
  }
}

TEST(Reduce, IsDefinedOnAllInstructionSetsOrNone) {
  for (const ReduceOperation operation : reduce_operations()) {
    for (const Element element : elements()) {
      const bool defined = reduce_reference(operation, element).reduce != nullptr;
      for (const Isa isa : supported_isas()) {
        EXPECT_EQ(reduce_kernel(operation, element, isa) != nullptr, defined) << name(operation) << name(element);
        EXPECT_EQ(combine_kernel(operation, element, isa) != nullptr, defined) << name(operation) << name(element);
      }
    }
  }
}

TEST(Reduce, NamesEveryOperationAndElement) {
  std::set<std::string_view> names;
  for (const ReduceOperation operation : reduce_operations()) names.insert(name(operation));
  for (const Element element : elements()) names.insert(name(element));
  EXPECT_EQ(names.size(), reduce_operation_count + element_count);
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace plait::simd
