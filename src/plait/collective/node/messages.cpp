#include "plait/collective/node/messages.hpp"

#include <algorithm>
#include <exception>

#include "plait/mpi/collectives.hpp"

namespace plait::collective::node {

Messages::Messages(mpi::Context& context, const Wait& wait)
    : node_(&context.topology().node()),
      wait_(&wait),
      gathered_(piece_bytes * node_->size()),
      operands_(static_cast<std::size_t>(node_->size())) {}

void Messages::run(const Reduction& reduction) {
  const Index length = piece_bytes / reduction.combine->element_bytes();
  std::exception_ptr failure;
  for (Index begin = 0; begin < reduction.n; begin += length) {
    const SlicePart piece{begin, std::min(begin + length, reduction.n)};
    gather(reduction, piece);
    try {
      if (!failure) deliver(reduction, piece);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (reduction.combine->may_throw()) rethrow_anywhere(*node_, failure);
}

void Messages::gather(const Reduction& reduction, const SlicePart& piece) {
  const Index element = reduction.combine->element_bytes();
  const auto bytes = static_cast<std::size_t>(piece.size() * element);
  mpi::Request request =
      mpi::start_all_gather_bytes(*node_, {reduction.in + piece.begin * element, bytes},
                                  gathered_.bytes().first(bytes * static_cast<std::size_t>(node_->size())));
  wait_->until([&] { return request.test(); });
}

// What a scatter in place writes lies no further than what was gathered already.
void Messages::deliver(const Reduction& reduction, const SlicePart& gathered) {
  const Index element = reduction.combine->element_bytes();
  SlicePart wanted = gathered;
  std::byte* out = reduction.out;
  if (reduction.deliver == Deliver::to_owners) {
    const SlicePart own = piece_of(reduction.begins, node_->rank(), 0, reduction.n);
    wanted = {std::max(own.begin, gathered.begin), std::min(own.end, gathered.end)};
    out -= own.begin * element;
  } else if (!reduction.is_prefix() && !reduction.delivers_to(node_->rank())) {
    return;
  }
  const int ranks = reduction.is_prefix() ? reduction.ranks_up_to(node_->rank()) : node_->size();
  if (wanted.size() <= 0 || ranks == 0) return;
  for (int rank = 0; rank < ranks; ++rank) {
    operands_[static_cast<std::size_t>(rank)] =
        gathered_.data() + (rank * gathered.size() + wanted.begin - gathered.begin) * element;
  }
  fold(*reduction.combine, wanted.size(), std::span(operands_).first(static_cast<std::size_t>(ranks)),
       out + wanted.begin * element);
}

}  // namespace plait::collective::node
