#pragma once

#include <omp.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include "plait/base/caches.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/memory.hpp"
#include "plait/simd/foresight.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/simd/sweep/scaling_kernels.hpp"

/// Passes over a rank's rows. Local.
namespace plait::sinkhorn {

/// Result of a sweep over rows.
struct RowsSwept {
  Index unreached = 0;  // how many rows that are to have a sum have none that could be scaled to it
  double wanted = 0;    // what the others are to sum up to, where that depends on factors
};

/// Some rows that one thread sweeps over, and what it finds in them.
template <class A>
struct Slab {
  Index first = 0;
  Index count = 0;
  std::size_t thread = 0;
  std::span<A> memory;           // sums of columns, of one problem behind the other
  std::span<RowsSwept> swept{};  // of each problem

  [[nodiscard]] std::span<A> sums(std::size_t problem) const {
    const std::size_t columns = memory.size() / swept.size();
    return memory.subspan(problem * columns, columns);
  }
};

/// Where what is found in all slabs is added up.
template <class A>
struct SumsOfSlabs {
  std::span<A> sums;  // of columns
  RowsSwept& swept;
};

/// Who works on which slab, in which of some buffers: what is found in slabs is added up in their order, and a thread
/// whose turn it is not goes on with the next slab, if there is a buffer for it. Nobody spins: a thread may have lost
/// its core to another process.
class SlabTurns {
 public:
  static constexpr Index most_slabs = 32;

  struct Turn {
    Index slab;  // as many as there are: none is left
    std::size_t buffer;
  };

  /// \pre  0 < buffers, and there are no more slabs than `most_slabs`
  SlabTurns(Index slabs, std::size_t buffers) : slabs_(slabs) {
    for (std::size_t k = 0; k < std::min(buffers, free_.size()); ++k) free_[free_count_++] = k;
  }

  /// A slab for the calling thread.
  [[nodiscard]] Turn take() {
    std::unique_lock lock(mutex_);
    is_free_.wait(lock, [this] { return free_count_ > 0 || taken_ == slabs_; });
    if (taken_ == slabs_) return {slabs_, 0};
    return {taken_++, free_[--free_count_]};
  }

  /// The slab was worked on. Calls add(buffer) for all whose turn it is now.
  template <class Add>
  void finish(const Turn& turn, const Add& add) {
    const std::lock_guard lock(mutex_);
    waiting_[static_cast<std::size_t>(turn.slab)] = turn.buffer + 1;
    for (; added_ < slabs_ && waiting_[static_cast<std::size_t>(added_)] > 0; ++added_) {
      const std::size_t buffer = waiting_[static_cast<std::size_t>(added_)] - 1;
      add(buffer);
      free_[free_count_++] = buffer;
    }
    is_free_.notify_all();
  }

 private:
  Index slabs_;
  Index taken_ = 0;
  Index added_ = 0;
  std::array<std::size_t, most_slabs> free_{};  // buffers
  std::size_t free_count_ = 0;
  std::array<std::size_t, most_slabs> waiting_{};  // the buffer of each slab that is done, and 1; 0: it is not
  std::mutex mutex_;
  std::condition_variable is_free_;
};

/// How many of so many threads share a pass over some entries: few take no longer than it does to wake a thread.
[[nodiscard]] inline int threads_for(Index entries, int threads) {
  constexpr Index least_parallel = Index{1} << 15;
  return entries >= least_parallel ? threads : 1;
}

/// A rank's rows in slabs, which threads take in turns. Where rows are cut depends on the matrix alone, and what is
/// found in one slab is added to that of those before it: the same bits for any number of threads.
template <class A>
class Slabs {
 public:
  static constexpr Index rows_at_a_time = 8;  // slabs are cut between groups of so many

  /// \param entries   that a sweep reads
  /// \param problems  the most that are swept at once
  Slabs(Index rows, Index columns, Index entries, Index problems, int threads)
      : rows_(rows), columns_(static_cast<std::size_t>(columns)) {
    // Adding sums up takes less than a twentieth of the time of what is added.
    constexpr Index most = SlabTurns::most_slabs;
    const Index wanted = std::clamp(entries / (most * std::max(Index{1}, columns)), Index{1}, most);
    const Index groups = (rows + rows_at_a_time - 1) / rows_at_a_time;
    rows_of_slab_ = std::max(Index{1}, (groups + wanted - 1) / wanted) * rows_at_a_time;
    threads_ =
        static_cast<int>(std::clamp(Index{threads_for(entries, threads)}, Index{1}, std::max(Index{1}, count())));
    buffers_ = threads_ == 1 ? 1 : std::min(2 * static_cast<std::size_t>(threads_), static_cast<std::size_t>(count()));
    stride_ = (static_cast<std::size_t>(problems) * columns_ + 2 * apart - 1) / apart * apart;
    memory_.resize(buffers_ * stride_);
    swept_.resize(buffers_ * static_cast<std::size_t>(problems));
  }

  /// How many threads have something to do.
  [[nodiscard]] int threads() const noexcept { return threads_; }

  /// Calls work(slab) on some thread for each slab, with sums of 0, and adds these to into(k), the `SumsOfSlabs` of
  /// problem k. Rows of different slabs are worked on at the same time. `work` throws nothing.
  template <class Work, class Into>
  void sweep(std::size_t problems, const Work& work, const Into& into) {
    if (problems == 0 || rows_ == 0) return;
    SlabTurns turns(count(), buffers_);
#pragma omp parallel num_threads(threads_) if (threads_ > 1)
    for (auto turn = turns.take(); turn.slab < count(); turn = turns.take()) {
      const Slab<A> slab = slab_of(turn, problems);
      std::ranges::fill(slab.memory, A{0});
      std::ranges::fill(slab.swept, RowsSwept{});
      work(slab);
      turns.finish(turn, [&](std::size_t buffer) {
        const Slab<A> done = slab_of({turn.slab, buffer}, problems);
        for (std::size_t n = 0; n < problems; ++n) add(done, n, into(n));
      });
    }
  }

 private:
  static constexpr std::size_t apart = 128;  // sums of different threads lie on different lines, and begin on one

  [[nodiscard]] Index count() const noexcept { return (rows_ + rows_of_slab_ - 1) / rows_of_slab_; }
  [[nodiscard]] Slab<A> slab_of(const SlabTurns::Turn& turn, std::size_t problems) {
    const Index first = turn.slab * rows_of_slab_;
    return {first, std::min(rows_of_slab_, rows_ - first), static_cast<std::size_t>(omp_get_thread_num()),
            std::span(memory_).subspan(turn.buffer * stride_, problems * columns_),
            std::span(swept_).subspan(turn.buffer * (swept_.size() / buffers_), problems)};
  }
  static void add(const Slab<A>& slab, std::size_t problem, const SumsOfSlabs<A>& into) {
    const auto sums = slab.sums(problem);
    for (std::size_t j = 0; j < sums.size(); ++j) into.sums[j] = static_cast<A>(into.sums[j] + sums[j]);
    into.swept.unreached += slab.swept[problem].unreached;
    into.swept.wanted += slab.swept[problem].wanted;
  }

  Index rows_;
  std::size_t columns_;
  Index rows_of_slab_;
  int threads_ = 1;
  std::size_t buffers_;
  std::size_t stride_;
  AlignedVector<A> memory_;  // of each buffer
  std::vector<RowsSwept> swept_;
};

/// One pass over rows in such slabs: work(slab) adds to sums of columns, and these are added to into(k) of problem k.
template <class A, class Work, class Into>
void add_up(Index rows, std::size_t columns, std::size_t problems, int threads, const Work& work, const Into& into) {
  const auto width = static_cast<Index>(columns);
  RowsSwept none;
  Slabs<A>(rows, width, rows * width, static_cast<Index>(problems), threads).sweep(problems, work, [&](std::size_t k) {
    return SumsOfSlabs<A>{into(k), none};
  });
}

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
