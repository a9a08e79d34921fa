#pragma once

#include <complex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plait/purify/filling.hpp"
#include "plait/purify/hamiltonian.hpp"
#include "plait/purify/products.hpp"
#include "plait/purify/purification.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "capi/handle.hpp"

/// What is given for density matrices, and what is given back.
namespace plait::capi {

using PurifiableDTypes = DTypes<double, std::complex<double>>;

/// Those of a matrix of this rank in that layout.
/// \throws ArgumentError, ShapeMismatch  as `tile_list`
template <class U, class GivenTile>
[[nodiscard]] std::vector<matrix_view<U>> views_in(const mpi::Context& context, const layout::Layout& layout,
                                                   const GivenTile* tiles, Index count, const char* what) {
  return redistribute::views_of<U>(tile_list(tiles, count, layout.tiles_of(context.rank()), what, Index{sizeof(U)}));
}

/// A matrix of the caller's, of which a triangle or all is looked at, Hermitian to the last bit, in another layout.
/// Collective.
template <class T>
[[nodiscard]] purify::Matrix<T> hermitian_from(mpi::Context& context, const layout::Layout& from,
                                               const plait_source_tile* tiles, Index count,
                                               std::optional<purify::Triangle> triangle, const layout::Layout& to,
                                               const char* what) {
  const auto given = checked(context, [&](auto&) { return views_in<const T>(context, from, tiles, count, what); });
  auto result = purify::allocate<T>(context, to);
  redistribute::Redistribution(context, from, to).template execute<T>(T{1}, given, T{0}, result.tiles());
  if (triangle) {
    purify::expect_triangle(context, result, *triangle, what);
    purify::fill_from_triangle(context, result, *triangle);
  }
  purify::expect_finite(context, result, what);
  purify::make_hermitian(context, result, what);
  return result;
}

/// None: all of a matrix is looked at.
[[nodiscard]] inline std::optional<purify::Triangle> triangle_of(plait_triangle given) {
  if (given == PLAIT_WHOLE) return std::nullopt;
  return enumerator<purify::Triangle>("triangle", given, PLAIT_LOWER, PLAIT_UPPER);
}

[[nodiscard]] inline purify::Smearing smearing_of(plait_smearing given) {
  return enumerator<purify::Smearing>("smearing", given, PLAIT_SMEARING_NONE, PLAIT_SMEARING_METHFESSEL_PAXTON);
}

/// 1 or 2, or 2 for 0.
[[nodiscard]] inline int electrons_per_state(int given) {
  if (given >= 0 && given <= 2) return given == 0 ? 2 : given;
  throw ArgumentError("electrons_per_state: is " + std::to_string(given) + ", expected 1 or 2, or 0 for 2");
}

/// What f, which fills states, returns; where there is no gap, all ranks throw that. Collective.
template <class F>
auto filled(mpi::Context& context, F&& f) {
  std::optional<purify::NoGap> no_gap;
  auto filling = mpi::agreed(context, [&]() -> std::optional<decltype(f())> {
    try {
      return f();
    } catch (const purify::NoGap& found) {
      no_gap = found;  // all ranks find it, as they fill the same states
      return std::nullopt;
    }
  });
  if (no_gap) throw purify::NoGap(*no_gap);
  return *std::move(filling);
}

/// \throws ShapeMismatch, LayoutError  it is not of n × n elements, or needs more ranks than there are
inline void expect_square(const layout::Layout& layout, Index n, const mpi::Context& context, const char* what) {
  if (layout.shape() != layout::Shape{n, n}) {
    throw ShapeMismatch(std::string(what) + ": is " + layout::to_string(layout.shape()) + ", expected " +
                        layout::to_string({n, n}));
  }
  if (layout.ranks() > context.size()) {
    throw LayoutError(std::string(what) + ": needs " + std::to_string(layout.ranks()) + " ranks, there are " +
                      std::to_string(context.size()));
  }
}

}  // namespace plait::capi
