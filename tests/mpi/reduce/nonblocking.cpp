// Reductions that are waited for later, against loops over the ranks.
#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "mpi/reduce/under_way.hpp"

namespace {

UnderWay<double> sum(int routine, int n, bool in_place = false) {
  return UnderWay<double>({"SUM of DOUBLE", MPI_DOUBLE, Group::floating_point, MPI_SUM, routine, n, in_place});
}

// A library that has to see much data first has seen it then, though nothing but these was called, and a barrier.
void begin() {
  sum(0, 2200001).wait();
  MPI_Barrier(MPI_COMM_WORLD);
}

void check_nonblocking_of_all_types() {
  int turn = 0;
  for_all_types([&](const char* name, MPI_Datatype type, Group group, auto zero) {
    for (const NamedOperation& operation : all_operations()) {
      if (!is_defined(operation.operation, group)) continue;
      ++turn;
      UnderWay<decltype(zero)>({std::string(operation.name) + " of " + name, type, group, operation.operation,
                                turn % routines, 17001, turn / routines % 2 == 0})
          .wait();
    }
  });
}

// All that ask whether requests are done.
void check_ways_to_complete() {
  constexpr int ways = 8;
  for (int way = 0; way < ways; ++way) {
    UnderWay<double> first = sum(way % routines, 40001);
    UnderWay<double> second = sum((way + 1) % routines, 130001, true);
    MPI_Request requests[] = {first.request(), second.request()};
    MPI_Status statuses[2];
    int done = 0;
    int some = 0;
    int index = 0;
    int indices[2];
    switch (way) {
      case 0: MPI_Waitall(2, requests, statuses); break;
      case 1:
        for (int i = 0; i < 2; ++i) MPI_Waitany(2, requests, &index, statuses);
        break;
      case 2:
        for (; done < 2; done += some) MPI_Waitsome(2, requests, &some, indices, statuses);
        break;
      case 3:
        while (done == 0) MPI_Testall(2, requests, &done, statuses);
        break;
      case 4:
        for (int i = 0; i < 2; i += done) MPI_Testany(2, requests, &index, &done, statuses);
        break;
      case 5:
        for (; done < 2; done += some) MPI_Testsome(2, requests, &some, indices, statuses);
        break;
      case 6:
        for (MPI_Request& request : requests) {
          for (done = 0; done == 0;) MPI_Test(&request, &done, statuses);
        }
        break;
      default:
        while (done == 0) MPI_Request_get_status(requests[1], &done, statuses);
        MPI_Waitall(2, requests, statuses);
    }
    first.request() = requests[0];
    second.request() = requests[1];
    first.check();
    second.check();
  }
}

// Reductions beside messages, in the same calls.
void check_beside_messages() {
  const int rank = rank_of_world();
  const int ranks = ranks_of_world();
  for (int way = 0; way < 4; ++way) {
    UnderWay<double> first = sum(way, 40001);
    int received = -1;
    MPI_Request requests[3];
    MPI_Irecv(&received, 1, MPI_INT, (rank + ranks - 1) % ranks, 3, MPI_COMM_WORLD, &requests[0]);
    UnderWay<double> second = sum(way + 1, 20001);
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % ranks, 3, MPI_COMM_WORLD, &requests[2]);
    MPI_Request all[] = {requests[0], first.request(), requests[2], second.request()};
    MPI_Status statuses[4];
    int done = 0;
    int some = 0;
    int indices[4];
    switch (way) {
      case 0: MPI_Waitall(4, all, statuses); break;
      case 1:
        for (int i = 0; i < 4; ++i) MPI_Waitany(4, all, &some, statuses);
        break;
      case 2:
        while (done == 0) MPI_Testall(4, all, &done, statuses);
        break;
      default:
        for (; done < 4; done += some) MPI_Waitsome(4, all, &some, indices, statuses);
    }
    if (received != (rank + ranks - 1) % ranks) complain("a message beside reductions");
    first.request() = all[1];
    second.request() = all[3];
    first.check();
    second.check();
  }
}

// A rank whose reduction is under way waits for what others send only when theirs has ended.
void check_that_none_needs_another_s_progress() {
  for (int routine = 0; routine < routines; ++routine) {
    UnderWay<double> own = sum(routine, 30001);
    int word = 0;
    const int last = ranks_of_world() - 1;
    if (rank_of_world() == 0) {
      if (last > 0) MPI_Recv(&word, 1, MPI_INT, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      own.wait();
    } else {
      own.wait();
      if (rank_of_world() == last) MPI_Send(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    }
  }
}

// With those that wait between them, and other communicators; each rank waits in an order of its own.
void check_many_at_once() {
  constexpr int count = 150;
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  std::vector<std::unique_ptr<UnderWay<double>>> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(
        std::make_unique<UnderWay<double>>(Reduced{"one of many", MPI_DOUBLE, Group::floating_point, MPI_MAX,
                                                   i % routines, i % 7 == 0 ? 3 : 2500 + 13 * i, i % 2 == 0}));
    if (i % 10 != 0) continue;
    double one = 1;
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_DOUBLE, MPI_SUM, i % 20 == 0 ? other : MPI_COMM_WORLD);
    if (one != ranks_of_world()) complain("a sum between those that are under way");
  }
  constexpr int steps[] = {7, 11, 13};  // prime to `count`
  for (int i = 0; i < count; ++i) {
    const int step = steps[rank_of_world() % 3];
    all[static_cast<std::size_t>(i * step % count)]->wait();
  }
  MPI_Comm_free(&other);
}

}  // namespace

void check_nonblocking() {
  begin();
  check_nonblocking_of_all_types();
  check_ways_to_complete();
  check_beside_messages();
  check_that_none_needs_another_s_progress();
  check_many_at_once();
}

// All but one rank come to a reduction only when they are told that this one's call has returned.
void check_that_calls_wait_for_none() {
  const int ranks = ranks_of_world();
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, other}) {
    for (int turn = 0; turn < 3 * routines; ++turn) {
      const int routine = turn % routines;
      const int n = turn == 0 ? 2200001 : 30001;  // at first as much as a library may want to see
      const int early = turn % ranks;
      const auto kind = turn < 2 * routines ? UnderWay<double>::Kind::once : UnderWay<double>::Kind::persistent;
      const auto begun = [&] {
        return std::make_unique<UnderWay<double>>(
            Reduced{"SUM of DOUBLE", MPI_DOUBLE, Group::floating_point, MPI_SUM, routine, n, false, comm}, kind);
      };
      const bool is_persistent = kind == UnderWay<double>::Kind::persistent;
      auto own = is_persistent ? begun() : nullptr;
      if (rank_of_world() != early) MPI_Recv(nullptr, 0, MPI_INT, early, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (is_persistent) {
        own->start();
      } else {
        own = begun();
      }
      for (int rank = 0; rank < ranks && rank_of_world() == early; ++rank) {
        if (rank != early) MPI_Send(nullptr, 0, MPI_INT, rank, 7, MPI_COMM_WORLD);
      }
      MPI_Wait(&own->request(), MPI_STATUS_IGNORE);
      own->check_results();
      if (is_persistent) MPI_Request_free(&own->request());
      if (turn % routines == 0) MPI_Barrier(comm);  // where a library may prepare
    }
  }
  MPI_Comm_free(&other);
}

// Each rank is told, and what comes later is as ever.
void check_different_counts() {
  begin();
  const int rank = rank_of_world();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const std::vector<double> in(std::size_t{1} << 20, 1.0);
  std::vector<double> out(in.size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(in.data(), out.data(), rank == 0 ? 4096 : 1 << 20, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  if (MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS) complain("counts that differ");
  MPI_Iallreduce(in.data(), out.data(), 4096, rank == 0 ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS) complain("types that differ");
  sum(0, 30001).wait();
}

// The only one, and large.
void check_first_call() {
  constexpr int n = 3000001;
  const std::vector<double> in(n, rank_of_world() + 1);
  std::vector<double> out(n);
  MPI_Allreduce(in.data(), out.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (out != std::vector<double>(n, ranks_of_world() * (ranks_of_world() + 1) / 2)) complain("a first sum");
}
