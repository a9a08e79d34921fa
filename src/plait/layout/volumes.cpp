#include "plait/layout/volumes.hpp"

#include <algorithm>
#include <numeric>

#include "plait/base/error.hpp"
#include "plait/layout/overlay.hpp"

namespace plait::layout {

namespace {

/// After how many elements a cyclic axis deals as it did at first; 0 if that is too many to count or never.
Index period_of(const Axis& axis) {
  Index period = 0;
  if (axis.cutting() != Cutting::cyclic || __builtin_mul_overflow(axis.block(), axis.parts(), &period)) return 0;
  return period;
}

Index common_period(const Axis& a, const Axis& b) {
  const Index first = period_of(a);
  const Index second = period_of(b);
  Index common = 0;
  if (first == 0 || second == 0 || __builtin_mul_overflow(first / std::gcd(first, second), second, &common)) return 0;
  return common;
}

}  // namespace

Volumes::CommonByPart Volumes::counted(const Axis& source, const Axis& target) {
  CommonByPart result(static_cast<std::size_t>(target.parts()));
  for (Index part = 0; part < target.parts(); ++part) {
    for (const SharedPieces& pieces : AxisOverlay::of_target(source, target, part)) {
      result[static_cast<std::size_t>(part)].push_back({pieces.part, pieces.length});
    }
  }
  return result;
}

Volumes::CommonByPart Volumes::by_target_part(const Axis& source, const Axis& target) {
  const Index period = common_period(source, target);
  const Index extent = target.extent();
  if (period == 0 || extent / 2 < period || source == target) return counted(source, target);

  CommonByPart result = counted(source.sub(0, period), target.sub(0, period));
  const CommonByPart rest = counted(source.sub(0, extent % period), target.sub(0, extent % period));
  for (std::size_t part = 0; part < result.size(); ++part) {
    auto remaining = rest[part].begin();  // its parts are among those of a whole period, in the same order
    for (Common& common : result[part]) {
      common.length *= extent / period;
      if (remaining != rest[part].end() && remaining->part == common.part) common.length += (remaining++)->length;
    }
  }
  return result;
}

Volumes::Volumes(const Layout& source, const Layout& target)
    : source_(source.owners()), target_(target.owners()), empty_(source.shape().empty()) {
  if (source.shape() != target.shape()) {
    throw ShapeMismatch("the source is " + to_string(source.shape()) + " and the target " + to_string(target.shape()) +
                        ", expected the same");
  }
  if (empty_) return;
  static_cast<void>(elements(source.shape()));  // sums of elements are counted below
  rows_ = by_target_part(source.rows(), target.rows());
  columns_ = by_target_part(source.columns(), target.columns());
}

std::vector<Share> Volumes::received_by(int rank) const {
  if (empty_) return {};
  std::vector<Share> all;
  for (const TilePosition tile : target_.owned_by(rank)) {
    for (const Common& row : rows_[static_cast<std::size_t>(tile.row)]) {
      for (const Common& column : columns_[static_cast<std::size_t>(tile.column)]) {
        all.push_back({source_.owner(row.part, column.part), row.length * column.length});
      }
    }
  }
  const auto by_rank = [](const Share& a, const Share& b) { return a.rank < b.rank; };
  if (!std::is_sorted(all.begin(), all.end(), by_rank)) std::sort(all.begin(), all.end(), by_rank);
  std::vector<Share> merged;
  for (const Share& share : all) {
    if (merged.empty() || merged.back().rank != share.rank) {
      merged.push_back(share);
    } else {
      merged.back().elements += share.elements;
    }
  }
  return merged;
}

}  // namespace plait::layout
