#include "plait/dense/own_tile.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/complex.hpp"
#include "plait/dense/arrangement/in_place.hpp"
#include "plait/simd/transform/copy.hpp"
#include "plait/simd/transform/transpose.hpp"

namespace plait::dense {

namespace {

/// Whether a part of the axis holds [begin, end) and nothing else; which one, or -1.
Index part_that_is(const layout::Axis& axis, Index begin, Index end) {
  const layout::Piece piece = axis.piece_at(begin);
  const bool is_whole = piece.segment.global == begin && piece.segment.length == end - begin &&
                        axis.local_extent(piece.part) == end - begin;
  return is_whole ? piece.part : -1;
}

/// The parts of `given` that are those of `own`, -1 where there is none, and for parts without elements.
std::vector<Index> equal_parts(const layout::Axis& given, const layout::Axis& own) {
  std::vector<Index> result;
  for (Index part = 0; part < own.parts(); ++part) {
    const Index length = own.local_extent(part);
    const Index begin = length == 0 ? 0 : own.global_of(part, 0);
    result.push_back(length == 0 ? -1 : part_that_is(given, begin, begin + length));
  }
  return result;
}

}  // namespace

bool lies_as(const layout::Layout& given, const layout::Layout& own) {
  if (given.owners() == own.owners() && have_same_parts(given.rows(), own.rows()) &&
      have_same_parts(given.columns(), own.columns())) {
    return true;
  }
  const std::vector<Index> rows = equal_parts(given.rows(), own.rows());
  const std::vector<Index> columns = equal_parts(given.columns(), own.columns());
  for (Index i = 0; i < own.rows().parts(); ++i) {
    for (Index j = 0; j < own.columns().parts(); ++j) {
      if (own.rows().local_extent(i) == 0 || own.columns().local_extent(j) == 0) continue;
      const Index row = rows[static_cast<std::size_t>(i)];
      const Index column = columns[static_cast<std::size_t>(j)];
      if (row < 0 || column < 0 || given.owners().owner(row, column) != own.owners().owner(i, j)) return false;
    }
  }
  return true;
}

Index tile_with_elements(const layout::Layout& layout, int rank) {
  const std::vector<layout::TileExtent> tiles = layout.tiles_of(rank);
  const auto has_elements = [](const layout::TileExtent& tile) { return tile.rows > 0 && tile.columns > 0; };
  const auto found = std::ranges::find_if(tiles, has_elements);
  return found == tiles.end() ? -1 : found - tiles.begin();
}

template <Field T>
T* OwnTile<T>::memory() {
  if (memory_.size() == 0 && minor_ * major_ > 0) memory_ = Array<T>(minor_ * major_);
  return memory_.data();
}

template <Field T>
LocalFactor OwnTile<T>::held() const noexcept {
  return {reinterpret_cast<const std::byte*>(memory_.data()), std::max(Index{1}, minor_), order_};
}

template <Field T>
LocalFactor OwnTile<T>::from(const redistribute::TileMemory& tile, redistribute::Op op, bool travels,
                             StorageOrder c_order) {
  const auto& [data, leading_dimension, stored] = tile.tile;
  const StorageOrder order = redistribute::transposes(op) ? flipped(stored) : stored;
  const bool conjugate = is_complex<T> && redistribute::conjugates(op);
  const bool has_gaps = leading_dimension != tile.minor && tile.major > 1;
  const bool will_do = travels ? order == order_ && !has_gaps && !conjugate : !conjugate || order != c_order;
  if (will_do && terms_.empty()) return {data, std::max({Index{1}, leading_dimension, tile.minor}), order, conjugate};

  constexpr auto element_bytes = static_cast<Index>(sizeof(T));
  T* const target = memory();
  auto* const bytes = reinterpret_cast<std::byte*>(target);
  const Stretch all{0, major_};
  std::byte* to = bytes;
  for (const Stretch& some : terms_.empty() ? std::span(&all, 1) : std::span(std::as_const(terms_))) {
    if (order == order_) {
      simd::copy_matrix(minor_ * element_bytes, some.length, data + some.begin * leading_dimension * element_bytes,
                        leading_dimension * element_bytes, to, minor_ * element_bytes);
    } else {
      simd::transpose(some.length, minor_, data + some.begin * element_bytes, leading_dimension, to,
                      std::max(Index{1}, minor_), element_bytes);
    }
    to += some.length * minor_ * element_bytes;
  }
  if constexpr (is_complex<T>) {
    if (conjugate) std::transform(target, target + memory_.size(), target, [](T z) { return std::conj(z); });
  }
  return held();
}

template class OwnTile<float>;
template class OwnTile<double>;
template class OwnTile<std::complex<float>>;
template class OwnTile<std::complex<double>>;

}  // namespace plait::dense
