#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::sinkhorn {

/// What came of a sweep over rows.
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
    constexpr Index most = 32;
    const Index wanted = std::clamp(entries / (most * std::max(Index{1}, columns)), Index{1}, most);
    const Index groups = (rows + rows_at_a_time - 1) / rows_at_a_time;
    rows_of_slab_ = std::max(Index{1}, (groups + wanted - 1) / wanted) * rows_at_a_time;
    // Less takes no longer than it does to wake a thread.
    constexpr Index least_parallel = Index{1} << 15;
    if (entries >= least_parallel) threads_ = static_cast<int>(std::clamp(count(), Index{1}, Index{threads}));
    stride_ = static_cast<std::size_t>(problems) * columns_ + apart;
    memory_.resize(static_cast<std::size_t>(threads_) * stride_);
    swept_.resize(static_cast<std::size_t>(threads_) * static_cast<std::size_t>(problems));
  }

  /// How many threads have something to do.
  [[nodiscard]] int threads() const noexcept { return threads_; }

  /// Calls work(slab) on some thread for each slab, with sums of 0, and adds these to `into` (a `SumsOfSlabs` of each
  /// problem). Rows of different slabs are worked on at the same time. `work` throws nothing.
  template <class Work, class Into>
  void sweep(std::size_t problems, const Work& work, const Into& into) {
    if (problems == 0) return;
#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(threads_) if (threads_ > 1)
    for (Index k = 0; k < count(); ++k) {
      const Slab<A> slab = slab_of(k, problems);
      std::ranges::fill(slab.memory, A{0});
      std::ranges::fill(slab.swept, RowsSwept{});
      work(slab);
#pragma omp ordered
      for (std::size_t n = 0; n < problems; ++n) add(slab, n, into(n));
    }
  }

 private:
  static constexpr std::size_t apart = 128;  // sums of different threads lie on different pages or lines

  [[nodiscard]] Index count() const noexcept { return (rows_ + rows_of_slab_ - 1) / rows_of_slab_; }
  [[nodiscard]] Slab<A> slab_of(Index k, std::size_t problems);
  static void add(const Slab<A>& slab, std::size_t problem, const SumsOfSlabs<A>& into);

  Index rows_;
  std::size_t columns_;
  Index rows_of_slab_;
  int threads_ = 1;
  std::size_t stride_;
  std::vector<A> memory_;  // of each thread
  std::vector<RowsSwept> swept_;
};

extern template class Slabs<double>;
extern template class Slabs<float>;

}  // namespace plait::sinkhorn
