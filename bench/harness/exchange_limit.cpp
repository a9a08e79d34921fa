#include "bench/harness/exchange_limit.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "plait/base/contract.hpp"
#include "plait/base/memory.hpp"

namespace plait::bench {

Contender exchange_limit(MPI_Comm comm, Index bytes) {
  PLAIT_ASSERT(bytes >= 0 && bytes <= std::numeric_limits<int>::max(), "it is one message");
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const auto sent = std::make_shared<Array<std::byte>>(bytes);
  const auto received = std::make_shared<Array<std::byte>>(bytes);
  std::ranges::fill(sent->span(), std::byte{1});
  std::ranges::fill(received->span(), std::byte{0});
  return {"exchange", [=, count = static_cast<int>(bytes)] {
            MPI_Sendrecv(sent->data(), count, MPI_BYTE, (rank + 1) % ranks, 0, received->data(), count, MPI_BYTE,
                         (rank + ranks - 1) % ranks, 0, comm, MPI_STATUS_IGNORE);
          }};
}

}  // namespace plait::bench
