#include "bench/overlap/overlap_pairs.hpp"

#include <algorithm>
#include <vector>

namespace plait::bench {

namespace {

std::vector<int> ranks_of(const mpi::Context& context, int node) {
  std::vector<int> found;
  for (int rank = 0; rank < context.size(); ++rank) {
    if (context.topology().node_of(rank) == node) found.push_back(rank);
  }
  return found;
}

}  // namespace

int pairs(const mpi::Context& context) {
  if (context.topology().nodes() == 1) return 1;
  return static_cast<int>(std::min(ranks_of(context, 0).size(), ranks_of(context, 1).size()));
}

collective::Group pair(const mpi::Context& context) {
  if (context.topology().nodes() == 1) return {context, {0, 1}};
  const std::vector<int> senders = ranks_of(context, 0);
  const std::vector<int> receivers = ranks_of(context, 1);
  const int own = context.topology().node_rank_of(context.rank());
  const bool takes_part = context.topology().node_of(context.rank()) < 2 && own < pairs(context);
  const auto place = static_cast<std::size_t>(takes_part ? own : 0);
  return {context, {senders[place], receivers[place]}};
}

void send_blocking(const collective::Group& pair, std::span<double> data, MPI_Comm comm) {
  const auto count = static_cast<int>(data.size());
  if (pair.me() == 0) MPI_Send(data.data(), count, MPI_DOUBLE, pair.rank(1), 0, comm);
  if (pair.me() == 1) MPI_Recv(data.data(), count, MPI_DOUBLE, pair.rank(0), 0, comm, MPI_STATUS_IGNORE);
}

void send_in_parts(const collective::Group& pair, std::span<double> data, int parts, MPI_Comm comm) {
  if (!pair.contains_me()) return;
  std::vector<MPI_Request> requests(static_cast<std::size_t>(parts), MPI_REQUEST_NULL);
  std::size_t first = 0;
  for (int part = 0; part < parts; ++part) {
    const std::size_t end = data.size() * static_cast<std::size_t>(part + 1) / static_cast<std::size_t>(parts);
    const auto count = static_cast<int>(end - first);
    MPI_Request& request = requests[static_cast<std::size_t>(part)];
    if (pair.me() == 0) MPI_Isend(data.data() + first, count, MPI_DOUBLE, pair.rank(1), part, comm, &request);
    if (pair.me() == 1) MPI_Irecv(data.data() + first, count, MPI_DOUBLE, pair.rank(0), part, comm, &request);
    first = end;
  }
  MPI_Waitall(parts, requests.data(), MPI_STATUSES_IGNORE);
}

void acknowledge(const collective::Group& pair, MPI_Comm comm) {
  if (pair.me() == 0) MPI_Recv(nullptr, 0, MPI_BYTE, pair.rank(1), 0, comm, MPI_STATUS_IGNORE);
  if (pair.me() == 1) MPI_Send(nullptr, 0, MPI_BYTE, pair.rank(0), 0, comm);
}

}  // namespace plait::bench
