#include "plait/simd/exact/column_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "plait/simd/dispatch.hpp"

// clang-format off: Highway includes this file once for each target, then goes on below
#include "plait/simd/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plait/simd/exact/column_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#if PLAIT_SIMD_FIXED_LENGTH_VECTORS
HWY_BEFORE_NAMESPACE();
namespace plait::simd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Takes the digits off numbers of columns that lie side by side, the highest first.
template <bool moves, class D, class V = hn::VFromD<D>>
HWY_INLINE void add_digits(D tag, V x, const double* anchors, Index words, Index pitch, std::int64_t* from,
                           std::int64_t* to) {
  const hn::RebindToSigned<D> whole;
  for (Index w = words - 1; w >= 0; --w) {
    const V anchor = hn::LoadU(tag, anchors + w * pitch);
    const V shifted = hn::Add(x, anchor);
    const auto digit = hn::Sub(hn::BitCast(whole, shifted), hn::BitCast(whole, anchor));
    hn::StoreU(hn::Add(hn::LoadU(whole, to + w * pitch), digit), whole, to + w * pitch);
    if constexpr (moves) {
      hn::StoreU(hn::Sub(hn::LoadU(whole, from + w * pitch), digit), whole, from + w * pitch);
    }
    x = hn::Sub(x, hn::Sub(shifted, anchor));
  }
}

template <bool moves, class T>
HWY_INLINE void add_rows(const ColumnWindow& window, RowBlock<const T> x, const Index* rows, const std::int32_t* from,
                         const std::int32_t* to, Index count, std::int64_t* sums) {
  const hn::CappedTag<double, 8> tag;
  const hn::Rebind<T, decltype(tag)> elements;
  constexpr auto lanes = static_cast<Index>(hn::MaxLanes(tag));
  const Index words = window.words();
  const Index pitch = window.pitch();
  for (Index i = 0; i < count; ++i) {
    const T* row = x.data + rows[i] * x.leading_dimension;
    std::int64_t* into = sums + to[i] * window.words_of_group();
    std::int64_t* out_of = moves ? sums + from[i] * window.words_of_group() : nullptr;
    const auto add = [&](auto numbers, Index c) HWY_ATTR {
      const double* anchors = window.anchors() + c;
      std::int64_t* less = moves ? out_of + c : nullptr;
      if constexpr (std::is_same_v<T, double>) {
        add_digits<moves>(tag, numbers, anchors, words, pitch, less, into + c);
      } else {
        add_digits<moves>(tag, hn::PromoteTo(tag, numbers), anchors, words, pitch, less, into + c);
      }
    };
    Index c = 0;
    for (; c + lanes <= x.columns; c += lanes) add(hn::LoadU(elements, row + c), c);
    if (c == x.columns) continue;
#if HWY_MEM_OPS_MIGHT_FAULT
    HWY_ALIGN std::array<T, 8> padded{};
    std::copy_n(row + c, x.columns - c, padded.begin());
    add(hn::LoadU(elements, padded.data()), c);
#else
    add(hn::MaskedLoad(hn::FirstN(elements, static_cast<std::size_t>(x.columns - c)), elements, row + c), c);
#endif
  }
}

}  // namespace

template <class T>
void column_sums_of_target(const ColumnWindow& window, RowBlock<const T> x, const Index* rows, const std::int32_t* from,
                           const std::int32_t* to, Index count, std::int64_t* sums) {
  from == nullptr ? add_rows<false>(window, x, rows, from, to, count, sums)
                  : add_rows<true>(window, x, rows, from, to, count, sums);
}

}  // namespace plait::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plait::simd {

namespace {

constexpr Index digit_bits = 32;
constexpr Index last_place = -1074;   // of ExactSum's lowest digit
__extension__ typedef __int128 Wide;  // NOLINT(modernize-use-using): no extension of it is one

template <class T>
void column_sums_scalar(const ColumnWindow& window, RowBlock<const T> x, const Index* rows, const std::int32_t* from,
                        const std::int32_t* to, Index count, std::int64_t* sums) {
  for (Index i = 0; i < count; ++i) {
    for (Index c = 0; c < x.columns; ++c) {
      auto number = double{x.data[rows[i] * x.leading_dimension + c]};
      for (Index w = window.words() - 1; w >= 0; --w) {
        const Index place = w * window.pitch() + c;
        const double anchor = window.anchors()[place];
        const double shifted = number + anchor;
        const std::int64_t digit = std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(anchor);
        sums[to[i] * window.words_of_group() + place] += digit;
        if (from != nullptr) sums[from[i] * window.words_of_group() + place] -= digit;
        number -= shifted - anchor;
      }
    }
  }
}

template <class T>
constexpr auto column_sums_reference = &column_sums_scalar<T>;
template <class T>
constexpr KernelTable<ColumnSumKernel<T>> column_sum_table(PLAIT_SIMD_FIXED_LENGTH_KERNELS(column_sums_reference<T>,
                                                                                           column_sums_of_target<T>));

}  // namespace

ColumnWindow::ColumnWindow(std::span<const BitRange> columns, Index rows) {
  const auto growth = static_cast<Index>(std::bit_width(static_cast<std::uint64_t>(rows)));
  for (const BitRange& range : columns) {
    const Index highest = range.is_empty() ? 0 : range.first;
    lowest_digit_.push_back(((range.is_empty() ? 0 : range.last) - last_place) / digit_bits);
    const Index unit = last_place + lowest_digit_.back() * digit_bits;
    // The highest digit of a number and of the sum of all of them: the latter has room in a word of 64 bits.
    const Index bits = std::max(highest + 2 - unit, highest + 2 + growth - unit - 28);
    words_ = std::max(words_, (bits + digit_bits - 1) / digit_bits);
  }
  constexpr Index most_lanes = 8;
  pitch_ = (this->columns() + most_lanes - 1) / most_lanes * most_lanes;
  anchors_.assign(static_cast<std::size_t>(words_ * pitch_), 0x1.8p52);
  for (Index w = 0; w < words_; ++w) {
    for (Index c = 0; c < this->columns(); ++c) {
      // Digits that are above those of the column's numbers stay 0, whatever their anchor.
      const Index unit = std::min<Index>(last_place + (lowest_digit_[at(c)] + w) * digit_bits, 960);
      anchors_[at(w * pitch_ + c)] = std::ldexp(1.5, static_cast<int>(52 + unit));
    }
  }
}

void ColumnWindow::carry(std::int64_t* group) const {
  for (Index w = 0; w + 1 < words_; ++w) {
    for (Index c = 0; c < pitch_; ++c) {
      std::int64_t& digit = group[w * pitch_ + c];
      group[(w + 1) * pitch_ + c] += digit >> digit_bits;
      digit &= (std::int64_t{1} << digit_bits) - 1;
    }
  }
}

ExactSum ColumnWindow::sum(const std::int64_t* group, Index column) const {
  ExactSum::State state{};
  constexpr auto top = static_cast<Index>(ExactSum::digit_count) - 1;
  for (Index w = 0; w < words_; ++w) {
    const Index digit = lowest_digit_[at(column)] + w;
    const std::int64_t word = group[w * pitch_ + column];
    if (digit <= top) {
      state[at(digit)] = word;
    } else if (digit == top + 1) {  // no sum reaches it, but the sign of one below 0 does
      state[at(top)] += static_cast<std::int64_t>(static_cast<std::uint64_t>(word) << digit_bits);
    }
  }
  state.back() = 1;  // there was a number, if only 0
  ExactSum sum;
  sum.set_state(state);
  return sum;
}

double ColumnWindow::rounded(const std::int64_t* group, Index column) const {
  constexpr Index most_words = 3;  // which make less than 2^127
  if (words_ <= most_words) {
    Wide whole = 0;
    for (Index w = words_; w-- > 0;) whole = whole * (Wide{1} << digit_bits) + group[w * pitch_ + column];
    const double unit = anchors_[at(column)] / 0x1.8p52;  // of the lowest digit
    const double found = static_cast<double>(whole) * unit;
    if (whole == 0 || std::isnormal(found)) return found;  // else it was rounded twice
  }
  return sum(group, column).rounded<double>();
}

template <class T>
ColumnSumKernel<T>* column_sum_kernel(Isa isa) {
  return &column_sum_table<T>[isa];
}

template ColumnSumKernel<double>* column_sum_kernel<double>(Isa);
template ColumnSumKernel<float>* column_sum_kernel<float>(Isa);

}  // namespace plait::simd
#endif
