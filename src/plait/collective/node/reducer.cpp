#include "plait/collective/node/reducer.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/collective/node/reduction.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::collective {

namespace {

// Where everything is one rank's, nothing travels.
void take_own(const node::Reduction& reduction) {
  const std::byte* const own = reduction.in;
  node::fold(*reduction.combine, reduction.n, {&own, 1}, reduction.out);
}

}  // namespace

NodeReducer::NodeReducer(mpi::Context& context, simd::Isa isa)
    : context_(&context),
      ranks_(context.topology().node().size()),
      rank_(context.topology().node().rank()),
      wait_(context) {
  if (ranks_ > 1) board_ = node::Board::make(context);
  // Of all nodes, one with a single rank among them.
  mpi::agreed(context, [&] {
    begins_.resize(static_cast<std::size_t>(ranks_) + 1);
    if (ranks_ == 1) return;
    if (board_) {
      slots_.emplace(*board_, wait_);
      rounds_.emplace(context, *board_, *slots_, wait_, isa);
    } else {
      messages_.emplace(context, wait_);
      arguments_.resize(static_cast<std::size_t>(ranks_), node::Arguments::refused());
    }
  });
}

void NodeReducer::allreduce(const void* in, void* out, Index n, const Combine& combine) {
  checked([&] { check(n, combine); });
  run(in, out, n, node::Deliver::to_all, 0, combine);
}

void NodeReducer::reduce(const void* in, void* out, Index n, int root, const Combine& combine) {
  checked([&] {
    check(n, combine);
    if (root >= 0 && root < ranks_) return;
    throw ArgumentError("root: " + std::to_string(root) + ", expected a rank of 0 to " + std::to_string(ranks_ - 1));
  });
  run(in, rank_ == root ? out : nullptr, n, node::Deliver::to_root, root, combine);
}

void NodeReducer::reduce_scatter(const void* in, void* out, std::span<const Index> counts, const Combine& combine) {
  checked([&] {
    if (static_cast<int>(counts.size()) != ranks_) {
      throw ArgumentError("counts: " + std::to_string(counts.size()) + " of them, expected one for each of " +
                          std::to_string(ranks_) + " ranks");
    }
    for (const Index count : counts) check(count, combine);
  });
  node::divide_by_counts(counts, begins_);
  run(in, out, begins_.back(), node::Deliver::to_owners, 0, combine);
}

void NodeReducer::reduce_scatter_block(const void* in, void* out, Index n, const Combine& combine) {
  checked([&] { check(n, combine); });
  for (std::size_t rank = 0; rank < begins_.size(); ++rank) begins_[rank] = static_cast<Index>(rank) * n;
  run(in, out, begins_.back(), node::Deliver::to_owners, 0, combine);
}

void NodeReducer::scan(const void* in, void* out, Index n, const Combine& combine) {
  checked([&] { check(n, combine); });
  PLAIT_ASSERT(combine.sum_of_all() == nullptr, "prefixes are combined one after the other");
  run(in, out, n, node::Deliver::up_to_itself, 0, combine);
}

void NodeReducer::exscan(const void* in, void* out, Index n, const Combine& combine) {
  checked([&] { check(n, combine); });
  PLAIT_ASSERT(combine.sum_of_all() == nullptr, "prefixes are combined one after the other");
  run(in, out, n, node::Deliver::up_to_the_last, 0, combine);
}

template <class F>
void NodeReducer::checked(const F& check) {
  context_->expect_usable();
  try {
    check();
  } catch (...) {
    const std::exception_ptr own = std::current_exception();
    try {
      if (slots_) slots_->announce(node::Arguments::refused());
      if (messages_) expect_alike_by_message(node::Arguments::refused());
    } catch (const ArgumentError&) {  // others' arguments are other ones
    }
    std::rethrow_exception(own);
  }
}

void NodeReducer::check(Index n, const Combine& combine) const {
  expect_at_least("n", n, 0);
  if (combine.element_bytes() <= longest_element) return;
  throw ArgumentError("element: " + std::to_string(combine.element_bytes()) + " bytes, expected at most " +
                      std::to_string(longest_element));
}

void NodeReducer::expect_alike_by_message(node::Arguments arguments) {
  mpi::Request request =
      mpi::start_all_gather_bytes(context_->topology().node(), std::as_bytes(std::span(&arguments, 1)),
                                  std::as_writable_bytes(std::span(arguments_)));
  wait_.until([&] { return request.test(); });
  for (int rank = 1; rank < ranks_; ++rank) {
    const node::Arguments its = arguments_[static_cast<std::size_t>(rank)];
    if (its != arguments_.front()) its.throw_difference(rank, arguments_.front());
  }
}

void NodeReducer::run(const void* in, void* out, Index n, node::Deliver deliver, int root, const Combine& combine) {
  const node::Reduction reduction{
      &combine, static_cast<const std::byte*>(in), static_cast<std::byte*>(out), n, deliver, root, begins_};
  if (ranks_ == 1) {
    if (reduction.n > 0 && reduction.deliver != node::Deliver::up_to_the_last) take_own(reduction);
    return;
  }
  if (slots_ && slots_->serves(reduction)) return slots_->run(reduction);
  if (messages_) expect_alike_by_message(node::Arguments(reduction));
  if (reduction.n == 0) {
    if (slots_) slots_->announce(node::Arguments(reduction)), slots_->meet();
    return;
  }
  if (reduction.deliver == node::Deliver::to_all)
    node::divide_equally(reduction.n, reduction.combine->element_bytes(), begins_);
  if (reduction.deliver == node::Deliver::to_root) {
    node::divide_for_root(reduction.n, reduction.combine->element_bytes(), reduction.root, begins_);
  }
  if (rounds_) return rounds_->run(reduction);
  messages_->run(reduction);
}

}  // namespace plait::collective
