#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "plait/base/caches.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/simd/foresight.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"

/// Passes over a rank's rows. Local.
namespace plait::sinkhorn {

/// Of the second level, as far as that is known.
[[nodiscard]] inline Index cache_bytes() {
  constexpr Index usual = Index{512} << 10;
  return second_level_cache_bytes() > 0 ? second_level_cache_bytes() : usual;
}

/// How many rows of a matrix are taken at a time where they are passed through twice and the next ones are fetched
/// meanwhile: as many as the kernels take, or half of them where so many are longer than several second-level caches.
/// (The second pass then finds most of a block in the third one.)
[[nodiscard]] inline Index rows_at_a_time(Index columns, Index element_bytes) {
  constexpr Index most_caches = 4;
  const bool are_long = simd::most_rows_at_a_time * columns * element_bytes > most_caches * cache_bytes();
  return are_long ? simd::most_rows_at_a_time / 2 : simd::most_rows_at_a_time;
}

/// Rows [first, first + count) of row-major rows.
template <class T>
[[nodiscard]] simd::RowBlock<T> block_of(matrix_view<T> rows, Index first, Index count) {
  return {rows.data() + first * rows.leading_dimension(), count, rows.columns(), rows.leading_dimension()};
}

template <class T>
[[nodiscard]] matrix_view<T> rows_of(matrix_view<T> rows, Index first, Index count) {
  return {rows.data() + first * rows.leading_dimension(), count, rows.columns(), rows.leading_dimension(),
          StorageOrder::row_major};
}

/// Calls f(first, block, ahead of the first pass, ahead of the second pass) for blocks of so many rows, one after the
/// other. Where a block is passed through twice, what is to be fetched meanwhile of the next one is divided among the
/// two; nothing is where the processor does so by itself, which it does not as well where elements are to be converted.
template <class T, class F>
void for_each_block(matrix_view<T> rows, Index at_a_time, F&& f) {
  using Const = std::remove_const_t<T>;
  const bool fetches = sizeof(T) < sizeof(float) || !simd::foresees_rows();
  for (Index first = 0; first < rows.rows(); first += at_a_time) {
    const Index count = std::min(at_a_time, rows.rows() - first);
    const Index next = first + count;
    const Index ahead = fetches ? std::min(at_a_time, rows.rows() - next) : 0;
    const Index early = ahead / 2;
    const auto part = [&](Index from, Index number) {
      const Index leading_dimension = rows.leading_dimension();
      return simd::RowsAhead<Const>{number == 0 ? nullptr : rows.data() + from * leading_dimension, number,
                                    rows.columns(), leading_dimension};
    };
    f(first, block_of(rows, first, count), part(next, early), part(next + early, ahead - early));
  }
}

template <class T>
[[nodiscard]] simd::RowBlock<const T> as_const(simd::RowBlock<T> block) {
  return {block.data, block.rows, block.columns, block.leading_dimension};
}

}  // namespace plait::sinkhorn
