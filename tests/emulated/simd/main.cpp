#include <iostream>
#include <string>
#include <string_view>

#include "plait/simd/isa.hpp"

#include "reduce_check.hpp"

namespace {

using namespace plait::simd;

/// Prints what is wrong, and returns how much that is.
int check(Isa isa) {
  int wrong = 0;
  const auto expect_nothing = [&wrong](const std::string& mistake) {
    if (mistake.empty()) return;
    std::cout << mistake << '\n';
    ++wrong;
  };
  for (const ReduceOperation operation : reduce_operations()) {
    for (const Element element : elements()) {
      if (reduce_kernel(operation, element, isa) == nullptr) continue;
      expect_nothing(test::check_short_reductions(operation, element, isa, test::Lengths::some));
    }
  }
  for (const Element element : {Element::float16, Element::bfloat16}) {
    expect_nothing(test::check_all_16_bit_floats(element, isa));
  }
  return wrong;
}

}  // namespace

/// check_reductions ISA: checks the kernels of the best instruction set of this processor, which is to be that one.
int main(int argc, char** argv) {
  const Isa isa = best_isa();
  if (argc != 2 || std::string_view(argv[1]) != name(isa)) {
    std::cout << "the best instruction set is " << name(isa) << ", which is not what was expected\n";
    return 1;
  }
  return check(isa) == 0 ? 0 : 1;
}
