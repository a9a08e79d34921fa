#include "plait/kmeans/points.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/exact/reproducible_sum.hpp"

namespace plait::kmeans {

namespace {

/// Of magnitudes: the largest that is allowed, so that sums of squares of differences are finite.
template <class T>
double largest(Index dimension) {
  const double most = std::sqrt(static_cast<double>(std::numeric_limits<T>::max()) / static_cast<double>(dimension));
  return std::min(most / 4, 0x1p900);
}

}  // namespace

template <class T>
Points<T>::Points(mpi::Context& context, RowBlock<const T> own) : context_(context), own_(own) {
  mpi::expect_alike(context, {{"bytes of a coordinate", Index{sizeof(T)}}, {"number of coordinates", own.columns}});
  count_ = mpi::all_reduce(context.comm(), own.rows, mpi::Operation::sum());
  first_ = mpi::sum_below(context.comm(), own.rows);
  if (count_ == 0 || own.columns == 0) {
    throw ArgumentError(fmt::format("the data are {} x {}, expected points with coordinates", count_, own.columns));
  }
  look_at_coordinates();
  sum_up();
}

template <class T>
void Points<T>::look_at_coordinates() {
  const double most = largest<T>(dimension());
  std::vector<std::int64_t> ranges;  // greatest exponents of columns, then what is 0 minus the least ones
  mpi::agreed(context_, [&] {
    if (own_.rows < 0 || own_.columns < 0) {
      throw ArgumentError(fmt::format("the data are {} x {}, expected 0 or more of both", own_.rows, own_.columns));
    }
    std::vector<T> least(at(dimension()), std::numeric_limits<T>::infinity());
    std::vector<T> greatest(at(dimension()), T{0});
    for (Index i = 0; i < own_.rows; ++i) {
      const T* row = own_.data + i * own_.leading_dimension;
      bool is_right = true;
      for (Index c = 0; c < dimension(); ++c) {
        const T size = std::abs(row[c]);
        is_right &= size <= most;
        greatest[at(c)] = std::max(greatest[at(c)], size);
        least[at(c)] = std::min(least[at(c)], size == 0 ? std::numeric_limits<T>::infinity() : size);
      }
      if (is_right) continue;
      Index c = 0;
      while (std::abs(row[c]) <= most) ++c;
      throw ArgumentError(
          fmt::format("the data have {} in row {}, column {} (counted from 0), expected numbers of at most {:.3g}, so "
                      "that squares of "
                      "distances are finite",
                      row[c], first_ + i, c, most));
    }
    constexpr Index none = 5000;
    constexpr int last_bit = std::numeric_limits<T>::digits - 1;
    for (const T size : greatest) ranges.push_back(size == 0 ? -none : std::ilogb(size));
    for (const T size : least) {
      ranges.push_back(std::isinf(size) ? -none : -std::max(-1074, std::ilogb(size) - last_bit));
    }
  });
  mpi::all_reduce(context_.comm(), std::span<std::int64_t>(ranges), mpi::Operation::maximum());
  window_ = mpi::agreed(context_, [&] {
    std::vector<simd::BitRange> bits;
    for (Index c = 0; c < dimension(); ++c) bits.push_back({-ranges[at(c + dimension())], ranges[at(c)]});
    return simd::ColumnWindow(bits, count_);
  });
  const Index highest = *std::max_element(ranges.begin(), ranges.begin() + dimension());
  constexpr Index least_exponent = std::is_same_v<T, float> ? -50 : -500;
  if (highest >= -1100 && highest < least_exponent) {
    throw ArgumentError(
        fmt::format("the data have no number above {:.3g}, expected larger ones, so that squares of "
                    "distances do not vanish: take other units",
                    std::ldexp(2.0, static_cast<int>(highest))));
  }
  scale_ = highest < -1100 ? 1 : std::ldexp(1, static_cast<int>(std::clamp<Index>(-highest, -500, 500)));
}

template <class T>
void Points<T>::sum_up() {
  constexpr std::size_t block = 1024;
  std::array<double, block> products;
  std::array<double, block> errors;
  std::size_t filled = 0;
  const auto flush = [&] {
    simd::add_to(squares_, std::span<const double>(products.data(), filled));
    if (std::is_same_v<T, double>) simd::add_to(squares_, std::span<const double>(errors.data(), filled));
    filled = 0;
  };
  std::vector<std::int64_t> sums;
  mpi::agreed(context_, [&] {
    sums.assign(at(window_->words_of_group()), 0);
    std::array<Index, block> rows;
    const std::array<std::int32_t, block> group{};
    for (Index begin = 0; begin < own_.rows; begin += Index{block}) {
      const Index count = std::min(Index{block}, own_.rows - begin);
      for (Index i = 0; i < count; ++i) rows[at(i)] = begin + i;
      simd::column_sum_kernel<T>()(*window_, own_, rows.data(), nullptr, group.data(), count, sums.data());
      window_->carry(sums.data());
      for (Index i = 0; i < count; ++i) {
        for (Index c = 0; c < dimension(); ++c) {
          const auto x = double{own_.data[(begin + i) * own_.leading_dimension + c]};
          products[filled] = x * x;
          if constexpr (std::is_same_v<T, double>) errors[filled] = __builtin_fma(x, x, -products[filled]);
          if (++filled == block) flush();
        }
      }
    }
    flush();
  });
  mpi::all_reduce(context_.comm(), std::span<std::int64_t>(sums), mpi::Operation::sum());
  collective::merge(context_, std::span(&squares_, 1));
  simd::ExactSum around_mean = squares_;
  const auto n = static_cast<double>(count_);
  for (Index c = 0; c < dimension(); ++c) {
    const double sum = window_->rounded(sums.data(), c);
    add_product(around_mean, -sum / n, sum);
  }
  spread_ = std::sqrt(std::max(0.0, around_mean.rounded<double>()) / n);
}

template <class T>
std::vector<T> Points<T>::rows(std::span<const Index> numbers) const {
  using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
  std::vector<Bits> bits;
  std::vector<T> coordinates;
  mpi::agreed(context_, [&] {
    bits.resize(numbers.size() * at(dimension()));
    coordinates.resize(bits.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const Index i = numbers[k] - first_;
      if (i < 0 || i >= own_.rows) continue;
      std::memcpy(bits.data() + k * at(dimension()), own_.data + i * own_.leading_dimension,
                  at(dimension()) * sizeof(T));
    }
  });
  mpi::all_reduce(context_.comm(), std::span<Bits>(bits),
                  mpi::Operation::sum());  // only one rank has other ones than 0
  std::memcpy(coordinates.data(), bits.data(), bits.size() * sizeof(T));
  return coordinates;
}

template class Points<float>;
template class Points<double>;

}  // namespace plait::kmeans
