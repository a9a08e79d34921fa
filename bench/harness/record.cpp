#include "bench/harness/record.hpp"

#include <algorithm>
#include <cmath>

#include "plait/base/contract.hpp"

namespace plait::bench {

Figure figure(std::span<const double> samples) { return {median(samples), median_interval(samples)}; }

Record make_record(std::string name, std::vector<Samples> samples, std::size_t limits, Floor floor) {
  const std::size_t without_peer = 1 + limits + (floor == Floor::given ? 1 : 0);
  PLAIT_ASSERT(limits >= 1 && (samples.size() == without_peer || samples.size() == without_peer + 1),
               "samples of plait, of limits, of a floor and of a peer if there are any");
  const std::vector<double>& own = samples[0].seconds;
  const auto first_limit = samples.begin() + 1;
  const auto after_limits = first_limit + static_cast<std::ptrdiff_t>(limits);
  const auto median_of = [](const Samples& limit) { return median(limit.seconds); };
  auto best = std::ranges::min_element(first_limit, after_limits, {}, median_of);
  if (floor == Floor::given && median_of(*after_limits) > median_of(*best)) best = after_limits;
  Record record;
  record.name = std::move(name);
  record.seconds = figure(own);
  record.limit = best->contender;
  record.limit_seconds = median(best->seconds);
  record.fraction_of_limit = figure(ratios(best->seconds, own));
  if (samples.size() > without_peer) {
    const Samples& peer = samples.back();
    record.comparison = Comparison{peer.contender, median(peer.seconds), figure(ratios(peer.seconds, own))};
  }
  record.samples = std::move(samples);
  return record;
}

Record geometric_mean(std::string name, std::span<const Record> records) {
  PLAIT_ASSERT(!records.empty(), "a mean is of something");
  std::size_t rounds = records[0].samples[0].seconds.size();
  for (const Record& record : records) rounds = std::min(rounds, record.samples[0].seconds.size());
  const auto mean_of = [&](const auto& contender_of) {
    Samples mean{contender_of(records[0]), std::vector<double>(rounds)};
    for (const Record& record : records) {
      const std::string contender = contender_of(record);
      if (contender != mean.contender) mean.contender = "several";
      const auto& samples = *std::ranges::find(record.samples, contender, &Samples::contender);
      for (std::size_t i = 0; i < rounds; ++i) mean.seconds[i] += std::log(samples.seconds[i]);
    }
    for (double& seconds : mean.seconds) seconds = std::exp(seconds / static_cast<double>(records.size()));
    return mean;
  };
  std::vector<Samples> samples{mean_of([](const Record& record) { return record.samples[0].contender; }),
                               mean_of([](const Record& record) { return record.limit; })};
  if (std::ranges::all_of(records, [](const Record& record) { return record.comparison.has_value(); }))
    samples.push_back(mean_of([](const Record& record) { return record.comparison->peer; }));
  return make_record(std::move(name), std::move(samples), 1);
}

double peer_fraction_of_limit(const Record& record) {
  PLAIT_ASSERT(record.comparison, "there is a peer");
  return record.limit_seconds / record.comparison->seconds;
}

double cost_over_best(const Record& record) {
  PLAIT_ASSERT(record.costs.size() >= 2, "somebody else has a cost");
  double best = record.costs[1].second;
  for (std::size_t i = 2; i < record.costs.size(); ++i) best = std::min(best, record.costs[i].second);
  return record.costs[0].second == best ? 1 : record.costs[0].second / best;
}

Goal measurable(const Record& record, Goal goal) {
  if (!record.comparison) goal.speedup_over_peer.reset();
  if (record.costs.size() < 2) goal.cost_over_best.reset();
  return goal;
}

bool meets(const Record& record, const Goal& goal) {
  PLAIT_ASSERT(goal == measurable(record, goal), "a goal over a peer needs one");
  if (goal.fraction_of_limit && record.fraction_of_limit.median < *goal.fraction_of_limit) return false;
  if (goal.cost_over_best && cost_over_best(record) > *goal.cost_over_best) return false;
  return !goal.speedup_over_peer || record.comparison->speedup.median >= *goal.speedup_over_peer;
}

}  // namespace plait::bench
