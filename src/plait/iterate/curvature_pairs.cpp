#include "plait/iterate/curvature_pairs.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::iterate {

double dot(std::span<const double> a, std::span<const double> b) noexcept {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add(double factor, std::span<const double> from, std::span<double> to) noexcept {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

CurvaturePairs::CurvaturePairs(std::size_t most, std::size_t length) : length_(length), pairs_(most), along_(most) {
  for (Pair& pair : pairs_) {
    pair.step.resize(length);
    pair.change.resize(length);
  }
}

CurvaturePairs::Pair& CurvaturePairs::next() {
  if (count_ == pairs_.size()) {
    std::rotate(pairs_.begin(), pairs_.begin() + 1, pairs_.end());
    --count_;
  }
  return pairs_[count_];
}

void CurvaturePairs::save(Checkpoint& checkpoint) const {
  std::vector<double>& all = checkpoint.shared["pairs"];
  for (const Pair& pair : std::span(pairs_).first(count_)) {
    for (const auto* each : {&pair.step, &pair.change}) all.insert(all.end(), each->begin(), each->end());
  }
}

void CurvaturePairs::resume(const Checkpoint& checkpoint) {
  std::span<const double> all = vector_of(checkpoint.shared, "pairs");
  const std::size_t each = 2 * length_;
  if (each == 0 ? !all.empty() : all.size() % each != 0 || all.size() / each > pairs_.size()) {
    throw ArgumentError(fmt::format("the state has {} numbers of steps and changes, expected up to {} times {}",
                                    all.size(), pairs_.size(), each));
  }
  clear();
  while (!all.empty()) {
    Pair& pair = next();
    std::ranges::copy(all.first(length_), pair.step.begin());
    std::ranges::copy(all.subspan(length_, length_), pair.change.begin());
    pair.curvature = dot(pair.step, pair.change);
    all = all.subspan(each);
    keep();
  }
}

}  // namespace plait::iterate
