#pragma once

#include <span>

#include "plait/base/dtype.hpp"
#include "plait/base/index.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/stores.hpp"
#include "plait/simd/transform/element_run.hpp"

namespace plait::simd {

/// target[i] = alpha * op(source[i]) + beta * target[i],  0 <= i < n,  op the complex conjugate if `conjugate`.
///
/// alpha = 0 reads no source, which may be null then; beta = 0 reads no target, whatever it holds. A factor of 1
/// multiplies nothing. Integers wrap; complex products follow the textbook, (ac - bd) + (ad + bc)i; each product and
/// each sum is rounded by itself. So every element gets the same bits on every instruction set and at every place, but
/// for the sign and payload of a NaN.
///
/// \pre  n >= 0
/// \pre  source and target do not overlap, or are the same
/// \pre  is_supported(isa)
template <Number T>
void scale_add(Index n, T alpha, const T* source, bool conjugate, T beta, T* target, Isa isa = selected_isa());

/// `scale_add` of the same runs of each of `major` columns, which begin `source_ld` and `target_ld` elements apart:
/// many short runs at the cost of one call. `Stores::automatic` does not stream; where beta is not 0 the target is
/// read, and `stores` changes nothing.
///
/// \pre  runs are >= 0 long, and those of the target do not overlap; source and target do not overlap
/// \pre  is_supported(isa)
template <Number T>
void scale_add_runs(std::span<const ElementRun> runs, Index major, T alpha, const T* source, Index source_ld,
                    bool conjugate, T beta, T* target, Index target_ld, Isa isa = selected_isa(),
                    Stores stores = Stores::automatic);

/// target(r, c) = alpha * op(source(r, c)) + beta * target(r, c), element by element as `scale_add`.
///
/// Both are column-major, rows × columns. What lies between the columns of the target is not written.
///
/// \pre  rows >= 0 and columns >= 0
/// \pre  target_ld >= max(1, rows), and source_ld likewise unless alpha = 0
/// \pre  source and target do not overlap, or are the same
/// \pre  is_supported(isa)
template <Number T>
void matrix_scale_add(Index rows, Index columns, T alpha, const T* source, Index source_ld, bool conjugate, T beta,
                      T* target, Index target_ld, Isa isa = selected_isa());

/// target(c, r) = alpha * op(source(r, c)) + beta * target(c, r), element by element as `scale_add`.
///
/// `source` is column-major, of which runs of rows are read, and `target` column-major, of which these are columns.
/// Where beta is not 0 the target is read, and `stores` changes nothing.
///
/// \pre  runs are >= 0 long, and those of the target do not overlap; columns >= 0
/// \pre  target_ld >= max(1, columns), and the runs lie within source_ld unless alpha = 0
/// \pre  source and target do not overlap
/// \pre  is_supported(isa)
template <Number T>
void transpose_scale_add_runs(std::span<const ElementRun> rows, Index columns, T alpha, const T* source,
                              Index source_ld, bool conjugate, T beta, T* target, Index target_ld,
                              Isa isa = selected_isa(), Stores stores = Stores::automatic);

}  // namespace plait::simd
