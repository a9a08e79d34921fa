#include "plait/mpi/node_copy.hpp"

#include <algorithm>

#include "plait/base/contract.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::mpi {

namespace {

Index rounded_up(Index bytes) {
  constexpr auto line = static_cast<Index>(Buffer::alignment);
  return (bytes + line - 1) / line * line;
}

}  // namespace

NodeCopy::NodeCopy(Context& context, const std::vector<std::span<const std::byte>>& original) {
  if (context.size() == 1) {
    pieces_ = original;
    return;
  }
  const NodeTopology& topology = context.topology();
  std::vector<Index> bytes;
  for (const auto& piece : original) bytes.push_back(static_cast<Index>(piece.size()));
  broadcast(context.comm(), std::span<Index>(bytes), 0);
  Index total = 0;
  for (const Index count : bytes) total += rounded_up(count);
  total = std::max(total, static_cast<Index>(Buffer::alignment));

  const bool leads = topology.node().rank() == 0;
  shared_ = context.allocate_shared(leads ? total : static_cast<Index>(Buffer::alignment));
  const std::byte* begin = nullptr;
  agree(context, [&]() -> std::exception_ptr {
    try {
      if (shared_.is_shared()) {
        const auto place = context.find_shared(shared_.bytes());
        PLAIT_ASSERT(place, "shared memory is known to its context");
        int leader = 0;
        while (topology.node_of(leader) != topology.node_of(context.rank())) ++leader;
        begin = context.shared_address(leader, {place->memory, 0});
      } else if (leads) {
        begin = shared_.bytes().data();
      } else {
        ordinary_ = Buffer(total);
        begin = ordinary_.data();
      }
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }());
  const bool receives = leads || !shared_.is_shared();
  const Communicator readers = context.comm().split(receives ? 0 : 1, context.rank());
  Index offset = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    pieces_.emplace_back(begin + offset, static_cast<std::size_t>(bytes[i]));
    offset += rounded_up(bytes[i]);
    if (!receives) continue;
    const std::span<std::byte> own(const_cast<std::byte*>(pieces_[i].data()), pieces_[i].size());
    if (context.rank() == 0) std::ranges::copy(original[i], own.begin());
    broadcast(readers, own, 0);
  }
  barrier(context.comm());
}

}  // namespace plait::mpi
