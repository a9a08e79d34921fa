#include "cli/machine/measure_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "plait/base/memory.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/simd/reduce/element_of.hpp"
#include "plait/simd/reduce/reduce.hpp"
#include "plait/simd/transform/copy.hpp"

#include "cli/machine/seconds_together.hpp"

namespace plait::cli {

namespace {

constexpr Index bytes_of_node = Index{512} << 20;  // more than the caches of all of its ranks together
constexpr Index quick_bytes_of_node = Index{64} << 20;
constexpr Index least_bytes_of_rank = Index{8} << 20;
constexpr Index most_bytes_of_rank = Index{256} << 20;
constexpr Index segment_elements = 7'500;  // 60 kB: as messages bring them

// Of the shortest of some runs: what else runs on the machine can only make them longer.
template <class Work>
double shortest_seconds(mpi::Context& context, const Effort& effort, const Work& work) {
  work();
  double shortest = std::numeric_limits<double>::infinity();
  double spent = 0;  // the same on all ranks
  const int least_runs = effort.quick ? 1 : 3;
  for (int run = 0; run < least_runs || (spent < effort.seconds / 3 && run < 10 * least_runs); ++run) {
    const double seconds = seconds_together(context, work);
    shortest = std::min(shortest, seconds);
    spent += seconds;
  }
  return shortest;
}

std::uint64_t sum_of(std::span<const std::uint64_t> words) {
  std::uint64_t sum = 0;
  const auto count = static_cast<Index>(words.size());
  const std::uint64_t* const data = words.data();
#pragma omp simd reduction(+ : sum)
  for (Index i = 0; i < count; ++i) sum += data[i];
  return sum;
}

}  // namespace

MemoryRates measure_memory(mpi::Context& context, const Effort& effort) {
  const int ranks = context.topology().ranks_per_node();
  const Index bytes =
      std::clamp((effort.quick ? quick_bytes_of_node : bytes_of_node) / ranks, least_bytes_of_rank, most_bytes_of_rank);
  const Index elements = bytes / Index{sizeof(double)};
  auto [source, target] =
      mpi::agreed(context, [&] { return std::pair(Array<double>(elements), Array<double>(elements)); });
  std::ranges::fill(source.span(), 0.0);
  std::ranges::fill(target.span(), 0.0);
  const auto of_node = static_cast<double>(ranks * bytes);
  MemoryRates rates;

  effort.tell("reading memory");
  std::uint64_t sum = 0;
  rates.read =
      of_node / shortest_seconds(context, effort, [&] {
        sum += sum_of({reinterpret_cast<const std::uint64_t*>(source.data()), static_cast<std::size_t>(elements)});
      });
  target[0] = static_cast<double>(sum);  // so that it is needed

  effort.tell("copying memory");
  rates.copy = of_node / shortest_seconds(context, effort, [&] {
                 simd::stream_copy(reinterpret_cast<std::byte*>(target.data()),
                                   reinterpret_cast<const std::byte*>(source.data()), bytes, simd::selected_isa(),
                                   simd::Stores::streaming);
               });

  effort.tell("combining");
  simd::ReduceKernel* const add = simd::reduce_kernel(simd::ReduceOperation::sum, simd::element_of<double>());
  rates.combine = static_cast<double>(bytes) / shortest_seconds(context, effort, [&] {
                    for (Index begin = 0; begin < elements; begin += segment_elements) {
                      add(std::min(segment_elements, elements - begin), source.data(), target.data() + begin);
                    }
                  });
  return rates;
}

}  // namespace plait::cli
