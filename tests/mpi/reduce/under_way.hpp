#pragma once

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "mpi/reduce/cases.hpp"
#include "mpi/reduce/program.hpp"

// Open MPI had persistent reductions before the standard.
#if MPI_VERSION >= 4
#define PERSISTENT(name) MPI_##name##_init
#else
#define PERSISTENT(name) MPIX_##name##_init
#endif

inline constexpr int routines = 6;

inline int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int ranks_of_world() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

/// What is reduced, among all ranks.
struct Reduced {
  std::string name;
  MPI_Datatype type;
  Group group;
  MPI_Op op;
  int routine;  // 0 to 5
  int n;
  bool in_place = false;
  MPI_Comm comm = MPI_COMM_WORLD;
};

/// One reduction: what it is to give, and what comes. It is under way from the beginning, or a persistent one whenever
/// it is started.
template <class T>
class UnderWay {
 public:
  enum class Kind { once, persistent };

  explicit UnderWay(Reduced reduced, Kind kind = Kind::once)
      : reduced_(std::move(reduced)), rank_(rank_of_world()), ranks_(ranks_of_world()) {
    const int n = reduced_.n;
    const int routine = reduced_.routine;
    size_ = n * ranks_ + ranks_;
    in_ = std::make_unique<T[]>(static_cast<std::size_t>(size_));
    out_ = std::make_unique<T[]>(static_cast<std::size_t>(size_));
    root_ = n % ranks_;
    for (int rank = 0; rank < ranks_; ++rank) counts_.push_back(rank % 3 == 1 ? 0 : n + rank % 2);
    count_ = n;
    operands_ = ranks_;
    if (routine == 1 && rank_ != root_) count_ = 0;
    if (routine == 2) before_ = n * rank_;
    if (routine == 3) {
      before_ = std::accumulate(counts_.begin(), counts_.begin() + rank_, 0);
      count_ = counts_[static_cast<std::size_t>(rank_)];
    }
    if (routine == 4) operands_ = rank_ + 1;
    if (routine == 5) operands_ = rank_;
    if (operands_ == 0) count_ = 0;
    fill();
    kind == Kind::once ? begin() : initialize();
    reduced_.name += ", routine " + std::to_string(routine);
  }

  MPI_Request& request() { return request_; }

  /// With other operands than before.
  void start() {
    fill();
    MPI_Start(&request_);
  }
  /// For those that start it themselves.
  void fill() {
    ++round_;
    for (int i = 0; i < size_; ++i) at(in_, i) = at(out_, i) = operand(rank_, i);
  }

  void wait() {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    check();
  }

  void check() {
    if (request_ != MPI_REQUEST_NULL) complain("a request that stays: " + reduced_.name);
    check_results();
  }

  void check_results() {
    for (int i = 0; i < count_; ++i) {
      T expected = operand(0, before_ + i);
      for (int rank = 1; rank < operands_; ++rank)
        expected = combined(reduced_.op, expected, operand(rank, before_ + i));
      if (is_equal(at(out_, i), expected)) continue;
      return complain(reduced_.name + ": element " + std::to_string(i) + " of " + std::to_string(count_));
    }
  }

 private:
  static T& at(const std::unique_ptr<T[]>& data, int i) { return data[static_cast<std::size_t>(i)]; }
  T operand(int rank, int i) const { return value<T>(reduced_.op, reduced_.group, rank, i + 11 * round_, false); }
  const void* send() const {
    return reduced_.in_place && (reduced_.routine != 1 || rank_ == root_) ? MPI_IN_PLACE : in_.get();
  }

  void begin() {
    const auto& [name, type, group, op, routine, n, in_place, comm] = reduced_;
    switch (routine) {
      case 0: MPI_Iallreduce(send(), out_.get(), n, type, op, comm, &request_); break;
      case 1: MPI_Ireduce(send(), out_.get(), n, type, op, root_, comm, &request_); break;
      case 2: MPI_Ireduce_scatter_block(send(), out_.get(), n, type, op, comm, &request_); break;
      case 3: MPI_Ireduce_scatter(send(), out_.get(), counts_.data(), type, op, comm, &request_); break;
      case 4: MPI_Iscan(send(), out_.get(), n, type, op, comm, &request_); break;
      default: MPI_Iexscan(send(), out_.get(), n, type, op, comm, &request_); break;
    }
  }

  void initialize() {
    const auto& [name, type, group, op, routine, n, in_place, comm] = reduced_;
    const MPI_Info info = MPI_INFO_NULL;
    switch (routine) {
      case 0: PERSISTENT(Allreduce)(send(), out_.get(), n, type, op, comm, info, &request_); break;
      case 1: PERSISTENT(Reduce)(send(), out_.get(), n, type, op, root_, comm, info, &request_); break;
      case 2: PERSISTENT(Reduce_scatter_block)(send(), out_.get(), n, type, op, comm, info, &request_); break;
      case 3: PERSISTENT(Reduce_scatter)(send(), out_.get(), counts_.data(), type, op, comm, info, &request_); break;
      case 4: PERSISTENT(Scan)(send(), out_.get(), n, type, op, comm, info, &request_); break;
      default: PERSISTENT(Exscan)(send(), out_.get(), n, type, op, comm, info, &request_); break;
    }
  }

  Reduced reduced_;
  int rank_;
  int ranks_;
  int size_ = 0;
  int root_ = 0;
  int before_ = 0;
  int count_ = 0;
  int operands_ = 0;
  int round_ = 0;
  std::vector<int> counts_;
  std::unique_ptr<T[]> in_;
  std::unique_ptr<T[]> out_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};
