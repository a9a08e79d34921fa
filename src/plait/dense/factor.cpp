#include "plait/dense/factor.hpp"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "plait/base/complex.hpp"
#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/dense/arrangement/moves.hpp"
#include "plait/simd/transform/copy.hpp"
#include "plait/simd/transform/transpose.hpp"

namespace plait::dense {

std::optional<layout::TileExtent> only_tile(const layout::Layout& layout, int rank) {
  const std::vector<layout::TileExtent> tiles = layout.tiles_of(rank);
  PLAIT_ASSERT(tiles.size() <= 1, "an arrangement gives a rank one tile");
  return tiles.empty() ? std::nullopt : std::optional(tiles.front());
}

ExpectedTiles::ExpectedTiles(std::string name, const layout::Layout& layout, int rank)
    : name_(std::move(name)), extents_(layout.tiles_of(rank)) {}

void ExpectedTiles::expect(std::span<const redistribute::TileMemory> tiles) const {
  if (tiles.size() != extents_.size()) {
    throw ShapeMismatch(
        fmt::format("{}: {} tiles, but the layout gives this rank {}", name_, tiles.size(), extents_.size()));
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const bool by_columns = tiles[i].tile.order == StorageOrder::column_major;
    const Index rows = by_columns ? tiles[i].minor : tiles[i].major;
    const Index columns = by_columns ? tiles[i].major : tiles[i].minor;
    if (rows != extents_[i].rows || columns != extents_[i].columns) {
      throw ShapeMismatch(fmt::format("{}: tile {} is {} x {}, but the layout says {} x {}", name_, i, rows, columns,
                                      extents_[i].rows, extents_[i].columns));
    }
  }
}

template <Field T>
Factor<T>::Factor(std::string name, layout::Layout given, Op op, layout::Layout own, Options options, int rank)
    : given_(std::move(given)),
      op_(op),
      own_(std::move(own)),
      travels_(options.travels),
      is_there_(false),
      number_(-1),
      expected_(std::move(name), given_, rank),
      extent_(only_tile(own_, rank)),
      terms_(std::move(options.terms)) {
  if (extent_) {
    const bool by_columns = own_.storage() == StorageOrder::column_major;
    minor_ = by_columns ? extent_->rows : extent_->columns;
    major_ = by_columns ? extent_->columns : extent_->rows;
  }
  const layout::Layout as_read = as_it_is_read(given_, op_);
  const bool conjugates = is_complex<T> && redistribute::conjugates(op_);
  // What would be copied here is better copied by an exchange, in parallel and while there is time, if there is one.
  const bool will_do = options.stays ? true
                       : travels_    ? as_read.storage() == own_.storage() && !conjugates
                                     : !conjugates || as_read.storage() != options.c_order;
  is_there_ = will_do && lies_as(as_read, own_);
  if (is_there_) number_ = tile_with_elements(given_, rank);
}

template <Field T>
T* Factor<T>::memory() {
  if (memory_.size() == 0 && minor_ * major_ > 0) memory_ = Array<T>(minor_ * major_);
  return memory_.data();
}

template <Field T>
void Factor<T>::take_memory() {
  if (!is_there_) static_cast<void>(memory());
}

template <Field T>
std::span<const matrix_view<T>> Factor<T>::target() {
  if (!extent_) return {};
  target_ = packed_tile(*extent_, own_.storage(), memory());
  return {&*target_, 1};
}

template <Field T>
LocalFactor Factor<T>::held() const noexcept {
  return {reinterpret_cast<const std::byte*>(memory_.data()), std::max(Index{1}, minor_), own_.storage()};
}

template <Field T>
LocalFactor Factor<T>::local(std::span<const redistribute::TileMemory> tiles, StorageOrder c_order) {
  if (!is_there_) return held();
  if (number_ < 0) return {};
  const redistribute::TileMemory& tile = tiles[static_cast<std::size_t>(number_)];
  const auto& [data, leading_dimension, stored] = tile.tile;
  const StorageOrder order = redistribute::transposes(op_) ? flipped(stored) : stored;
  const bool conjugates = is_complex<T> && redistribute::conjugates(op_);
  const bool has_gaps = leading_dimension != tile.minor && tile.major > 1;
  const bool will_do = travels_ ? order == own_.storage() && !has_gaps && !conjugates : !conjugates || order != c_order;
  if (!will_do || !terms_.empty()) return copied(tile, order, conjugates);
  return {data, std::max({Index{1}, leading_dimension, tile.minor}), order, conjugates};
}

template <Field T>
LocalFactor Factor<T>::copied(const redistribute::TileMemory& tile, StorageOrder order, bool conjugates) {
  constexpr auto element_bytes = static_cast<Index>(sizeof(T));
  const auto& [data, leading_dimension, stored] = tile.tile;
  T* const target = memory();
  auto* to = reinterpret_cast<std::byte*>(target);
  const Stretch all{0, major_};
  for (const Stretch& some : terms_.empty() ? std::span(&all, 1) : std::span(std::as_const(terms_))) {
    if (order == own_.storage()) {
      simd::copy_matrix(minor_ * element_bytes, some.length, data + some.begin * leading_dimension * element_bytes,
                        leading_dimension * element_bytes, to, minor_ * element_bytes);
    } else {
      simd::transpose(some.length, minor_, data + some.begin * element_bytes, leading_dimension, to,
                      std::max(Index{1}, minor_), element_bytes);
    }
    to += some.length * minor_ * element_bytes;
  }
  if constexpr (is_complex<T>) {
    if (conjugates) std::transform(target, target + memory_.size(), target, [](T z) { return std::conj(z); });
  }
  return held();
}

template class Factor<float>;
template class Factor<double>;
template class Factor<std::complex<float>>;
template class Factor<std::complex<double>>;

}  // namespace plait::dense
