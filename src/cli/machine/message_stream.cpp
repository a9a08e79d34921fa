#include "cli/machine/message_stream.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "plait/base/stopwatch.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/message.hpp"
#include "plait/mpi/request.hpp"

#include "cli/machine/seconds_together.hpp"

namespace plait::cli {

namespace {

constexpr Index bytes_under_way = 16'000'000;
constexpr std::size_t most_under_way = 16;

std::size_t messages_under_way(Index bytes) {
  return static_cast<std::size_t>(
      std::clamp<Index>(bytes_under_way / std::max<Index>(1, bytes), 2, Index{most_under_way}));
}

}  // namespace

MessageStream::MessageStream(mpi::Context& context, Index most_bytes)
    : context_(context),
      tag_(context.reserve_tags(1)),
      sent_(most_bytes),
      received_(std::max(bytes_under_way, 2 * most_bytes)) {
  std::ranges::fill(sent_.span(), std::byte{1});  // so that all of it is there
  std::ranges::fill(received_.span(), std::byte{0});
}

double MessageStream::seconds(Peers peers, Index bytes, int messages) {
  const mpi::Communicator& comm = context_.comm();
  std::array<mpi::Request, most_under_way> sends;
  std::array<mpi::Request, most_under_way> receives;
  const std::size_t window = messages_under_way(bytes);
  const auto size = static_cast<std::size_t>(bytes);
  return seconds_together(context_, [&] {
    for (int message = 0; message < messages; ++message) {
      const std::size_t slot = static_cast<std::size_t>(message) % window;
      if (peers.from) {
        receives[slot].wait();
        receives[slot] =
            mpi::start_receive(comm, received_.span().subspan(slot * size, size), *peers.from, tag_.first());
      }
      if (peers.to) {
        sends[slot].wait();
        sends[slot] = mpi::start_send(comm, sent_.span().first(size), *peers.to, tag_.first());
      }
    }
    mpi::wait_all(receives);
    mpi::wait_all(sends);
  });
}

double MessageStream::latency_seconds(std::optional<int> peer, bool begins, int round_trips) {
  const mpi::Communicator& comm = context_.comm();
  mpi::barrier(comm);
  const Stopwatch watch;
  for (int trip = 0; peer && trip < round_trips; ++trip) {
    if (begins) mpi::start_send(comm, {}, *peer, tag_.first()).wait();
    mpi::start_receive(comm, {}, *peer, tag_.first()).wait();
    if (!begins) mpi::start_send(comm, {}, *peer, tag_.first()).wait();
  }
  const double own = peer ? watch.seconds() / (2.0 * round_trips) : 0;
  return mpi::all_reduce(comm, own, mpi::Operation::maximum());
}

}  // namespace plait::cli
