#include "shim/openmpi/padded.hpp"

namespace plait::shim::openmpi {

namespace {

template <class Value>
struct ValueAndIndex {
  Value value;
  int index;
};

template <class Value, bool maximum>
void take_better(Index i, const void* in, void* inout) noexcept {
  const auto& first = static_cast<const ValueAndIndex<Value>*>(in)[i];
  auto& result = static_cast<ValueAndIndex<Value>*>(inout)[i];
  const bool better = maximum ? first.value > result.value : first.value < result.value;
  if (!better && !(first.value == result.value && first.index < result.index)) return;
  result.value = first.value;
  result.index = first.index;
}

template <class Value>
OneOf* one_of(simd::ReduceOperation operation) noexcept {
  switch (operation) {
    case simd::ReduceOperation::maxloc: return take_better<Value, true>;
    case simd::ReduceOperation::minloc: return take_better<Value, false>;
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
