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

NodeCopy::NodeCopy(Context& context, const std::vector<std::span<const std::byte>>& own) {
  if (context.size() == 1) {
    pieces_ = own;
    return;
  }
  const NodeTopology& topology = context.topology();
  const auto ranks = static_cast<std::size_t>(context.size());
  std::vector<Index> own_bytes;
  for (const auto& piece : own) own_bytes.push_back(static_cast<Index>(piece.size()));
  std::vector<Index> bytes(own.size() * ranks);  // of each rank's pieces
  all_gather_bytes(context.comm(), std::as_bytes(std::span(own_bytes)), std::as_writable_bytes(std::span(bytes)));
  std::vector<Index> piece_bytes(own.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) piece_bytes[i % own.size()] += bytes[i];
  Index total = 0;
  for (const Index count : piece_bytes) total += rounded_up(count);
  total = std::max(total, static_cast<Index>(Buffer::alignment));

  int leader = 0;
  while (topology.node_of(leader) != topology.node_of(context.rank())) ++leader;
  const bool leads = leader == context.rank();
  shared_ = context.allocate_shared(leads ? total : static_cast<Index>(Buffer::alignment));
  std::byte* begin = nullptr;
  agree(context, [&]() -> std::exception_ptr {
    try {
      if (shared_.is_shared()) {
        const auto place = context.find_shared(shared_.bytes());
        PLAIT_ASSERT(place, "shared memory is known to its context");
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
  // Those that have a copy of their own get what others have; all of a node first put theirs into that of its leader.
  const bool receives = leads || !shared_.is_shared();
  const Communicator readers = context.comm().split(receives ? 0 : 1, context.rank());
  const auto keeper = all_gather(context.comm(), shared_.is_shared() ? leader : context.rank());
  const auto for_each_part = [&](auto&& f) {
    Index first = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      Index offset = first;
      for (std::size_t r = 0; r < ranks; ++r) {
        const Index count = bytes[r * own.size() + i];
        f(i, r, std::span(begin + offset, static_cast<std::size_t>(count)));
        offset += count;
      }
      first += rounded_up(piece_bytes[i]);
    }
  };
  for_each_part([&](std::size_t i, std::size_t r, std::span<std::byte> part) {
    if (r == 0) pieces_.emplace_back(part.data(), static_cast<std::size_t>(piece_bytes[i]));
    if (r == static_cast<std::size_t>(context.rank())) std::ranges::copy(own[i], part.begin());
  });
  barrier(context.comm());
  const auto is_keeper = [&](int r) { return keeper[static_cast<std::size_t>(r)] == r; };
  if (std::ranges::all_of(keeper, [&](int r) { return r == keeper[0]; })) return;
  if (receives) {
    for_each_part([&](std::size_t, std::size_t r, std::span<std::byte> part) {
      if (part.empty()) return;
      int root = 0;  // which reader the keeper is
      for (int other = 0; other < keeper[r]; ++other) root += is_keeper(other) ? 1 : 0;
      broadcast(readers, part, root);
    });
  }
  barrier(context.comm());
}

}  // namespace plait::mpi
