#include "plait/redistribute/exchange/mover.hpp"

#include <omp.h>

#include <algorithm>
#include <utility>

#include "plait/base/parallel.hpp"

namespace plait::redistribute {

namespace {

// Columns (rows) of the destination that one of several threads writes together.
constexpr Index band = 128;
// Below this many elements a second thread costs more than it helps.
constexpr Index least_parallel = 1 << 14;

// A stretch whose elements are neighbours in the matrix too, from `global` on.
struct Placed {
  Index source;
  Index target;
  Index global;
  Index length;
};

template <class Stretch>
std::vector<Placed> placed(const std::vector<Stretch>& stretches, const layout::Axis& axis, Index part) {
  std::vector<Placed> result;
  for (const Stretch& stretch : stretches) {
    for (Index done = 0; done < stretch.length;) {
      const Index global = axis.global_of(part, stretch.target + done);
      const layout::Segment segment = axis.piece_at(global).segment;
      const Index length = std::min(stretch.length - done, segment.global + segment.length - global);
      result.push_back({stretch.source + done, stretch.target + done, global, length});
      done += length;
    }
  }
  return result;
}

Tile tile_at(const Tile& tile, Index row, Index column, Index element_bytes) {
  const bool by_columns = tile.order == StorageOrder::column_major;
  const Index at = by_columns ? column * tile.leading_dimension + row : row * tile.leading_dimension + column;
  return {tile.data + at * element_bytes, tile.leading_dimension, tile.order};
}

}  // namespace

Mover::Mover(layout::Layout to, StorageOrder packed, std::size_t most_runs, Index piece_elements,
             const mpi::NodeTopology& topology)
    : to_(std::move(to)), packed_(packed), topology_(topology) {
  const std::size_t cuts = static_cast<std::size_t>(piece_elements / band) + 2;
  rows_.reserve(most_runs + cuts);
  columns_.reserve(most_runs + cuts);
  runs_.reserve(most_runs + cuts);
}

// The packed range [begin, begin + length) as stretches of at most `longest`.
void Mover::stretches(const PackedRuns& runs, Index begin, Index length, End source, End target, Index longest,
                      std::vector<Stretch>& result) {
  result.clear();
  const auto after = std::upper_bound(runs.starts.begin(), runs.starts.end(), begin);
  auto k = static_cast<std::size_t>(after - runs.starts.begin()) - 1;
  for (Index done = 0; done < length; ++k) {
    const layout::Run& run = runs.runs[k];
    const Index skip = begin + done - runs.starts[k];
    const Index end = std::min(run.length, skip + length - done);
    for (Index at = skip; at < end; at += longest) {
      const Index packed = runs.starts[k] + at - begin;
      result.push_back({source == End::tile ? run.source_local + at : packed,
                        target == End::tile ? run.target_local + at : packed, std::min(longest, end - at)});
    }
    done += end - skip;
  }
}

Tile Mover::message_tile(const PanelPiece& piece, std::byte* message) const {
  return {message + piece.offset, packed_ == StorageOrder::column_major ? piece.rows : piece.columns, packed_};
}

void Mover::pack(const PanelPiece& piece, const Tile& source, std::byte* message, Index element_bytes,
                 simd::Stores stores) {
  move_product(piece, source, End::tile, message_tile(piece, message), End::message,
               Transform::copy(element_bytes, stores), simd::Gaps::fetched);
}

void Mover::unpack(const PanelPiece& piece, const std::byte* message, const Tile& target, const Transform& transform) {
  const Tile packed = message_tile(piece, const_cast<std::byte*>(message));
  move_product(piece, packed, End::message, target, End::tile, transform, simd::Gaps::skipped);
}

void Mover::move(const PanelPiece& piece, const Tile& source, const Tile& target, const Transform& transform,
                 simd::Gaps gaps) {
  move_product(piece, source, End::tile, target, End::tile, transform, gaps);
}

int Mover::threads_for(const PanelPiece& piece) const {
  return piece.rows * piece.columns < least_parallel ? 1 : topology_.threads();
}

void Mover::move_product(const PanelPiece& piece, const Tile& source, End source_end, const Tile& target,
                         End target_end, const Transform& transform, simd::Gaps gaps) {
  if (transform.needs_place()) return move_rectangles(piece, source, source_end, target, transform);
  // Minor and major are the directions of the destination: along its columns and across them, if it is column-major.
  const bool by_columns = target.order == StorageOrder::column_major;
  const int threads = threads_for(piece);
  const bool parallel = threads > 1;
  stretches(*piece.panel->rows, piece.row, piece.rows, source_end, target_end,
            by_columns || !parallel ? piece.rows : band, rows_);
  stretches(*piece.panel->columns, piece.column, piece.columns, source_end, target_end,
            by_columns && parallel ? band : piece.columns, columns_);
  const std::vector<Stretch>& minor = by_columns ? rows_ : columns_;
  const std::vector<Stretch>& major = by_columns ? columns_ : rows_;
  const Index bytes = transform.element_bytes();
  if (source.order != target.order) return transpose_product(source, target, transform, major, minor, threads);
  if (transform.copies()) {
    runs_.clear();
    for (const Stretch& along : minor)
      runs_.push_back({along.source * bytes, along.target * bytes, along.length * bytes});
  }

  const auto move_across = [&](const Stretch& across) {
    const Index source_stride = source.leading_dimension * bytes;
    const Index target_stride = target.leading_dimension * bytes;
    const std::byte* from = source.data + across.source * source_stride;
    std::byte* to = target.data + across.target * target_stride;
    if (transform.copies()) {
      simd::copy_runs(runs_, across.length, from, source_stride, to, target_stride, transform.isa(), transform.stores(),
                      gaps);
      return;
    }
    transform.runs(minor, across.length, from, source.leading_dimension, to, target.leading_dimension);
  };
  if (!parallel) {  // for a small matrix even a region of one thread takes long
    for (const Stretch& across : major) move_across(across);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::size_t b = 0; b < major.size(); ++b) {  // NOLINT(modernize-loop-convert): as OpenMP wants it
    move_across(major[b]);
  }
}

/// Each thread its rows of the source, which are columns of the target.
void Mover::transpose_product(const Tile& source, const Tile& target, const Transform& transform,
                              std::span<const Stretch> rows, std::span<const Stretch> columns, int threads) {
  const auto transpose_share = [&](std::size_t thread, std::size_t of) {
    const std::size_t begin = rows.size() * thread / of;
    const std::size_t end = rows.size() * (thread + 1) / of;
    const auto share = rows.subspan(begin, end - begin);
    const Index bytes = transform.element_bytes();
    if (transform.copies()) {
      return simd::transpose_runs(share, columns, source.data, source.leading_dimension, target.data,
                                  target.leading_dimension, bytes, transform.isa(), transform.stores());
    }
    for (const simd::ElementRun& along : columns) {
      transform.transposed(share, along.length, source.data + along.source * source.leading_dimension * bytes,
                           source.leading_dimension, target.data + along.target * bytes, target.leading_dimension);
    }
  };
  if (threads == 1) return transpose_share(0, 1);
#pragma omp parallel num_threads(threads)
  transpose_share(static_cast<std::size_t>(omp_get_thread_num()), static_cast<std::size_t>(omp_get_num_threads()));
}

void Mover::move_rectangles(const PanelPiece& piece, const Tile& source, End source_end, const Tile& target,
                            const Transform& transform) {
  stretches(*piece.panel->rows, piece.row, piece.rows, source_end, End::tile, piece.rows, rows_);
  stretches(*piece.panel->columns, piece.column, piece.columns, source_end, End::tile, piece.columns, columns_);
  const auto [row_part, column_part] = piece.panel->target_position;
  const std::vector<Placed> rows = placed(rows_, to_.rows(), row_part);
  const std::vector<Placed> columns = placed(columns_, to_.columns(), column_part);
  const Index bytes = transform.element_bytes();
  const int threads = threads_for(piece);
  Thrown thrown;

#pragma omp parallel for collapse(2) schedule(static) num_threads(threads) if (threads > 1)
  for (std::size_t c = 0; c < columns.size(); ++c) {  // NOLINT(modernize-loop-convert): as OpenMP wants it
    for (std::size_t r = 0; r < rows.size(); ++r) {   // NOLINT(modernize-loop-convert): as OpenMP wants it
      thrown.caught([&] {
        transform.rectangle(
            rows[r].length, columns[c].length, tile_at(source, rows[r].source, columns[c].source, bytes),
            tile_at(target, rows[r].target, columns[c].target, bytes), rows[r].global, columns[c].global);
      });
    }
  }
  thrown.rethrow();
}

}  // namespace plait::redistribute
