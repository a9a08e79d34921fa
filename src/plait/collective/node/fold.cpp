#include "plait/collective/node/fold.hpp"

#include <algorithm>
#include <cstring>

namespace plait::collective {

namespace {

constexpr Index block_bytes = Index{8} << 10;

}  // namespace

void fold(const Combine& combine, Index n, std::span<const std::byte* const> operands, std::byte* out) {
  if (combine.sum_of_all() != nullptr) return combine.sum_of_all()(n, operands, out);
  if (operands.size() == 2) return combine(n, operands[0], operands[1], out);
  const Index element = combine.element_bytes();
  if (operands.size() == 1) {
    if (n > 0 && out != operands[0]) std::memcpy(out, operands[0], static_cast<std::size_t>(n * element));
    return;
  }
  const Index block = std::max<Index>(block_bytes / element, 1);
  for (Index first = 0; first < n; first += block) {
    const Index count = std::min(block, n - first);
    const Index offset = first * element;
    combine(count, operands[0] + offset, operands[1] + offset, out + offset);
    for (const std::byte* operand : operands.subspan(2)) combine(count, out + offset, operand + offset, out + offset);
  }
}

}  // namespace plait::collective
