#include "bench/harness/ping_pong_limit.hpp"

#include <mpi.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "plait/base/contract.hpp"
#include "plait/base/memory.hpp"

namespace plait::bench {

Contender ping_pong_limit(const mpi::Context& context, Index bytes) {
  PLAIT_ASSERT(context.size() >= 2, "a message has two ends");
  PLAIT_ASSERT(bytes >= 0 && bytes / 2 <= std::numeric_limits<int>::max(), "each way it is one message");
  int other = 1;
  while (other < context.size() - 1 && context.topology().node_of(other) == context.topology().node_of(0)) ++other;
  const auto data = std::make_shared<Array<std::byte>>(bytes / 2);
  std::ranges::fill(data->span(), std::byte{1});
  const MPI_Comm comm = context.comm().handle();
  return {"ping-pong", [=, rank = context.rank(), count = static_cast<int>(bytes / 2)] {
            const auto send = [&](int to) { MPI_Send(data->data(), count, MPI_BYTE, to, 0, comm); };
            const auto receive = [&](int from) {
              MPI_Recv(data->data(), count, MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
            };
            if (rank == 0) send(other), receive(other);
            if (rank == other) receive(0), send(0);
          }};
}

}  // namespace plait::bench
