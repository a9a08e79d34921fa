// Reductions that are waited for later, against loops over the ranks.
#include <mpi.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "mpi/reduce/cases.hpp"
#include "mpi/reduce/program.hpp"

namespace {

constexpr int routines = 6;

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int ranks_of_world() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

/// One reduction under way: what it is to give, and what comes.
template <class T>
class UnderWay {
 public:
  UnderWay(std::string name, MPI_Datatype type, Group group, MPI_Op op, int routine, int n, bool in_place)
      : name_(std::move(name)), rank_(rank_of_world()), ranks_(ranks_of_world()), size_(n * ranks_ + ranks_) {
    in_ = std::make_unique<T[]>(static_cast<std::size_t>(size_));
    out_ = std::make_unique<T[]>(static_cast<std::size_t>(size_));
    expected_ = std::make_unique<T[]>(static_cast<std::size_t>(size_));
    const int root = n % ranks_;
    std::vector<int> counts(static_cast<std::size_t>(ranks_));
    for (int rank = 0; rank < ranks_; ++rank) counts[static_cast<std::size_t>(rank)] = rank % 3 == 1 ? 0 : n + rank % 2;
    int before = 0;
    int ranks = ranks_;
    count_ = n;
    if (routine == 1 && rank_ != root) count_ = 0;
    if (routine == 2) before = n * rank_;
    if (routine == 3) {
      before = std::accumulate(counts.begin(), counts.begin() + rank_, 0);
      count_ = counts[static_cast<std::size_t>(rank_)];
    }
    if (routine == 4) ranks = rank_ + 1;
    if (routine == 5) ranks = rank_;
    if (ranks == 0) count_ = 0;
    for (int i = 0; i < size_; ++i) at(in_, i) = at(out_, i) = value<T>(op, group, rank_, i, false);
    for (int i = 0; i < count_; ++i) {
      T sum = value<T>(op, group, 0, before + i, false);
      for (int rank = 1; rank < ranks; ++rank) sum = combined(op, sum, value<T>(op, group, rank, before + i, false));
      at(expected_, i) = sum;
    }
    const void* const send = in_place && (routine != 1 || rank_ == root) ? MPI_IN_PLACE : in_.get();
    const MPI_Comm world = MPI_COMM_WORLD;
    switch (routine) {
      case 0: MPI_Iallreduce(send, out_.get(), n, type, op, world, &request_); break;
      case 1: MPI_Ireduce(send, out_.get(), n, type, op, root, world, &request_); break;
      case 2: MPI_Ireduce_scatter_block(send, out_.get(), n, type, op, world, &request_); break;
      case 3: MPI_Ireduce_scatter(send, out_.get(), counts.data(), type, op, world, &request_); break;
      case 4: MPI_Iscan(send, out_.get(), n, type, op, world, &request_); break;
      default: MPI_Iexscan(send, out_.get(), n, type, op, world, &request_); break;
    }
    name_ += ", routine " + std::to_string(routine);
  }

  MPI_Request& request() { return request_; }

  void wait() {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    check();
  }

  void check() {
    if (request_ != MPI_REQUEST_NULL) complain("a request that stays: " + name_);
    for (int i = 0; i < count_; ++i) {
      if (is_equal(at(out_, i), at(expected_, i))) continue;
      return complain(name_ + ": element " + std::to_string(i) + " of " + std::to_string(count_));
    }
  }

 private:
  static T& at(const std::unique_ptr<T[]>& data, int i) { return data[static_cast<std::size_t>(i)]; }

  std::string name_;
  int rank_;
  int ranks_;
  int size_;
  int count_ = 0;
  std::unique_ptr<T[]> in_;
  std::unique_ptr<T[]> out_;
  std::unique_ptr<T[]> expected_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

UnderWay<double> sum(int routine, int n, bool in_place = false) {
  return {"SUM of DOUBLE", MPI_DOUBLE, Group::floating_point, MPI_SUM, routine, n, in_place};
}

// A library that has to see much data first has seen it then, though nothing but these was called, and a barrier.
void begin() {
  sum(0, 2200001).wait();
  MPI_Barrier(MPI_COMM_WORLD);
}

void check_all_types() {
  int turn = 0;
  for_all_types([&](const char* name, MPI_Datatype type, Group group, auto zero) {
    for (const NamedOperation& operation : all_operations()) {
      if (!is_defined(operation.operation, group)) continue;
      ++turn;
      UnderWay<decltype(zero)>(std::string(operation.name) + " of " + name, type, group, operation.operation,
                               turn % routines, 17001, turn / routines % 2 == 0)
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
    all.push_back(std::make_unique<UnderWay<double>>("one of many", MPI_DOUBLE, Group::floating_point, MPI_MAX,
                                                     i % routines, i % 7 == 0 ? 3 : 2500 + 13 * i, i % 2 == 0));
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
  check_all_types();
  check_ways_to_complete();
  check_that_none_needs_another_s_progress();
  check_many_at_once();
}

// The only one, and large.
void check_first_call() {
  constexpr int n = 3000001;
  const std::vector<double> in(n, rank_of_world() + 1);
  std::vector<double> out(n);
  MPI_Allreduce(in.data(), out.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (out != std::vector<double>(n, ranks_of_world() * (ranks_of_world() + 1) / 2)) complain("a first sum");
}
