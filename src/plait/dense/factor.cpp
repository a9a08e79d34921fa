#include "plait/dense/factor.hpp"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "plait/base/complex.hpp"
#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"

namespace plait::dense {

namespace {

template <Field T>
OwnTile<T> own_tile(StorageOrder order, const std::optional<layout::TileExtent>& extent, std::vector<Stretch> terms) {
  if (!extent) return {order, 0, 0};
  const bool by_columns = order == StorageOrder::column_major;
  return {order, by_columns ? extent->rows : extent->columns, by_columns ? extent->columns : extent->rows,
          std::move(terms)};
}

}  // namespace

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
      tile_(own_tile<T>(own_.storage(), extent_, std::move(options.terms))) {
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
void Factor<T>::take_memory() {
  if (!is_there_) static_cast<void>(tile_.memory());
}

template <Field T>
std::span<const matrix_view<T>> Factor<T>::target() {
  if (!extent_) return {};
  target_ = packed_tile(*extent_, own_.storage(), tile_.memory());
  return {&*target_, 1};
}

template <Field T>
LocalFactor Factor<T>::local(std::span<const redistribute::TileMemory> tiles, StorageOrder c_order) {
  if (!is_there_) return tile_.held();
  return number_ < 0 ? LocalFactor{} : tile_.from(tiles[static_cast<std::size_t>(number_)], op_, travels_, c_order);
}

template class Factor<float>;
template class Factor<double>;
template class Factor<std::complex<float>>;
template class Factor<std::complex<double>>;

}  // namespace plait::dense
