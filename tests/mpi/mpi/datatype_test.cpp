// Every element type with every operation that it has, against a loop.
#include "plait/mpi/datatype.hpp"

#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "plait/mpi/collectives.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/mpi/reduction.hpp"

#include "support/ranks.hpp"

namespace {

using plait::Index;
using plait::mpi::Communicator;
using plait::test::test_comm;

template <class T>
struct is_complex : std::false_type {};
template <class R>
struct is_complex<std::complex<R>> : std::true_type {};

template <class T>
struct NamedOperation {
  MPI_Op operation;
  std::string name;
  T (*combine)(T, T);
};

template <class T>
std::vector<NamedOperation<T>> operations() {
  std::vector<NamedOperation<T>> all;
  if constexpr (!std::is_same_v<T, bool>) {
    all.push_back({MPI_SUM, "sum", [](T a, T b) { return static_cast<T>(a + b); }});
    all.push_back({MPI_PROD, "product", [](T a, T b) { return static_cast<T>(a * b); }});
    if constexpr (!is_complex<T>::value) {
      all.push_back({MPI_MAX, "maximum", [](T a, T b) { return std::max(a, b); }});
      all.push_back({MPI_MIN, "minimum", [](T a, T b) { return std::min(a, b); }});
    }
    if constexpr (std::is_integral_v<T>) {
      all.push_back({MPI_BAND, "bitwise and", [](T a, T b) { return static_cast<T>(a & b); }});
      all.push_back({MPI_BOR, "bitwise or", [](T a, T b) { return static_cast<T>(a | b); }});
      all.push_back({MPI_BXOR, "bitwise exclusive or", [](T a, T b) { return static_cast<T>(a ^ b); }});
    }
  }
  if constexpr (std::is_integral_v<T>) {
    all.push_back({MPI_LAND, "and", [](T a, T b) { return static_cast<T>(a && b); }});
    all.push_back({MPI_LOR, "or", [](T a, T b) { return static_cast<T>(a || b); }});
  }
  return all;
}

// Small numbers, whose sums and products are exact; for what compares, also the ends of the range.
template <class T>
std::vector<T> values(int rank, bool with_extremes) {
  std::vector<T> all;
  for (int i = 0; i < 7; ++i) {
    const int small = (rank + 1) * (i + 1) % 3;
    if constexpr (is_complex<T>::value) {
      all.emplace_back(static_cast<typename T::value_type>(small), static_cast<typename T::value_type>(1 - i % 3));
    } else {
      all.push_back(static_cast<T>(small));
    }
  }
  if constexpr (!is_complex<T>::value && !std::is_same_v<T, bool>) {
    if (with_extremes) {
      all.push_back(rank == 0 ? std::numeric_limits<T>::max() : T{1});
      all.push_back(rank == 0 ? std::numeric_limits<T>::lowest() : T{1});
    }
  }
  return all;
}

template <class T>
struct ElementType : ::testing::Test {};
using Types = ::testing::Types<bool, char, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                               std::uint32_t, std::int64_t, std::uint64_t, long long, unsigned long long, float, double,
                               long double, std::complex<float>, std::complex<double>>;

struct TypeNames {
  template <class T>
  static std::string GetName(int index) {
    return std::to_string(index) + "_of_" + std::to_string(sizeof(T)) + "_bytes";
  }
};
TYPED_TEST_SUITE(ElementType, Types, TypeNames);

TYPED_TEST(ElementType, is_reduced_over_ranks_as_by_a_loop) {
  const Communicator comm = Communicator::duplicate(test_comm());
  for (const auto& operation : operations<TypeParam>()) {
    const bool compares = operation.operation == MPI_MAX || operation.operation == MPI_MIN;
    const std::vector<TypeParam> own = values<TypeParam>(comm.rank(), compares);
    std::vector<TypeParam> expected = values<TypeParam>(0, compares);
    for (int rank = 1; rank < comm.size(); ++rank) {
      const std::vector<TypeParam> other = values<TypeParam>(rank, compares);
      for (std::size_t i = 0; i < own.size(); ++i) expected[i] = operation.combine(expected[i], other[i]);
    }
    // One by one, as a vector of bool has no elements to point at.
    for (std::size_t i = 0; i < own.size(); ++i) {
      const TypeParam reduced = plait::mpi::all_reduce<TypeParam>(comm, own[i], operation.operation);
      EXPECT_EQ(reduced, expected[i]) << operation.name << " of element " << i;
    }
  }
}

TYPED_TEST(ElementType, is_reduced_locally_as_by_a_loop) {
  for (const auto& operation : operations<TypeParam>()) {
    const bool compares = operation.operation == MPI_MAX || operation.operation == MPI_MIN;
    for (const bool turned : {false, true}) {
      const std::vector<TypeParam> in = values<TypeParam>(turned ? 1 : 0, compares);
      const std::vector<TypeParam> inout = values<TypeParam>(turned ? 0 : 1, compares);
      for (std::size_t i = 0; i < in.size(); ++i) {
        const TypeParam from = in[i];
        TypeParam to = inout[i];
        plait::mpi::reduce_local(reinterpret_cast<const std::byte*>(&from), reinterpret_cast<std::byte*>(&to),
                                 sizeof(TypeParam), plait::mpi::reduction<TypeParam>(operation.operation));
        EXPECT_EQ(to, operation.combine(from, inout[i])) << operation.name << " of element " << i;
      }
    }
  }
}

TYPED_TEST(ElementType, has_the_size_of_its_mpi_type) {
  const auto element = plait::mpi::element_type<TypeParam>();
  int bytes = 0;
  MPI_Type_size(element.type, &bytes);
  EXPECT_EQ(bytes * element.per_element, Index{sizeof(TypeParam)});
}

TEST(ElementTypes, that_mpi_does_not_know_travel_as_bytes) {
  struct Odd {
    std::int32_t first;
    char second;
  };
  const auto element = plait::mpi::element_type<Odd>();
  EXPECT_EQ(element.type, MPI_BYTE);
  EXPECT_EQ(element.per_element, Index{sizeof(Odd)});
  static_assert(!plait::mpi::is_arithmetic<Odd>);
}

// The types under which C programs know them, whatever they are to plait: for callers that bring an MPI_Datatype.
TEST(UnsignedIntegers, are_compared_as_such_under_all_their_names) {
  struct Named {
    MPI_Datatype type;
    Index bytes;
  };
  for (const Named& named :
       {Named{MPI_UNSIGNED_CHAR, sizeof(unsigned char)}, Named{MPI_UNSIGNED_SHORT, sizeof(unsigned short)},
        Named{MPI_UNSIGNED, sizeof(unsigned)}, Named{MPI_UNSIGNED_LONG, sizeof(unsigned long)},
        Named{MPI_UNSIGNED_LONG_LONG, sizeof(unsigned long long)}, Named{MPI_UINT8_T, 1}, Named{MPI_UINT16_T, 2},
        Named{MPI_UINT32_T, 4}, Named{MPI_UINT64_T, 8}}) {
    for (const bool takes_maximum : {true, false}) {
      const std::vector<std::byte> largest(static_cast<std::size_t>(named.bytes), std::byte{0xff});
      std::vector<std::byte> inout(static_cast<std::size_t>(named.bytes), std::byte{0x01});
      const std::vector<std::byte> expected = takes_maximum ? largest : inout;
      plait::mpi::reduce_local(largest.data(), inout.data(), named.bytes,
                               {takes_maximum ? MPI_MAX : MPI_MIN, named.type, named.bytes});
      EXPECT_EQ(inout, expected) << named.bytes << " bytes";
    }
  }
}

}  // namespace
