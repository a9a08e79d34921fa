#include "plait/mpi/node/serving.hpp"

#include <algorithm>
#include <numeric>

#include "plait/base/contract.hpp"

namespace plait::mpi {

std::vector<int> serving_ranks(std::span<const int> domains, int active) {
  PLAIT_ASSERT(active >= 1, "somebody does the work");
  const std::size_t ranks = domains.size();
  const std::size_t runs = std::min(ranks, static_cast<std::size_t>(active));
  std::vector<int> order(ranks);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int rank) { return domains[static_cast<std::size_t>(rank)]; });

  std::vector<int> serving(ranks);
  for (std::size_t place = 0; place < ranks; ++place) {
    const std::size_t run = place * runs / ranks;
    const std::size_t first_of_run = (run * ranks + runs - 1) / runs;
    serving[static_cast<std::size_t>(order[place])] = order[first_of_run];
  }
  return serving;
}

}  // namespace plait::mpi
