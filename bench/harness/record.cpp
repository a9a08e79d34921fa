#include "bench/harness/record.hpp"

#include <algorithm>

#include "plait/base/contract.hpp"

namespace plait::bench {

Figure figure(std::span<const double> samples) { return {median(samples), median_interval(samples)}; }

Record make_record(std::string name, std::vector<Samples> samples, std::size_t limits) {
  PLAIT_ASSERT(limits >= 1 && (samples.size() == 1 + limits || samples.size() == 2 + limits),
               "samples of plait, of limits, and of a peer if there is one");
  const std::vector<double>& own = samples[0].seconds;
  const auto first_limit = samples.begin() + 1;
  const auto best = std::ranges::min_element(first_limit, first_limit + static_cast<std::ptrdiff_t>(limits), {},
                                             [](const Samples& limit) { return median(limit.seconds); });
  Record record;
  record.name = std::move(name);
  record.seconds = figure(own);
  record.limit = best->contender;
  record.limit_seconds = median(best->seconds);
  record.fraction_of_limit = figure(ratios(best->seconds, own));
  if (samples.size() == 2 + limits) {
    const Samples& peer = samples.back();
    record.comparison = Comparison{peer.contender, median(peer.seconds), figure(ratios(peer.seconds, own))};
  }
  record.samples = std::move(samples);
  return record;
}

bool meets(const Record& record, const Goal& goal) {
  if (goal.fraction_of_limit && record.fraction_of_limit.median < *goal.fraction_of_limit) return false;
  return !goal.speedup_over_peer || !record.comparison || record.comparison->speedup.median >= *goal.speedup_over_peer;
}

}  // namespace plait::bench
