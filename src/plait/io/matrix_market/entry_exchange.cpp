#include "plait/io/matrix_market/entry_exchange.hpp"

#include <algorithm>
#include <complex>
#include <numeric>

#include "plait/base/contract.hpp"

namespace plait::io {

template <MatrixMarketElement T>
EntryExchange<T>::EntryExchange(mpi::Context& context, const layout::Layout& layout, Index box_bytes)
    : context_(context), columns_(layout.columns()), rows_(layout.rows().extent()) {
  columns_.for_each_segment(context.rank(), [&](const layout::Segment& segment) {
    own_begin_ = segment.global;
    own_end_ = segment.global + segment.length;
  });
  const auto ranks = static_cast<std::size_t>(context.size());
  if (ranks == 1) return;  // every element is its own
  share_ = std::max(Index{1}, box_bytes / Index{sizeof(PlacedEntry<T>)} / context.size());
  outbox_ = Array<Outgoing>(std::max(Index{2}, box_bytes / Index{sizeof(Outgoing)}));
  sorted_ = Array<PlacedEntry<T>>(outbox_.size());
  parcels_ = Array<PlacedEntry<T>>(share_ * context.size());
  inbox_ = Array<PlacedEntry<T>>(share_ * context.size());
  begin_.resize(ranks + 1);
  next_.resize(ranks + 1);
  sent_bytes_.resize(ranks);
  came_bytes_.resize(ranks);
  one_number_.resize(ranks, Index{sizeof(Index)});
}

template <MatrixMarketElement T>
void EntryExchange<T>::add(const MatrixEntry<T>& entry) {
  PLAIT_ASSERT(gathered_ < outbox_.size() && !is_own(entry), "there is room, for elements of others");
  const auto to = static_cast<int>(columns_.part_of(entry.column));
  outbox_[gathered_++] = {to, {columns_.local_of(entry.column) * rows_ + entry.row, entry.value}};
}

template <MatrixMarketElement T>
Index EntryExchange<T>::sort_outbox() {
  const auto outbox = outbox_.span().first(static_cast<std::size_t>(gathered_));
  std::fill(begin_.begin(), begin_.end(), 0);
  for (const Outgoing& outgoing : outbox) ++begin_[static_cast<std::size_t>(outgoing.to) + 1];
  const Index most = begin_.empty() ? 0 : *std::max_element(begin_.begin(), begin_.end());
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  std::ranges::copy(begin_, next_.begin());
  for (const Outgoing& outgoing : outbox) sorted_[next_[static_cast<std::size_t>(outgoing.to)]++] = outgoing.entry;
  gathered_ = 0;
  return most == 0 ? 0 : (most - 1) / share_ + 1;
}

template <MatrixMarketElement T>
std::span<const PlacedEntry<T>> EntryExchange<T>::exchange_turn(Index turn) {
  constexpr auto size = Index{sizeof(PlacedEntry<T>)};
  auto parcels_end = parcels_.data();
  for (std::size_t r = 0; r + 1 < begin_.size(); ++r) {
    const Index first = std::min(begin_[r + 1], begin_[r] + turn * share_);
    const Index count = std::min(share_, begin_[r + 1] - first);
    parcels_end = std::copy_n(sorted_.data() + first, count, parcels_end);
    sent_bytes_[r] = count * size;
  }
  mpi::all_to_all_bytes(context_.comm(), std::as_bytes(std::span<const Index>(sent_bytes_)), one_number_,
                        std::as_writable_bytes(std::span<Index>(came_bytes_)), one_number_);
  const Index came = std::accumulate(came_bytes_.begin(), came_bytes_.end(), Index{0}) / size;
  const auto inbox = inbox_.span().first(static_cast<std::size_t>(came));
  mpi::all_to_all_bytes(context_.comm(), std::as_bytes(std::span<const PlacedEntry<T>>(parcels_.data(), parcels_end)),
                        sent_bytes_, std::as_writable_bytes(inbox), came_bytes_);
  return inbox;
}

template class EntryExchange<Index>;
template class EntryExchange<double>;
template class EntryExchange<std::complex<double>>;

}  // namespace plait::io
