// Sums of floating-point numbers that cancel, which rounding after each addition gets wrong: they have to be exact,
// rounded once, in every routine and for every order of the ranks.
#include <mpi.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "mpi/reduce/program.hpp"
#include "mpi/reduce/under_way.hpp"

namespace {

__extension__ using Wide = __int128;

/// significand · 2^exponent, with so few bits in all that a few of them have their sum in a wide integer.
struct Addend {
  Wide significand;
  int exponent;  // 0 to 59
};

template <class T>
Addend addend(int rank, int i, int part) {
  std::minstd_rand numbers(static_cast<unsigned>((i * 2 + part) * 64 + rank + 1));
  numbers.discard(2);
  const auto bits = [&numbers] {
    const std::uint64_t high = numbers();
    return high << 33U ^ std::uint64_t{numbers()} << 10U;
  };
  constexpr int digits = std::numeric_limits<T>::digits;
  const auto magnitude = static_cast<Wide>(bits() >> (64 - digits));
  Addend made{(bits() >> 40U) % 2 == 0 ? magnitude : -magnitude, static_cast<int>(bits() % 60)};
  if (rank == 1 && i % 3 != 0) {  // what rank 0 has cancels, but for the last bits
    made = addend<T>(0, i, part);
    made.significand = -made.significand + (i % 3 - 1);
  }
  return made;
}

template <class T>
T in_type(Wide integer) {
  return std::ldexp(static_cast<T>(integer), -30);  // which rounds to nearest, ties to even
}

template <class T>
struct Parts {
  using Real = T;
  static constexpr int count = 1;
};
template <class T>
struct Parts<std::complex<T>> {
  using Real = T;
  static constexpr int count = 2;
};

/// The operand of a rank of MPI_COMM_WORLD, or the sums of all ranks'.
template <class T>
std::vector<T> numbers(int first_rank, int end_rank, int n) {
  using Real = typename Parts<T>::Real;
  std::vector<T> made(static_cast<std::size_t>(n));
  auto* const reals = reinterpret_cast<Real*>(made.data());
  for (int i = 0; i < n * Parts<T>::count; ++i) {
    Wide sum = 0;
    for (int rank = first_rank; rank < end_rank; ++rank) {
      const Addend one = addend<Real>(rank, i / Parts<T>::count, i % Parts<T>::count);
      sum += one.significand * (Wide{1} << one.exponent);
    }
    reals[i] = in_type<Real>(sum);
  }
  return made;
}

template <class T>
void check(const std::string& what, const T* got, const T* expected, int n) {
  if (std::memcmp(got, expected, sizeof(T) * static_cast<std::size_t>(n)) != 0) {
    complain(what + " of " + std::to_string(n) + " elements of " + std::to_string(sizeof(T)) + " bytes");
  }
}

template <class T>
void check_sums(MPI_Comm comm, MPI_Datatype type, const std::vector<T>& own, const std::vector<T>& sums, int n) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<T> out(own.size());
  MPI_Allreduce(own.data(), out.data(), n, type, MPI_SUM, comm);
  check("MPI_Allreduce", out.data(), sums.data(), n);
  out = own;
  MPI_Reduce(rank == ranks - 1 ? MPI_IN_PLACE : own.data(), out.data(), n, type, MPI_SUM, ranks - 1, comm);
  if (rank == ranks - 1) check("MPI_Reduce", out.data(), sums.data(), n);

  std::vector<int> counts(static_cast<std::size_t>(ranks), n / (ranks + 1));
  counts.back() = n - std::accumulate(counts.begin(), counts.end() - 1, 0);
  const int begin = rank * (n / (ranks + 1));
  out = own;
  MPI_Reduce_scatter(MPI_IN_PLACE, out.data(), counts.data(), type, MPI_SUM, comm);
  check("MPI_Reduce_scatter", out.data(), sums.data() + begin, counts[static_cast<std::size_t>(rank)]);
  const int share = n / ranks;
  MPI_Reduce_scatter_block(own.data(), out.data(), share, type, MPI_SUM, comm);
  check("MPI_Reduce_scatter_block", out.data(), sums.data() + rank * share, share);
}

template <class T>
void check_type(MPI_Datatype type, MPI_Comm reversed) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int most = 10001;
  const std::vector<T> own = numbers<T>(rank, rank + 1, most);
  const std::vector<T> sums = numbers<T>(0, ranks, most);
  for (const int n : {1, 7, 1000, most}) {
    check_sums(MPI_COMM_WORLD, type, own, sums, n);
    check_sums(reversed, type, own, sums, n);
  }
}

}  // namespace

void check_reproducible() {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  check_type<double>(MPI_DOUBLE, reversed);
  check_type<float>(MPI_FLOAT, reversed);
  check_type<std::complex<double>>(MPI_C_DOUBLE_COMPLEX, reversed);
  check_type<std::complex<float>>(MPI_C_FLOAT_COMPLEX, reversed);
  MPI_Comm_free(&reversed);
}

// Before any other sums.
void check_persistent_reproducible() {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const int n : {1, 10001}) {
    const std::vector<double> own = numbers<double>(rank, rank + 1, n);
    const std::vector<double> sums = numbers<double>(0, ranks, n);
    std::vector<double> out(own.size());
    MPI_Request request = MPI_REQUEST_NULL;
    PERSISTENT(Allreduce)(own.data(), out.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 2; ++round) {
      out.assign(out.size(), 0);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      check("a persistent MPI_Allreduce", out.data(), sums.data(), n);
    }
    MPI_Request_free(&request);
  }
}

// So many that not all would pay.
void check_reproducible_on_many() {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::vector<double> own = numbers<double>(rank, rank + 1, 4);
  const std::vector<double> sums = numbers<double>(0, ranks, 4);
  std::vector<MPI_Comm> many(70);
  for (MPI_Comm& comm : many) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    std::vector<double> out(4);
    MPI_Allreduce(own.data(), out.data(), 4, MPI_DOUBLE, MPI_SUM, comm);
    check("MPI_Allreduce on one of many communicators", out.data(), sums.data(), 4);
  }
  for (MPI_Comm& comm : many) MPI_Comm_free(&comm);
}

void check_not_reproducible() {
  double in = 1.0;
  double out = 0.0;
  MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  int whole = 1;
  MPI_Scan(MPI_IN_PLACE, &whole, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// From the beginning, on communicators of all ranks; they are exact also if they are rounded.
void check_few_sums() {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto check_sum = [&](MPI_Comm comm) {
    const std::vector<double> in(8, rank + 1);
    std::vector<double> out(in.size());
    MPI_Allreduce(in.data(), out.data(), 8, MPI_DOUBLE, MPI_SUM, comm);
    if (out != std::vector<double>(8, ranks * (ranks + 1) / 2)) complain("one of a few sums");
  };
  for (int i = 0; i < 2; ++i) check_sum(MPI_COMM_WORLD);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  check_sum(comm);
  MPI_Comm_free(&comm);
}
