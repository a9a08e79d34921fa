#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/simd/row_block.hpp"

#include "support/ranks.hpp"

namespace plait::test {

/// Samples and their targets, the same on all ranks.
struct Data {
  Index rows, columns;
  std::vector<double> x, y;
};

struct Part {
  simd::RowBlock<const double> rows;
  std::span<const double> targets;
};
inline Part whole(const Data& data) { return {{data.x.data(), data.rows, data.columns, data.columns}, data.y}; }

/// This rank's rows, evenly, raggedly or all on the last rank.
enum class Split { even, ragged, last };
inline Part part(const Data& data, Split split) {
  const auto begin_of = [&](int of) {
    if (of == ranks()) return data.rows;
    if (split == Split::last) return Index{0};
    return split == Split::even ? data.rows * of / ranks() : data.rows * of * of / (ranks() * ranks()) / 2;
  };
  const Index begin = begin_of(rank());
  const Index count = begin_of(rank() + 1) - begin;
  return {{data.x.data() + begin * data.columns, count, data.columns, data.columns},
          std::span(data.y).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count))};
}

}  // namespace plait::test
