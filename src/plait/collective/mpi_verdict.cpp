#include "plait/collective/mpi_verdict.hpp"

#include <algorithm>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/mpi/mpi_collectives.hpp"
#include "plait/mpi/reduction.hpp"

namespace plait::collective {

std::function<void(std::span<std::byte> elements, Index first)> told_to(
    std::shared_ptr<MpiVerdict> verdict, std::function<void(std::span<std::byte> elements, Index first)> f) {
  return [verdict = std::move(verdict), f = std::move(f)](std::span<std::byte> elements, Index first) {
    try {
      f(elements, first);
    } catch (...) {
      verdict->failed_here = verdict->comm.rank();
      throw;
    }
  };
}

void append_verdict(Graph& graph, const std::shared_ptr<MpiVerdict>& verdict, const Stream& stream,
                    const std::string& label) {
  schedule::Position end;
  schedule::Dependencies after;
  for (const Segment& segment : stream.segments()) {
    end.stage = std::max(end.stage, segment.stage + 1);
    append(after, segment.final_and_read());
  }
  const auto start = [verdict](const schedule::Run&) {
    verdict->lowest = std::exchange(verdict->failed_here, verdict->comm.size());
    const std::span lowest(&verdict->lowest, 1);
    return mpi::start_all_reduce(verdict->comm, std::as_bytes(lowest), std::as_writable_bytes(lowest),
                                 mpi::reduction<Index>(mpi::Operation::minimum()));
  };
  const auto told = graph.request(end, start, {}, std::move(after));
  const auto judge = [verdict, label](const schedule::Run&, Index) {
    if (verdict->lowest == verdict->comm.size()) return;
    const auto rank = static_cast<int>(verdict->lowest);
    throw PeerFailed(rank, "rank " + std::to_string(rank) + " failed during " + label + ": its data did not come");
  };
  static_cast<void>(graph.compute(end, 1, judge, {}, {told}));
}

}  // namespace plait::collective
