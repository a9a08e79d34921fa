#include "plait/dense/arrangement/arrangement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::dense {

namespace {

using layout::Axis;
using layout::Layout;
using layout::Owners;

/// The `part`-th of so many nearly equal parts of a span, cut as `layout::Axis::even` does.
Span part_of(const Span& whole, int part, int parts) {
  const Index each = whole.length() / parts;
  const Index longer = whole.length() % parts;
  const Index begin = whole.begin + part * each + std::min(Index{part}, longer);
  return {begin, begin + each + (part < longer ? 1 : 0)};
}

/// The ends of `count` spans that follow each other, as an axis.
Axis axis_of(int count, const std::function<Span(int)>& span) {
  std::vector<Index> splits{0};
  for (int i = 0; i < count; ++i) splits.push_back(span(i).end);
  return Axis::cut(std::move(splits));
}

/// What a part holds, where the elements of one part follow those of the other.
Span held_by(const Axis& axis, int part) {
  Index begin = 0;
  for (int before = 0; before < part; ++before) begin += axis.local_extent(before);
  return {begin, begin + axis.local_extent(part)};
}

Index most_held(const Axis& axis) {
  Index most = 0;
  for (Index part = 0; part < axis.parts(); ++part) most = std::max(most, axis.local_extent(part));
  return most;
}

using Tile = layout::TilePosition;

/// Of rows × columns tiles, one for each role.
Owners owners_of(const ProcessGrid& mesh, int rows, int columns, const std::function<Tile(const GridPlace&)>& tile) {
  std::vector<int> owners(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (int role = 0; role < mesh.ranks(); ++role) {
    const Tile at = tile(mesh.place(role));
    owners[static_cast<std::size_t>(at.row * columns + at.column)] = role;
  }
  return Owners::listed(rows, columns, std::move(owners));
}

Index length_of_part(Index extent, int parts) { return part_of({0, extent}, 0, parts).length(); }

}  // namespace

double least_elements_received(const ProductShape& shape, int ranks) {
  std::array<double, 3> extents{static_cast<double>(shape.rows), static_cast<double>(shape.columns),
                                static_cast<double>(shape.terms)};
  std::ranges::sort(extents, std::greater());
  const auto [longest, middle, shortest] = extents;
  if (ranks <= 1 || shortest == 0) return 0;

  const double p = ranks;
  double accessed = 0;
  if (p <= longest / middle) {
    accessed = (longest * middle + longest * shortest) / p + middle * shortest;
  } else if (p <= longest * middle / (shortest * shortest)) {
    accessed = longest * middle / p + 2 * shortest * std::sqrt(longest * middle / p);
  } else {
    accessed = 3 * std::cbrt(std::pow(longest * middle * shortest / p, 2));
  }
  const double owned = (longest * middle + longest * shortest + middle * shortest) / p;
  return std::max(0.0, accessed - owned);
}

ProductShape Factors::product_shape() const {
  const layout::Shape left = redistribute::apply(op_a, a.shape());
  const layout::Shape right = redistribute::apply(op_b, b.shape());
  if (left.columns != right.rows) {
    throw ShapeMismatch(fmt::format("op(A) is {} x {}, op(B) is {} x {}: there have to be as many columns as rows",
                                    left.rows, left.columns, right.rows, right.columns));
  }
  return {left.rows, right.columns, left.columns};
}

layout::Layout as_it_is_read(const layout::Layout& layout, Op op) {
  return redistribute::transposes(op) ? layout.transposed() : layout;
}

const char* to_string(Method method) noexcept {
  switch (method) {
    case Method::ring: return "ring";
    case Method::summa: return "SUMMA";
    case Method::cannon: return "Cannon";
    case Method::in_place: break;
  }
  return "SUMMA in place";
}

Arrangement::Arrangement(const ProductShape& shape, Method method, const ProcessGrid& mesh)
    : shape_(shape), method_(method), mesh_(mesh) {
  if (method == Method::ring && mesh.rows > 1 && mesh.columns > 1) {
    throw ArgumentError(
        fmt::format("mesh: {} x {}, expected one row or one column for a ring", mesh.rows, mesh.columns));
  }
  if (method == Method::cannon && mesh.rows != mesh.columns) {
    throw ArgumentError(fmt::format("mesh: {} x {}, expected a square for Cannon", mesh.rows, mesh.columns));
  }
}

Arrangement::Arrangement(GivenAxes axes)
    : shape_{axes.rows.extent(), axes.columns.extent(), axes.a_terms.extent()},
      method_(Method::in_place),
      mesh_{static_cast<int>(axes.rows.parts()), static_cast<int>(axes.columns.parts()), 1},
      given_(std::make_shared<const GivenAxes>(std::move(axes))) {
  if (given_->b_terms.extent() != shape_.terms) {
    throw ShapeMismatch(fmt::format("A has {} terms, but B has {}", shape_.terms, given_->b_terms.extent()));
  }
  if (given_->a_terms.parts() != mesh_.columns || given_->b_terms.parts() != mesh_.rows) {
    throw ShapeMismatch(fmt::format("the terms of A and B are cut into {} and {} parts, expected {} and {}",
                                    given_->a_terms.parts(), given_->b_terms.parts(), mesh_.columns, mesh_.rows));
  }
}

Span Arrangement::rows(int row) const {
  return given_ ? held_by(given_->rows, row) : part_of({0, shape_.rows}, row, mesh_.rows);
}
Span Arrangement::columns(int column) const {
  return given_ ? held_by(given_->columns, column) : part_of({0, shape_.columns}, column, mesh_.columns);
}
Span Arrangement::final_columns(int column, int layer) const { return part_of(columns(column), layer, mesh_.layers); }
Span Arrangement::terms(int layer) const { return part_of({0, shape_.terms}, layer, mesh_.layers); }
Span Arrangement::a_terms(int layer, int part) const {
  return given_ ? held_by(given_->a_terms, part) : part_of(terms(layer), part, mesh_.columns);
}
Span Arrangement::b_terms(int layer, int part) const {
  return given_ ? held_by(given_->b_terms, part) : part_of(terms(layer), part, mesh_.rows);
}

// The first of nearly equal parts is the longest.
Index Arrangement::most_rows() const {
  return given_ ? most_held(given_->rows) : length_of_part(shape_.rows, mesh_.rows);
}
Index Arrangement::most_columns() const {
  return given_ ? most_held(given_->columns) : length_of_part(shape_.columns, mesh_.columns);
}
Index Arrangement::most_a_terms() const { return given_ ? most_held(given_->a_terms) : a_terms(0, 0).length(); }
Index Arrangement::most_b_terms() const { return given_ ? most_held(given_->b_terms) : b_terms(0, 0).length(); }

int Arrangement::a_part(const GridPlace& place) const noexcept {
  return method_ == Method::cannon ? (place.row + place.column) % mesh_.columns : place.column;
}
int Arrangement::b_part(const GridPlace& place) const noexcept {
  return method_ == Method::cannon ? (place.row + place.column) % mesh_.rows : place.row;
}

Layout Arrangement::a_layout() const {
  if (given_)
    return {given_->rows, given_->a_terms, Owners::grid(mesh_.rows, mesh_.columns), StorageOrder::column_major};
  const int parts = mesh_.layers * mesh_.columns;
  const auto terms = [this](int part) { return a_terms(part / mesh_.columns, part % mesh_.columns); };
  const auto tile = [this](const GridPlace& at) { return Tile{at.row, at.layer * mesh_.columns + a_part(at)}; };
  return {Axis::even(shape_.rows, mesh_.rows), axis_of(parts, terms), owners_of(mesh_, mesh_.rows, parts, tile),
          StorageOrder::column_major};
}

Layout Arrangement::b_layout() const {
  if (given_)
    return {given_->b_terms, given_->columns, Owners::grid(mesh_.rows, mesh_.columns), StorageOrder::row_major};
  const int parts = mesh_.layers * mesh_.rows;
  const auto terms = [this](int part) { return b_terms(part / mesh_.rows, part % mesh_.rows); };
  const auto tile = [this](const GridPlace& at) { return Tile{at.layer * mesh_.rows + b_part(at), at.column}; };
  return {axis_of(parts, terms), Axis::even(shape_.columns, mesh_.columns),
          owners_of(mesh_, parts, mesh_.columns, tile), StorageOrder::row_major};
}

Layout Arrangement::c_layout() const {
  if (given_)
    return {given_->rows, given_->columns, Owners::grid(mesh_.rows, mesh_.columns), StorageOrder::column_major};
  const int parts = mesh_.columns * mesh_.layers;
  const auto columns = [this](int part) { return final_columns(part / mesh_.layers, part % mesh_.layers); };
  const auto tile = [this](const GridPlace& at) { return Tile{at.row, at.column * mesh_.layers + at.layer}; };
  return {Axis::even(shape_.rows, mesh_.rows), axis_of(parts, columns), owners_of(mesh_, mesh_.rows, parts, tile),
          StorageOrder::column_major};
}

std::string Arrangement::describe() const {
  if (mesh_.ranks() == 1) return "one rank";
  const std::string layer = fmt::format("{} x {} ranks", mesh_.rows, mesh_.columns);
  if (mesh_.layers == 1) return fmt::format("{} on {}", to_string(method_), layer);
  const bool is_cube = mesh_.rows == mesh_.columns && mesh_.rows == mesh_.layers;
  return fmt::format("{}, {} on {} layers of {}", is_cube ? "3D" : "2.5D", to_string(method_), mesh_.layers, layer);
}

}  // namespace plait::dense
