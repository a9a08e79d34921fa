#include "capi/operands.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace plait::capi {

using redistribute::Operands;

void expect_leading_dimension(Index given, Index minor, Index major, Index element_bytes, const std::string& tile) {
  Index bytes = 0;
  if (given >= std::max(Index{1}, minor) && !__builtin_mul_overflow(given, major, &bytes) &&
      !__builtin_mul_overflow(bytes, element_bytes, &bytes)) {
    return;
  }
  throw ArgumentError(tile + ": leading_dimension is " + std::to_string(given) + ", expected at least " +
                      std::to_string(std::max(Index{1}, minor)) + ", and a tile of less than 2^63 bytes");
}

namespace {

Operands operands_of(const plait_operands& given, const plait_plan::Tiles& planned) {
  return io::with_dtype(dtype(given.type), [&]<class T>() {
    const T alpha = scalar(given.alpha, T{1});
    std::vector<matrix_view<const T>> source;
    if (alpha != T{0}) {
      source = views<const T>(given.source, given.source_count, planned.source, "source");
    }
    const auto target = views<T>(given.target, given.target_count, planned.target, "target");
    return Operands(alpha, source, scalar(given.beta, T{0}), std::span<const matrix_view<T>>(target));
  });
}

}  // namespace

std::vector<Operands> operands_of(const plait_plan& plan, const plait_operands* operands, Index count) {
  const auto given = expect_array(operands, count, "operands");
  if (given.size() != plan.tiles.size()) {
    throw ArgumentError("count: is " + std::to_string(count) + ", expected one for each of the " +
                        std::to_string(plan.tiles.size()) + " pairs of the plan");
  }
  std::vector<Operands> result;
  result.reserve(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    result.push_back(named_pair(i, count, [&] { return operands_of(given[i], plan.tiles[i]); }));
  }
  return result;
}

}  // namespace plait::capi

const void* plait_array_with_gaps() {
  static const char anywhere = 0;
  return &anywhere;
}
