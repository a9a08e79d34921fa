// Persistent reductions, which are started again and again, against loops over the ranks.
#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mpi/reduce/under_way.hpp"

namespace {

using Sum = UnderWay<double>;

std::unique_ptr<Sum> persistent_sum(int routine, int n, bool in_place = false, MPI_Comm comm = MPI_COMM_WORLD) {
  return std::make_unique<Sum>(
      Reduced{"persistent SUM of DOUBLE", MPI_DOUBLE, Group::floating_point, MPI_SUM, routine, n, in_place, comm},
      Sum::Kind::persistent);
}

void check_persistent_of_all_types() {
  int turn = 0;
  for_all_types([&](const char* name, MPI_Datatype type, Group group, auto zero) {
    for (const NamedOperation& operation : all_operations()) {
      if (!is_defined(operation.operation, group)) continue;
      ++turn;
      using Each = UnderWay<decltype(zero)>;
      Each each({std::string("persistent ") + operation.name + " of " + name, type, group, operation.operation,
                 turn % routines, 17001, turn / routines % 2 == 0},
                Each::Kind::persistent);
      for (int round = 0; round < 2; ++round) {
        each.start();
        MPI_Wait(&each.request(), MPI_STATUS_IGNORE);
        each.check_results();
      }
      MPI_Request_free(&each.request());
    }
  });
}

// All of them at once, which each rank waits for in an order of its own, beside requests of other kinds.
[[maybe_unused]] void check_many_rounds() {
  constexpr int count = 24;
  const int rank = rank_of_world();
  const int ranks = ranks_of_world();
  std::vector<std::unique_ptr<Sum>> all;
  for (int i = 0; i < count; ++i)
    all.push_back(persistent_sum(i % routines, i % 5 == 0 ? 3 : 2500 + 13 * i, i % 2 == 0));
  int sent = rank;
  int received = -1;
  MPI_Request messages[2];
  MPI_Send_init(&sent, 1, MPI_INT, (rank + 1) % ranks, 5, MPI_COMM_WORLD, &messages[0]);
  MPI_Recv_init(&received, 1, MPI_INT, (rank + ranks - 1) % ranks, 5, MPI_COMM_WORLD, &messages[1]);
  for (int round = 0; round < 6; ++round) {
    std::vector<MPI_Request> requests;
    for (const auto& each : all) requests.push_back(each->request());
    requests.insert(requests.end(), messages, messages + 2);
    for (const auto& each : all) each->fill();
    received = -1;
    if (round % 2 == 0) {
      MPI_Startall(static_cast<int>(requests.size()), requests.data());
    } else {
      for (MPI_Request& request : requests) MPI_Start(&request);
    }
    const std::vector<MPI_Request> before = requests;
    int index = 0;
    if (round % 3 == 0) {
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    } else if (round % 3 == 1) {
      for (std::size_t i = 0; i < requests.size(); ++i) {
        MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, MPI_STATUS_IGNORE);
      }
    } else {
      constexpr int steps[] = {1, 5, 7};
      for (int i = 0; i < count; ++i) {
        MPI_Wait(&requests[static_cast<std::size_t>(i * steps[rank % 3] % count)], MPI_STATUS_IGNORE);
      }
      for (int done = 0; done == 0;) MPI_Testall(2, &requests[count], &done, MPI_STATUSES_IGNORE);
    }
    if (requests != before) complain("a persistent request that does not stay");
    if (received != (rank + ranks - 1) % ranks) complain("a message beside persistent reductions");
    for (const auto& each : all) each->check_results();
    double one = 1;
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (one != ranks) complain("a sum between persistent ones");
  }
  // Of what is not started, nothing is to be waited for.
  for (const auto& each : all) MPI_Wait(&each->request(), MPI_STATUS_IGNORE);
  for (const auto& each : all) MPI_Request_free(&each->request());
  for (MPI_Request& request : messages) MPI_Request_free(&request);
  for (const auto& each : all) each->check();
}

// Reductions are those that were made together, whichever each rank starts first.
void check_any_order() {
  const auto first = persistent_sum(0, 20001);
  const auto second = persistent_sum(4, 30001);
  const bool is_odd = rank_of_world() % 2 == 1;
  Sum* const order[] = {is_odd ? second.get() : first.get(), is_odd ? first.get() : second.get()};
  for (int round = 0; round < 3; ++round) {
    for (Sum* each : order) each->start();
    for (Sum* each : order) MPI_Wait(&each->request(), MPI_STATUS_IGNORE);
    for (Sum* each : order) each->check_results();
  }
  for (Sum* each : order) MPI_Request_free(&each->request());
}

// None needs others once these have started.
void check_that_no_request_needs_another_s_progress() {
  const auto own = persistent_sum(0, 30001);
  for (int round = 0; round < 2; ++round) {
    own->start();
    int word = 0;
    const int last = ranks_of_world() - 1;
    if (rank_of_world() == 0 && last > 0) MPI_Recv(&word, 1, MPI_INT, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&own->request(), MPI_STATUS_IGNORE);
    own->check_results();
    if (rank_of_world() == last && last > 0) MPI_Send(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  }
  MPI_Request_free(&own->request());
}

void check_free_communicator() {
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  const auto sum = persistent_sum(0, 40001, false, other);
  sum->start();
  MPI_Comm_free(&other);
  MPI_Wait(&sum->request(), MPI_STATUS_IGNORE);
  sum->check_results();
  sum->start();
  MPI_Wait(&sum->request(), MPI_STATUS_IGNORE);
  sum->check_results();
  MPI_Request_free(&sum->request());
}

}  // namespace

void check_persistent() {
#if !defined(MPICH_VERSION)  // whose MPI_Waitany takes persistent reductions that are under way for done
  check_many_rounds();
#endif
  check_any_order();
  check_persistent_of_all_types();
}

// Open MPI 4.1.4 itself needs all ranks to come to wait, and crashes where a communicator is freed before its requests.
void check_more_of_persistent() {
  check_that_no_request_needs_another_s_progress();
  check_free_communicator();
}
