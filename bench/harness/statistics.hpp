#pragma once

#include <span>
#include <vector>

namespace plait::bench {

/// Two ends, of whatever unit, low <= high.
struct Interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// The middle one of the samples in increasing order, or the mean of the two middle ones.
///
/// \pre  there is a sample
[[nodiscard]] double median(std::span<const double> samples);

/// An interval that holds the median of what the samples were drawn from with a probability of 95 % or more, whatever
/// its distribution: from the k-th smallest to the k-th largest sample, with the largest k for which
/// 1 - 2·P(Binomial(n, ½) < k) >= 0.95. Fewer than six samples never are that sure: it is the whole range then.
///
/// \pre  there is a sample
/// Source: the order-statistic (sign-test) interval, David and Nagaraja, "Order Statistics", section 7.1.
[[nodiscard]] Interval median_interval(std::span<const double> samples);

/// numerators[i] / denominators[i]
///
/// \pre  there are as many of both
[[nodiscard]] std::vector<double> ratios(std::span<const double> numerators, std::span<const double> denominators);

}  // namespace plait::bench
