#include "bench/harness/memcpy_limit.hpp"

#include <cstring>

#include "plait/simd/copy.hpp"

namespace plait::bench {

std::vector<Contender> memcpy_limits(std::byte* target, const std::byte* source, Index bytes) {
  return {
      {"memcpy", [=] { std::memcpy(target, source, static_cast<std::size_t>(bytes)); }},
      {"stream_copy", [=] { simd::stream_copy(target, source, bytes, simd::selected_isa(), simd::Stores::streaming); }},
  };
}

}  // namespace plait::bench
