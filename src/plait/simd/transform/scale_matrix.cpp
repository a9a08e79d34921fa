#include <algorithm>

#include <hwy/cache_control.h>

#include "plait/base/contract.hpp"
#include "plait/simd/cache_lines.hpp"
#include "plait/simd/prefetch.hpp"
#include "plait/simd/transform/copy.hpp"
#include "plait/simd/transform/scale.hpp"
#include "plait/simd/transform/scale_kernel.hpp"
#include "plait/simd/transform/transpose.hpp"
#include "plait/simd/transform/transpose_transformed.hpp"
#include "plait/simd/transform/transposition.hpp"

namespace plait::simd {

namespace {

template <class T>
const std::byte* bytes(const T* elements) {
  return reinterpret_cast<const std::byte*>(elements);
}

template <class T>
std::byte* bytes(T* elements) {
  return reinterpret_cast<std::byte*>(elements);
}

/// A tile that is transposed by way of a scratch which stays in the first-level cache, 8 KiB at most: a line of so many
/// columns of the source.
template <class T>
struct ScratchTile {
  static constexpr Index columns = std::max(Index{32}, Index{128} / Index{sizeof(T)});
  static constexpr Index rows = line_bytes / Index{sizeof(T)};
  alignas(line_bytes) T elements[static_cast<std::size_t>(rows * columns)];
};

/// Fetches rows × columns elements: all lines in which some of a column lies.
template <class T>
void fetch(Index rows, Index columns, const T* elements, Index ld) {
  for (Index c = 0; c < columns; ++c) {
    const std::byte* const column = bytes(elements + c * ld);
    const std::byte* const end = column + rows * Index{sizeof(T)};
    for (const std::byte* at = column - bytes_past_line(column); at < end; at += line_bytes) prefetch(at);
  }
}

/// beta = 0 and a target beyond the caches: scaled on the way to it.
template <class T>
void stream_scaled(std::span<const ElementRun> runs, Index columns, const Scaling<T>& scaling, const T* source,
                   Index source_ld, T* target, Index target_ld, Isa isa) {
  struct Context {
    ScaleKernel<T>* scale;
    const Scaling<T>* scaling;
  };
  const Context context{&scale_kernel<T>(isa), &scaling};
  const auto scale_in_place = [](const void* given, std::byte* elements, Index count) {
    const auto& [scale, how] = *static_cast<const Context*>(given);
    T* values = reinterpret_cast<T*>(elements);
    scale(*how, count, values, values, false);
  };
  const ElementTransform transform{scale_in_place, &context};
  transpose_transformed(runs, columns, bytes(source), source_ld, bytes(target), target_ld, Index{sizeof(T)}, isa,
                        Stores::streaming, &transform);
}

/// Transposes into the scratch, whose columns are then added to the target's: along bands of columns of the source,
/// through all runs of its rows. What comes next of either side is fetched meanwhile, which the processor does not do
/// by itself for so many columns.
template <class T>
void transpose_then_add(std::span<const ElementRun> runs, Index columns, const Scaling<T>& scaling, const T* source,
                        Index source_ld, T* target, Index target_ld, Isa isa) {
  using Tile = ScratchTile<T>;
  constexpr int tiles_ahead = 2;
  auto& scale = scale_kernel<T>(isa);
  Tile scratch;
  struct TilePosition {
    Index column = 0;
    std::size_t run = 0;
    Index row = 0;
  };
  const auto next = [&](TilePosition at) {
    if (at.row + Tile::rows < runs[at.run].length) return TilePosition{at.column, at.run, at.row + Tile::rows};
    if (at.run + 1 < runs.size()) return TilePosition{at.column, at.run + 1, 0};
    return TilePosition{at.column + Tile::columns, 0, 0};
  };
  const auto with_tile_at = [&](TilePosition at, auto function) {
    if (at.column >= columns) return;
    const ElementRun& run = runs[at.run];
    function(std::min(Tile::rows, run.length - at.row), std::min(Tile::columns, columns - at.column),
             source + run.source + at.row + at.column * source_ld,
             target + at.column + (run.target + at.row) * target_ld);
  };
  const auto fetch_tile = [&](Index tile_rows, Index tile_columns, const T* from, const T* to) {
    fetch(tile_rows, tile_columns, from, source_ld);
    fetch(tile_columns, tile_rows, to, target_ld);
  };
  if (runs.empty()) return;
  TilePosition ahead;
  for (int tile = 0; tile < tiles_ahead; ++tile, ahead = next(ahead)) with_tile_at(ahead, fetch_tile);
  for (TilePosition at; at.column < columns; at = next(at), ahead = next(ahead)) {
    with_tile_at(ahead, fetch_tile);
    with_tile_at(at, [&](Index tile_rows, Index tile_columns, const T* from, T* to) {
      transpose(tile_rows, tile_columns, bytes(from), source_ld, bytes(scratch.elements), Tile::columns,
                Index{sizeof(T)}, isa, Stores::cached);
      for (Index j = 0; j < tile_rows; ++j) {
        scale(scaling, tile_columns, scratch.elements + j * Tile::columns, to + j * target_ld, false);
      }
    });
  }
}

template <class T>
void scale_add_runs_of(std::span<const ElementRun> runs, Index major, const Scaling<T>& scaling, const T* source,
                       Index source_ld, T* target, Index target_ld, Isa isa, Stores stores) {
  constexpr Index short_run = line_bytes / Index{sizeof(T)};  // up to this, a call takes longer than its elements
  auto& scale = scale_kernel<T>(isa);
  const bool reads_source = scaling.by_alpha != Factor::zero;
  const bool streaming = stores == Stores::streaming && scaling.by_beta == Factor::zero;
  for (Index c = 0; c < major; ++c) {
    for (const ElementRun& run : runs) {
      const T* from = reads_source ? source + c * source_ld + run.source : nullptr;
      T* to = target + c * target_ld + run.target;
      if (run.length > short_run) {
        scale(scaling, run.length, from, to, streaming);
        continue;
      }
      for (Index i = 0; i < run.length; ++i)
        to[i] = scale_added_element(scaling, reads_source ? from + i : nullptr, to + i);
    }
  }
  if (streaming) hwy::FlushStream();
}

template <class T>
void matrix_scale_add_of(Index rows, Index columns, const Scaling<T>& scaling, const T* source, Index source_ld,
                         T* target, Index target_ld, Isa isa) {
  PLAIT_ASSERT(rows >= 0 && columns >= 0, "a matrix has no negative extent");
  PLAIT_ASSERT(target_ld >= std::max(Index{1}, rows), "the target's leading dimension spans a column");
  const bool reads_source = scaling.by_alpha != Factor::zero;
  PLAIT_ASSERT(!reads_source || source_ld >= std::max(Index{1}, rows), "the source's leading dimension spans a column");
  if (scaling.is_copy()) {
    constexpr Index element = Index{sizeof(T)};
    return copy_matrix(rows * element, columns, bytes(source), source_ld * element, bytes(target), target_ld * element,
                       isa);
  }
  if (target_ld == rows && (!reads_source || source_ld == rows)) {
    rows *= columns;
    columns = std::min(columns, Index{1});
  }
  auto& scale = scale_kernel<T>(isa);
  for (Index c = 0; c < columns; ++c) {
    scale(scaling, rows, reads_source ? source + c * source_ld : nullptr, target + c * target_ld, false);
  }
}

template <class T>
void transpose_scale_add_runs_of(std::span<const ElementRun> runs, Index columns, const Scaling<T>& scaling,
                                 const T* source, Index source_ld, T* target, Index target_ld, Isa isa, Stores stores) {
  if (scaling.by_alpha == Factor::zero) {
    for (const ElementRun& run : runs) {
      matrix_scale_add_of<T>(columns, run.length, scaling, nullptr, 0, target + run.target * target_ld, target_ld, isa);
    }
  } else if (scaling.is_copy()) {
    transpose_transformed(runs, columns, bytes(source), source_ld, bytes(target), target_ld, Index{sizeof(T)}, isa,
                          stores, nullptr);
  } else if (scaling.by_beta == Factor::zero && streams(stores, rows_of(runs) * columns * Index{sizeof(T)})) {
    stream_scaled(runs, columns, scaling, source, source_ld, target, target_ld, isa);
  } else {
    transpose_then_add(runs, columns, scaling, source, source_ld, target, target_ld, isa);
  }
}

template <class T>
using Kernel = typename KernelType<T>::type;

template <class T>
Scaling<Kernel<T>> scaling_of(T alpha, bool conjugate, T beta) {
  return {static_cast<Kernel<T>>(alpha), conjugate, static_cast<Kernel<T>>(beta)};
}

template <class T>
const Kernel<T>* as_kernel(const T* elements) {
  return reinterpret_cast<const Kernel<T>*>(elements);
}

template <class T>
Kernel<T>* as_kernel(T* elements) {
  return reinterpret_cast<Kernel<T>*>(elements);
}

}  // namespace

template <Number T>
void scale_add(Index n, T alpha, const T* source, bool conjugate, T beta, T* target, Isa isa) {
  PLAIT_ASSERT(n >= 0, "a vector has no negative length");
  scale_kernel<Kernel<T>>(isa)(scaling_of(alpha, conjugate, beta), n, as_kernel(source), as_kernel(target), false);
}

template <Number T>
void scale_add_runs(std::span<const ElementRun> runs, Index major, T alpha, const T* source, Index source_ld,
                    bool conjugate, T beta, T* target, Index target_ld, Isa isa, Stores stores) {
  scale_add_runs_of(runs, major, scaling_of(alpha, conjugate, beta), as_kernel(source), source_ld, as_kernel(target),
                    target_ld, isa, stores);
}

template <Number T>
void matrix_scale_add(Index rows, Index columns, T alpha, const T* source, Index source_ld, bool conjugate, T beta,
                      T* target, Index target_ld, Isa isa) {
  matrix_scale_add_of(rows, columns, scaling_of(alpha, conjugate, beta), as_kernel(source), source_ld,
                      as_kernel(target), target_ld, isa);
}

template <Number T>
void transpose_scale_add_runs(std::span<const ElementRun> rows, Index columns, T alpha, const T* source,
                              Index source_ld, bool conjugate, T beta, T* target, Index target_ld, Isa isa,
                              Stores stores) {
  transpose_scale_add_runs_of(rows, columns, scaling_of(alpha, conjugate, beta), as_kernel(source), source_ld,
                              as_kernel(target), target_ld, isa, stores);
}

#define PLAIT_INSTANTIATE(T)                                  \
  template decltype(scale_add<T>) scale_add<T>;               \
  template decltype(scale_add_runs<T>) scale_add_runs<T>;     \
  template decltype(matrix_scale_add<T>) matrix_scale_add<T>; \
  template decltype(transpose_scale_add_runs<T>) transpose_scale_add_runs<T>;
PLAIT_FOR_EACH_DTYPE(PLAIT_INSTANTIATE)
#undef PLAIT_INSTANTIATE

}  // namespace plait::simd
