// Every predefined operation on every type that it is defined on, by each of the routines, against a loop over the
// ranks.
#include <mpi.h>

#include <memory>
#include <numeric>

#include "mpi/reduce/cases.hpp"
#include "mpi/reduce/program.hpp"

namespace {

/// Memory of a vector without the one of bool.
template <class T>
class Array {
 public:
  explicit Array(int size) : size_(size), data_(std::make_unique<T[]>(static_cast<std::size_t>(size) + 1)) {}
  T* data() { return data_.get(); }
  const T& operator[](int i) const { return data_[static_cast<std::size_t>(i)]; }
  T& operator[](int i) { return data_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] int size() const { return size_; }

 private:
  int size_;
  std::unique_ptr<T[]> data_;
};

template <class T>
class Case {
 public:
  Case(const char* name, MPI_Datatype type, Group group, NamedOperation operation)
      : name_(std::string(operation.name) + " of " + name), type_(type), group_(group), op_(operation.operation) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }

  void reduce_local(int n) {
    Array<T> in = operands(0, n, true);
    Array<T> inout = operands(1, n, true);
    Array<T> expected(n);
    for (int i = 0; i < n; ++i) expected[i] = combined(op_, in[i], inout[i]);
    MPI_Reduce_local(in.data(), inout.data(), n, type_, op_);
    expect("MPI_Reduce_local", inout, expected, 0, n);
  }

#if MPI_VERSION >= 4
  // With counts of 64 bits.
  void long_counts(int n) {
    Array<T> in = operands(rank_, n);
    Array<T> out(n);
    MPI_Allreduce_c(in.data(), out.data(), n, type_, op_, MPI_COMM_WORLD);
    expect("MPI_Allreduce_c", out, prefix(ranks_, n), 0, n);
    MPI_Reduce_c(in.data(), out.data(), n, type_, op_, 0, MPI_COMM_WORLD);
    if (rank_ == 0) expect("MPI_Reduce_c", out, prefix(ranks_, n), 0, n);
    const std::vector<MPI_Count> counts(static_cast<std::size_t>(ranks_), n / ranks_);
    const int mine = n / ranks_;
    MPI_Reduce_scatter_c(in.data(), out.data(), counts.data(), type_, op_, MPI_COMM_WORLD);
    expect("MPI_Reduce_scatter_c", out, prefix(ranks_, n), rank_ * mine, mine);
    MPI_Reduce_scatter_block_c(in.data(), out.data(), mine, type_, op_, MPI_COMM_WORLD);
    expect("MPI_Reduce_scatter_block_c", out, prefix(ranks_, n), rank_ * mine, mine);
    MPI_Scan_c(in.data(), out.data(), n, type_, op_, MPI_COMM_WORLD);
    expect("MPI_Scan_c", out, prefix(rank_ + 1, n), 0, n);
    MPI_Exscan_c(in.data(), out.data(), n, type_, op_, MPI_COMM_WORLD);
    if (rank_ > 0) expect("MPI_Exscan_c", out, prefix(rank_, n), 0, n);
    Array<T> inout = operands(rank_, n);
    Array<T> twice(n);
    for (int i = 0; i < n; ++i) twice[i] = combined(op_, in[i], in[i]);
    MPI_Reduce_local_c(in.data(), inout.data(), n, type_, op_);
    expect("MPI_Reduce_local_c", inout, twice, 0, n);
  }
#endif

  void allreduce(int n, bool in_place) {
    Array<T> in = operands(rank_, n);
    Array<T> out = operands(rank_, n);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in.data(), out.data(), n, type_, op_, MPI_COMM_WORLD);
    expect("MPI_Allreduce", out, prefix(ranks_, n), 0, n);
  }

  void reduce(int n, int root, bool in_place) {
    Array<T> in = operands(rank_, n);
    Array<T> out = operands(rank_, n);
    const bool is_root = rank_ == root;
    MPI_Reduce(is_root && in_place ? MPI_IN_PLACE : in.data(), is_root ? out.data() : nullptr, n, type_, op_, root,
               MPI_COMM_WORLD);
    if (is_root) expect("MPI_Reduce", out, prefix(ranks_, n), 0, n);
  }

  void reduce_scatter_block(int n, bool in_place) {
    Array<T> in = operands(rank_, n * ranks_);
    Array<T> out = operands(rank_, n * ranks_);
    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : in.data(), out.data(), n, type_, op_, MPI_COMM_WORLD);
    expect("MPI_Reduce_scatter_block", out, prefix(ranks_, n * ranks_), rank_ * n, n);
  }

  void reduce_scatter(int n, bool in_place) {
    std::vector<int> counts;
    for (int rank = 0; rank < ranks_; ++rank) counts.push_back(rank % 3 == 1 ? 0 : n + rank);
    const int total = std::accumulate(counts.begin(), counts.end(), 0);
    const int before = std::accumulate(counts.begin(), counts.begin() + rank_, 0);
    Array<T> in = operands(rank_, total);
    Array<T> out = operands(rank_, total);
    MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : in.data(), out.data(), counts.data(), type_, op_, MPI_COMM_WORLD);
    expect("MPI_Reduce_scatter", out, prefix(ranks_, total), before, counts[static_cast<std::size_t>(rank_)]);
  }

  void scan(int n, bool in_place) {
    Array<T> in = operands(rank_, n);
    Array<T> out = operands(rank_, n);
    MPI_Scan(in_place ? MPI_IN_PLACE : in.data(), out.data(), n, type_, op_, MPI_COMM_WORLD);
    expect("MPI_Scan", out, prefix(rank_ + 1, n), 0, n);
  }

  void exscan(int n, bool in_place) {
    Array<T> in = operands(rank_, n);
    Array<T> out = operands(rank_, n);
    MPI_Exscan(in_place ? MPI_IN_PLACE : in.data(), out.data(), n, type_, op_, MPI_COMM_WORLD);
    if (rank_ > 0) expect("MPI_Exscan", out, prefix(rank_, n), 0, n);
  }

 private:
  [[nodiscard]] Array<T> operands(int rank, int n, bool wild = false) const {
    Array<T> all(n);
    for (int i = 0; i < n; ++i) all[i] = value<T>(op_, group_, rank, i, wild);
    return all;
  }

  // Of the first ranks.
  [[nodiscard]] Array<T> prefix(int ranks, int n) const {
    Array<T> all = operands(0, n);
    for (int rank = 1; rank < ranks; ++rank) {
      for (int i = 0; i < n; ++i) all[i] = combined(op_, all[i], value<T>(op_, group_, rank, i, false));
    }
    return all;
  }

  void expect(const char* routine, const Array<T>& found, const Array<T>& expected, int first, int n) const {
    for (int i = 0; i < n; ++i) {
      if (is_equal(found[i], expected[first + i])) continue;
      complain(std::string(routine) + ": " + name_ + ": element " + std::to_string(i) + " of " + std::to_string(n));
      return;
    }
  }

  std::string name_;
  MPI_Datatype type_;
  Group group_;
  MPI_Op op_;
  int rank_ = 0;
  int ranks_ = 0;
};

// The routines take turns, so that there are few calls where ranks outnumber cores.
template <class T>
void call(Case<T>& a_case, int turn, int n) {
  const bool in_place = turn / 2 % 2 == 0;
  a_case.allreduce(n, !in_place);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  switch (turn % 5) {
    case 0: return a_case.reduce(n, turn % ranks, in_place);
    case 1: return a_case.reduce_scatter_block(n, in_place);
    case 2: return a_case.reduce_scatter(n, in_place);
    case 3: return a_case.scan(n, in_place);
    default: return a_case.exscan(n, in_place);
  }
}

}  // namespace

// By any mixture of ranks with plait's library and without it.
void check_integers() {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> sum(1 << 20);
  for (int call = 0; call < 12; ++call) {  // as many as let plait begin
    const int count = call % 2 == 0 ? 1 << 20 : 1;
    std::fill(sum.begin(), sum.end(), rank + call);
    MPI_Allreduce(MPI_IN_PLACE, sum.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const int expected = ranks * (ranks - 1) / 2 + ranks * call;
    if (sum.front() != expected || sum[static_cast<std::size_t>(count) - 1] != expected) complain("a sum of integers");
  }
}

namespace {

// Open MPI lets the result of a single element take its operand's place, which only some ranks may do.
void reduce_one_in_its_place() {
#if defined(OPEN_MPI)
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double own = rank + 1;
  double apart = 0;
  double* const out = rank == 0 ? &own : &apart;
  MPI_Allreduce(&own, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (*out != ranks * (ranks + 1) / 2) complain("a sum in the place of an operand");
#endif
}

}  // namespace

void check_results() {
  constexpr int sizes[] = {1, 3, 17, 100, 1023, 5000};
  // A library that has to see much data first has seen it then.
  Case<double> sum("DOUBLE", MPI_DOUBLE, Group::floating_point, {"SUM", MPI_SUM});
  sum.allreduce(2200001, false);
  int turn = 0;
  for_all_types([&](const char* name, MPI_Datatype type, Group group, auto zero) {
    for (const NamedOperation& operation : all_operations()) {
      if (!is_defined(operation.operation, group)) continue;
      Case<decltype(zero)> a_case(name, type, group, operation);
      for (const int n : sizes) a_case.reduce_local(n);
      call(a_case, turn, sizes[turn % 6]);
      ++turn;
    }
  });
  reduce_one_in_its_place();
#if MPI_VERSION >= 4
  sum.long_counts(1001);
#endif
  Case<int> land("INT", MPI_INT, Group::c_integer, {"LAND", MPI_LAND});
  for (turn = 0; turn < 10; ++turn) {
    call(sum, turn, 70001 + turn);
    call(land, turn, 70001 + turn);
  }
}
