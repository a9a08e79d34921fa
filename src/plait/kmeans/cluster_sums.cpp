#include "plait/kmeans/cluster_sums.hpp"

#include <algorithm>

#include "plait/collective/pipeline.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/simd/reduce/element_of.hpp"

namespace plait::kmeans {

namespace {

schedule::Schedule sum_over_ranks(mpi::Context& context, Index words) {
  collective::Pipeline pipeline(context, words, Index{sizeof(std::int64_t)});
  pipeline.allreduce(collective::Group::all(context), {simd::ReduceOperation::sum, simd::element_of<std::int64_t>()});
  return pipeline.schedule("sums of clusters");
}

}  // namespace

template <class T>
ClusterSums<T>::ClusterSums(const Points<T>& points, Index clusters)
    : points_(points),
      kernel_(simd::column_sum_kernel<T>()),
      schedule_(sum_over_ranks(points.context(), clusters + clusters * points.window().words_of_group())) {
  mpi::agreed(points.context(), [&] {
    own_counts_.resize(clusters);
    own_.resize(at(clusters * points.window().words_of_group()));
    all_.resize(clusters + static_cast<Index>(own_.size()));
    before_ = all_;
    changed_.resize(clusters);
  });
}

template <class T>
void ClusterSums<T>::move(std::span<const Index> rows, std::span<const std::int32_t> from,
                          std::span<const std::int32_t> to) {
  if (rows.empty()) return;
  const auto count = static_cast<Index>(rows.size());
  const bool are_new = from[0] < 0;
  for (const std::int32_t cluster : to) ++own_counts_[cluster];
  if (!are_new) {
    for (const std::int32_t cluster : from) --own_counts_[cluster];
  }
  kernel_(points_.window(), points_.own(), rows.data(), are_new ? nullptr : from.data(), to.data(), count, own_.data());
  rows_until_carry_ -= count;
  if (rows_until_carry_ > 0) return;
  for (Index j = 0; j < this->clusters(); ++j) {
    points_.window().carry(own_.data() + j * points_.window().words_of_group());
  }
  rows_until_carry_ = simd::ColumnWindow::rows_between_carries;
}

template <class T>
void ClusterSums<T>::clear() {
  std::ranges::fill(own_counts_, 0);
  std::ranges::fill(own_, 0);
  rows_until_carry_ = simd::ColumnWindow::rows_between_carries;
}

template <class T>
void ClusterSums<T>::merge() {
  const Index words = points_.window().words_of_group();
  const auto carry = [&] {
    for (Index j = 0; j < clusters(); ++j) points_.window().carry(all_.data() + words_begin(j));
  };
  std::swap(static_cast<std::vector<std::int64_t>&>(all_), before_);
  std::ranges::copy(own_counts_, all_.begin());
  std::ranges::copy(own_, all_.begin() + words_begin(0));
  carry();
  if (points_.context().size() > 1) {
    const auto vector = schedule::Binding::output(std::as_writable_bytes(std::span(all_)));
    schedule_.start(std::span(&vector, 1));
    schedule_.wait();
    carry();
  }
  for (Index j = 0; j < clusters(); ++j) {
    const auto begin = words_begin(j);
    if (all_[j] == before_[at(j)] &&
        std::equal(all_.begin() + begin, all_.begin() + begin + words, before_.begin() + begin)) {
      continue;
    }
    changed_[j] = 1;
  }
}

template <class T>
void ClusterSums<T>::forget_changes() {
  std::ranges::fill(changed_, 0);
}

template class ClusterSums<float>;
template class ClusterSums<double>;

}  // namespace plait::kmeans
