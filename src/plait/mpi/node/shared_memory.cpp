#include "plait/mpi/node/shared_memory.hpp"

#include <functional>
#include <string>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::mpi {

SharedMemory SharedMemories::allocate(Context& context, Index bytes) {
  std::erase_if(known_, [](const auto& known) { return known.second.expired(); });
  const NodeTopology& topology = context.topology();
  std::shared_ptr<SharedWindow> window;
  agreed(context, [&] {
    expect_at_least("bytes", bytes, 0);
    window = std::make_shared<SharedWindow>();
    known_[allocated_] = window;
  });
  ++allocated_;
  SharedMemory result;
  bool shares = true;
  try {
    *window = SharedWindow(topology.node(), bytes);
    result.window_ = std::move(window);
    result.bytes_ = result.window_->segment(topology.node().rank());
  } catch (const OutOfMemory&) {  // on all ranks of the node
    shares = false;
  }
  agreed(context, [&] {
    if (shares) return;
    result.ordinary_ = Buffer(bytes);
    result.bytes_ = result.ordinary_.bytes();
  });
  return result;
}

std::optional<SharedPlace> SharedMemories::find(const NodeTopology& topology, std::span<const std::byte> bytes) const {
  for (const auto& [number, known] : known_) {
    const auto window = known.lock();
    if (!window) continue;
    const std::span<const std::byte> own = window->segment(topology.node().rank());
    const std::less_equal<const std::byte*> not_after;
    if (!not_after(own.data(), bytes.data()) || !not_after(bytes.data() + bytes.size(), own.data() + own.size())) {
      continue;
    }
    return SharedPlace{number, bytes.data() - own.data()};
  }
  return std::nullopt;
}

std::byte* SharedMemories::address(const NodeTopology& topology, int rank, SharedPlace place) const {
  const auto known = known_.find(place.memory);
  const auto window = known == known_.end() ? nullptr : known->second.lock();
  if (!window) {
    throw ArgumentError("shared memory of rank " + std::to_string(rank) + ": rank " + std::to_string(topology.rank()) +
                        " has destroyed its own part of it already, expected all ranks of the node to keep theirs "
                        "until the last operation that uses any");
  }
  return window->segment(topology.node_rank_of(rank)).data() + place.offset;
}

}  // namespace plait::mpi
