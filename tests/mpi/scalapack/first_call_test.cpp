// How often processes wait for each other in a call, before data is moved: counted, not timed.
#include <dlfcn.h>

#include <gtest/gtest.h>

#include "tests/mpi/scalapack/random_case.hpp"

namespace {

/// Collective operations of this process that plait has called, by MPI's profiling names.
int reductions = 0;
int gatherings = 0;
int barriers = 0;

template <class F>
F* real(F* /*type*/, const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// The program's own functions are called in place of the library's.
#define PLAIT_COUNTED(name, counter, parameters, arguments)                      \
  extern "C" int name parameters {                                               \
    static const auto next = real(static_cast<decltype(&name)>(nullptr), #name); \
    ++counter;                                                                   \
    return next arguments;                                                       \
  }
PLAIT_COUNTED(PMPI_Allreduce, reductions,
              (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
              (in, out, count, type, op, comm))
PLAIT_COUNTED(PMPI_Iallreduce, reductions,
              (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
              (in, out, count, type, op, comm, request))
PLAIT_COUNTED(PMPI_Allgather, gatherings,
              (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype out_type, MPI_Comm comm),
              (in, n, type, out, m, out_type, comm))
PLAIT_COUNTED(PMPI_Iallgather, gatherings,
              (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype out_type, MPI_Comm comm,
               MPI_Request* request),
              (in, n, type, out, m, out_type, comm, request))
PLAIT_COUNTED(PMPI_Barrier, barriers, (MPI_Comm comm), (comm))
PLAIT_COUNTED(PMPI_Ibarrier, barriers, (MPI_Comm comm, MPI_Request* request), (comm, request))
#undef PLAIT_COUNTED

namespace plait::test {
namespace {

/// What is counted since it was made.
class Counts {
 public:
  [[nodiscard]] int of_reductions() const { return reductions - reductions_; }
  [[nodiscard]] int of_gatherings() const { return gatherings - gatherings_; }
  [[nodiscard]] int of_barriers() const { return barriers - barriers_; }

 private:
  int reductions_ = reductions;
  int gatherings_ = gatherings;
  int barriers_ = barriers;
};

class FirstCall : public ::testing::Test {
 protected:
  FirstCall() : all_(1, ranks(), ordered(1, ranks(), 'R')), upright_(ranks(), 1, ordered(ranks(), 1, 'C')) {}

  void copy(const ProcessGrid& from, const ProcessGrid& to, int n) {
    LocalArray<double> a(from, {n, n, 3, 2, 0, 0, 0});
    LocalArray<double> b(to, {n, n, 2, 4, 0, 0, 0});
    plait_Cpdgemr2d(n, n, a.data(), 1, 1, a.descriptor(), b.data(), 1, 1, b.descriptor(), all_.context());
  }
  void transpose(int n) {
    LocalArray<double> a(all_, {n, n, 3, 2, 0, 0, 0});
    const double alpha = 1;
    const double beta = 0;
    const int one = 1;
    LocalArray<double> c = a;
    plait_pdtran_(&n, &n, &alpha, a.data(), &one, &one, a.descriptor(), &beta, c.data(), &one, &one, c.descriptor());
  }

  ProcessGrid all_, upright_;
};

// What new memory that a node shares costs its processes at most, beside the one agreement of all.
constexpr int reductions_for_memory = 4;
constexpr int gatherings_for_memory = 2;
// Of contracts that communicate.
constexpr int reductions_of_checks = PLAIT_ASSERT_LEVEL >= 3 ? 4 : 0;

TEST_F(FirstCall, NeedsNothingButTheMapsOfNewGridsOfKnownProcesses) {
  copy(all_, upright_, 20);
  for (int round = 0; round < 3; ++round) {
    const Counts counts;
    const ProcessGrid all(1, ranks(), ordered(1, ranks(), 'R'));
    const ProcessGrid upright(ranks(), 1, ordered(ranks(), 1, 'C'));
    LocalArray<double> a(all, {20, 20, 3, 2, 0, 0, 0});
    LocalArray<double> b(upright, {20, 20, 2, 4, 0, 0, 0});
    plait_Cpdgemr2d(20, 20, a.data(), 1, 1, a.descriptor(), b.data(), 1, 1, b.descriptor(), all.context());
    EXPECT_EQ(counts.of_reductions() + counts.of_barriers(), 0);
    EXPECT_EQ(counts.of_gatherings(), 2);
  }
}

// Plans have the memory for data under way in common, and new flags are needed now and then only.
TEST_F(FirstCall, OfItsKindAgreesOnceAndTakesNoMemory) {
  copy(all_, upright_, 40);
  constexpr int kinds = 10;
  const Counts counts;
  for (int kind = 0; kind < kinds; ++kind) copy(all_, upright_, 30 + kind);
  if (ranks() == 1) return;
  EXPECT_LE(counts.of_reductions(), kinds * (1 + reductions_of_checks) + 2 * reductions_for_memory);
  EXPECT_LE(counts.of_gatherings(), 2 * gatherings_for_memory);
  EXPECT_LE(counts.of_barriers(), 2);
}

TEST_F(FirstCall, AgreesOnce) {
  const int once = ranks() > 1 ? 1 : 0;
  copy(all_, upright_, 20);  // the grids become known
  for (int n : {21, 22}) {
    const Counts counts;
    copy(all_, upright_, n);
    EXPECT_LE(counts.of_reductions(), once * (1 + reductions_for_memory) + reductions_of_checks);
    EXPECT_GE(counts.of_reductions(), once);
    EXPECT_LE(counts.of_gatherings(), once * gatherings_for_memory);
    EXPECT_LE(counts.of_barriers(), once);
    const Counts again;
    copy(all_, upright_, n);
    EXPECT_EQ(again.of_reductions() + again.of_gatherings() + again.of_barriers(), 0);
  }
  transpose(21);
  const Counts counts;
  transpose(22);
  EXPECT_LE(counts.of_reductions(), once * (1 + reductions_for_memory) + reductions_of_checks);
  EXPECT_LE(counts.of_gatherings(), once * gatherings_for_memory);
}

TEST_F(FirstCall, TellsOutsidersTheArgumentsOnce) {
  if (ranks() == 1) return;
  const ProcessGrid some(1, ranks() - 1, ordered(1, ranks() - 1, 'R'));
  copy(some, upright_, 20);
  const Counts counts;
  copy(some, upright_, 21);
  EXPECT_LE(counts.of_reductions(), 1 + reductions_for_memory + reductions_of_checks);
  EXPECT_LE(counts.of_gatherings(), 1 + gatherings_for_memory);
  const Counts again;
  copy(some, upright_, 21);
  EXPECT_EQ(again.of_gatherings(), 1);
  EXPECT_EQ(again.of_reductions() + again.of_barriers(), 0);
}

}  // namespace
}  // namespace plait::test
