#include "plait/collective/node/sliced_messages.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/collective/node/reduction.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::collective {

namespace {

/// Up to here all operands together go to all ranks: one step instead of two.
constexpr Index whole_bytes = SlicedMessages::least_slice_bytes;
/// What is gathered of all operands at a time, unless there are very many.
constexpr Index round_bytes = Index{4} << 20;

std::span<const std::byte> bytes_at(const std::byte* data, Index size) {
  return {data, static_cast<std::size_t>(size)};
}
std::span<std::byte> bytes_at(std::byte* data, Index size) { return {data, static_cast<std::size_t>(size)}; }

}  // namespace

SlicedMessages::SlicedMessages(mpi::Context& context)
    : context_(&context), slice_bytes_(std::max(round_bytes / context.size(), least_slice_bytes)) {
  mpi::agreed(context, [&] {
    const auto ranks = static_cast<std::size_t>(context.size());
    gathered_ = Buffer(slice_bytes_ * context.size());
    result_ = Buffer(slice_bytes_);
    operands_.resize(ranks);
    send_bytes_.resize(ranks);
    receive_bytes_.resize(ranks);
    shares_.resize(ranks);
    to_send_.resize(ranks);
    received_.resize(ranks);
  });
}

void SlicedMessages::allreduce(const void* in, void* out, Index n, const Combine& combine) {
  run(static_cast<const std::byte*>(in), static_cast<std::byte*>(out), n, all, combine);
}

void SlicedMessages::reduce(const void* in, void* out, Index n, int root, const Combine& combine) {
  if (root < 0 || root >= context_->size()) {
    throw ArgumentError("root: " + std::to_string(root) + ", expected a rank of 0 to " +
                        std::to_string(context_->size() - 1));
  }
  run(static_cast<const std::byte*>(in), static_cast<std::byte*>(out), n, root, combine);
}

void SlicedMessages::reduce_scatter(const void* in, void* out, std::span<const Index> counts, const Combine& combine) {
  for (const Index n : counts) check(n, combine);
  const auto* share = static_cast<const std::byte*>(in);
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    shares_[rank] = bytes_at(share, counts[rank] * combine.element_bytes());
    share += shares_[rank].size();
  }
  fold_shares(static_cast<std::byte*>(out), combine);
}

void SlicedMessages::reduce_scatter_block(const void* in, void* out, Index n, const Combine& combine) {
  check(n, combine);
  const auto* share = static_cast<const std::byte*>(in);
  for (auto& one : shares_) {
    one = bytes_at(share, n * combine.element_bytes());
    share += one.size();
  }
  fold_shares(static_cast<std::byte*>(out), combine);
}

void SlicedMessages::check(Index n, const Combine& combine) const {
  expect_at_least("n", n, 0);
  PLAIT_ASSERT(combine.element_bytes() <= least_slice_bytes, "elements fit into the memory for a slice");
  context_->expect_usable();
}

// In place, a round writes where operands lay that went out in this round or before: an element is no further into its
// share than into the whole.
void SlicedMessages::fold_shares(std::byte* out, const Combine& combine) {
  const auto self = static_cast<std::size_t>(context_->rank());
  const Index element = combine.element_bytes();
  const auto most = static_cast<std::size_t>(slice_bytes_ / element * element);
  const auto left = [](const auto& share) { return !share.empty(); };
  while (std::ranges::any_of(shares_, left)) {
    for (std::size_t rank = 0; rank < shares_.size(); ++rank) {
      to_send_[rank] = shares_[rank].first(std::min(shares_[rank].size(), most));
      shares_[rank] = shares_[rank].subspan(to_send_[rank].size());
    }
    const std::span<const std::byte> own = to_send_[self];
    for (std::size_t rank = 0; rank < received_.size(); ++rank) {
      received_[rank] = gathered_.bytes().subspan(rank * own.size(), own.size());
    }
    mpi::exchange_bytes(context_->comm(), to_send_, received_);
    if (own.empty()) continue;
    std::memcpy(received_[self].data(), own.data(), own.size());
    const auto bytes = static_cast<Index>(own.size());
    node::fold(combine, bytes / element, gathered_operands(bytes), out);
    out += bytes;
  }
}

void SlicedMessages::run(const std::byte* in, std::byte* out, Index n, int root, const Combine& combine) {
  check(n, combine);
  const Index ranks = context_->size();
  const Index element = combine.element_bytes();
  if (n == 0) return;
  if (n * element * ranks <= whole_bytes) return fold_whole(in, out, n, root, combine);
  const Index slice = std::min(slice_bytes_ / element, (n + ranks - 1) / ranks);
  for (Index begin = 0; begin < n; begin += slice * ranks) {
    std::byte* const target = gets_result(root) ? out + begin * element : nullptr;
    fold_slices(in + begin * element, target, std::min(slice * ranks, n - begin), slice, root, combine);
  }
}

void SlicedMessages::fold_whole(const std::byte* in, std::byte* out, Index n, int root, const Combine& combine) {
  const Index bytes = n * combine.element_bytes();
  mpi::all_gather_bytes(context_->comm(), bytes_at(in, bytes),
                        gathered_.bytes().first(static_cast<std::size_t>(bytes * context_->size())));
  if (gets_result(root)) node::fold(combine, n, gathered_operands(bytes), out);
}

void SlicedMessages::fold_slices(const std::byte* in, std::byte* out, Index n, Index slice, int root,
                                 const Combine& combine) {
  const mpi::Communicator& comm = context_->comm();
  const Index ranks = comm.size();
  const Index element = combine.element_bytes();
  const auto slice_of = [&](Index rank) { return std::clamp(n - rank * slice, Index{0}, slice); };
  const Index own = slice_of(comm.rank());

  std::ranges::fill(receive_bytes_, own * element);
  for (Index rank = 0; rank < ranks; ++rank) send_bytes_[static_cast<std::size_t>(rank)] = slice_of(rank) * element;
  mpi::all_to_all_bytes(comm, bytes_at(in, n * element), send_bytes_, bytes_at(gathered_.data(), ranks * own * element),
                        receive_bytes_);
  if (own > 0) node::fold(combine, own, gathered_operands(own * element), result_.data());

  if (root == all && n == ranks * slice) {
    mpi::all_gather_bytes(comm, bytes_at(result_.data(), slice * element), bytes_at(out, n * element));
  } else if (root == all) {
    mpi::all_gather_bytes(comm, bytes_at(result_.data(), slice * element),
                          bytes_at(gathered_.data(), ranks * slice * element));
    std::memcpy(out, gathered_.data(), static_cast<std::size_t>(n * element));
  } else {
    std::swap(send_bytes_, receive_bytes_);  // what came from each rank is what goes back, but only to the root
    for (Index rank = 0; rank < ranks; ++rank) {
      if (rank != root) send_bytes_[static_cast<std::size_t>(rank)] = 0;
    }
    const bool is_root = comm.rank() == root;
    if (!is_root) std::ranges::fill(receive_bytes_, Index{0});
    mpi::all_to_all_bytes(comm, bytes_at(result_.data(), own * element), send_bytes_,
                          bytes_at(out, is_root ? n * element : 0), receive_bytes_);
  }
}

std::span<const std::byte* const> SlicedMessages::gathered_operands(Index operand_bytes) {
  for (std::size_t rank = 0; rank < operands_.size(); ++rank) {
    operands_[rank] = gathered_.data() + static_cast<Index>(rank) * operand_bytes;
  }
  return operands_;
}

}  // namespace plait::collective
