#include "bench/harness/memcpy_limit.hpp"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "plait/base/contract.hpp"
#include "plait/simd/transform/copy.hpp"

namespace plait::bench {

namespace {

/// Calls work(begin, end) for the shares of all threads, which begin on cache lines.
template <class Work>
void in_shares(Index elements, Index elements_in_line, const Work& work) {
  if (omp_get_max_threads() == 1) return work(Index{0}, elements);
#pragma omp parallel
  {
    const Index lines = elements / elements_in_line + 1;
    const auto begin_of = [&](Index thread) {
      return std::min(elements, lines * thread / omp_get_num_threads() * elements_in_line);
    };
    const Index thread = omp_get_thread_num();
    work(begin_of(thread), begin_of(thread + 1));
  }
}

constexpr Index line_bytes = 64;

}  // namespace

std::vector<Contender> memcpy_limits(std::byte* target, const std::byte* source, Index bytes) {
  const auto copy_by = [=](auto copy) {
    return [=] {
      in_shares(bytes, line_bytes, [=](Index begin, Index end) { copy(target + begin, source + begin, end - begin); });
    };
  };
  return {
      {"memcpy", copy_by([](std::byte* to, const std::byte* from, Index length) {
         std::memcpy(to, from, static_cast<std::size_t>(length));
       })},
      {"stream_copy", copy_by([](std::byte* to, const std::byte* from, Index length) {
         simd::stream_copy(to, from, length, simd::selected_isa(), simd::Stores::streaming);
       })},
  };
}

Contender update_limit(std::span<double> target, std::span<const double> source, double beta) {
  PLAIT_ASSERT(target.size() == source.size(), "every element is added to one");
  return {"axpby", [=] {
            in_shares(static_cast<Index>(target.size()), line_bytes / Index{sizeof(double)},
                      [=](Index begin, Index end) {
                        double* const to = target.data();
                        const double* const from = source.data();
#pragma omp simd
                        for (Index i = begin; i < end; ++i) to[i] = from[i] + beta * to[i];
                      });
          }};
}

}  // namespace plait::bench
