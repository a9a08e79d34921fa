#include "shim/openmpi/padded.hpp"

namespace plait::shim::openmpi {

namespace {

template <class Value>
struct ValueAndIndex {
  Value value;
  int index;
};

template <class Value, bool maximum>
void better_of_two(Index i, const void* a, const void* b, void* out) noexcept {
  const auto& first = static_cast<const ValueAndIndex<Value>*>(a)[i];
  const auto& second = static_cast<const ValueAndIndex<Value>*>(b)[i];
  auto& result = static_cast<ValueAndIndex<Value>*>(out)[i];
  const bool better = maximum ? first.value > second.value : first.value < second.value;
  const auto& best = better || (first.value == second.value && first.index < second.index) ? first : second;
  result.value = best.value;
  result.index = best.index;
}

template <class Value>
OneOf* one_of(simd::ReduceOperation operation) noexcept {
  switch (operation) {
    case simd::ReduceOperation::maxloc: return better_of_two<Value, true>;
    case simd::ReduceOperation::minloc: return better_of_two<Value, false>;
    default: return nullptr;
  }
}

}  // namespace

OneOf* one_padded(simd::ReduceOperation operation, simd::Element element) noexcept {
  switch (element) {
    case simd::Element::double_int: return one_of<double>(operation);
    case simd::Element::long_int: return one_of<long>(operation);
    case simd::Element::long_double_int: return one_of<long double>(operation);
    default: return nullptr;
  }
}

}  // namespace plait::shim::openmpi
