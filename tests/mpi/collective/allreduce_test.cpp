#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/algorithm/to_all.hpp"
#include "plait/mpi/reduction.hpp"
#include "plait/simd/float16.hpp"

#include "mpi/collective/block_cases.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::Graph;
using collective::Group;
using collective::Place;
using collective::Stream;
using schedule::Combine;
using simd::Element;
using simd::ReduceOperation;

struct Allreduces : ::testing::Test {
  struct Kind {
    Stream (*build)(Graph&, const Group&, const Stream&, const collective::Reducing&);
    Exchanged (*traffic)(Index elements, Index element_bytes, int ranks, int index, bool commutes);
  };
  static constexpr Kind kinds[] = {
      {collective::allreduce_ring, allreduce_ring_traffic},
      {collective::allreduce_rabenseifner, allreduce_rabenseifner_traffic},
      {collective::allreduce_doubling, [](Index elements, Index element_bytes, int ranks, int index, bool) {
         return allreduce_doubling_traffic(elements, element_bytes, ranks, index);
       }}};

  mpi::Context context{test_comm()};
  const Group everyone = Group::all(context);
};

TEST_F(Allreduces, give_all_ranks_the_same_in_order) {
  std::uint64_t seed = 8000;
  const Compose compose;
  const Combine operations[] = {Combine::elementwise<std::uint64_t>(compose), {ReduceOperation::sum, Element::uint64}};
  for (const StreamCase& c : rootless_cases(ranks())) {
    const Kind& kind = kinds[++seed % 3];
    const Combine& combine = operations[seed / 3 % 2];
    SCOPED_TRACE(testing::Message() << c << ", kind " << seed % 3 << ", commutes " << combine.commutes());
    const Group group(context, c.ranks);
    Words in = operands(seed, rank(), c.n);
    Words out = c.in_place ? in : Words(in.size(), untouched);
    context.counters().clear();
    StreamedRun::run(context, c,
                     [&](Graph& graph, const Group& members, const Stream& stream, Place from, Place to) {
                       static_cast<void>(kind.build(graph, members, stream, {from, to, combine}).final(graph));
                     },
                     in, out, {seed % 5 == 0 ? 1 : 16, seed % 7 == 0 ? 1 : 16, 1});
    if (!group.contains_me()) {
      ASSERT_EQ(out, c.in_place ? operands(seed, rank(), c.n) : Words(out.size(), untouched));
      continue;
    }
    const auto f = [&](std::uint64_t a, std::uint64_t b) { return combine.commutes() ? a + b : compose(a, b); };
    ASSERT_EQ(out, combined(seed, c.ranks, 0, c.n, f));
    Exchanged expected;
    const Stream whole = Stream::cut(c.n, 8, c.strands, c.segment);
    for (const collective::Segment& segment : whole.segments())
      expected += kind.traffic(segment.elements(), 8, group.size(), group.me(), combine.commutes());
    EXPECT_EQ(exchanged(context, "streamed"), expected);
  }
}

// A row and a column of a grid whose last row is shorter: of some groups there are more ranks than of others.
TEST_F(Allreduces, follow_each_other_on_groups_of_different_sizes) {
  const Combine sum(ReduceOperation::sum, Element::uint64);
  const int wide = std::max(1, ranks() / 2);
  const auto some = [&](auto wanted) {
    std::vector<int> members;
    for (int r = 0; r < ranks(); ++r) {
      if (wanted(r)) members.push_back(r);
    }
    return members;
  };
  const Group row(context, some([&](int r) { return r / wide == rank() / wide; }), wide);
  const Group column(context, some([&](int r) { return r % wide == rank() % wide; }), ranks() / wide + 1);
  for (const Kind& first : kinds) {
    for (const Kind& second : kinds) {
      Words data = operands(1, rank(), 500);
      Words none;
      StreamedRun::run(
          context, {some([](int) { return true; }), 0, 500, 2, 64, true},
          [&](Graph& graph, const Group&, const Stream& stream, Place, Place to) {
            const Stream reduced = first.build(graph, row, stream, {to, to, sum});
            const Stream all = second.build(graph, column, reduced, {to, to, sum});
            static_cast<void>(collective::broadcast_chain(graph, Group::all(context), 0, all, to));
          },
          none, data);
      Words expected(500, 0);
      for (const int r : some([&](int other) { return other % wide == 0; })) {
        for (const int other : some([&](int o) { return o / wide == r / wide; })) {
          for (Index i = 0; i < 500; ++i) expected[static_cast<std::size_t>(i)] += operand(1, other, i);
        }
      }
      ASSERT_EQ(data, expected);
    }
  }
}

TEST_F(Allreduces, go_on_however_many_strands_there_are) {
  const Combine sum(ReduceOperation::sum, Element::uint64);
  std::vector<int> all(static_cast<std::size_t>(ranks()));
  std::iota(all.begin(), all.end(), 0);
  for (const bool chains : {true, false}) {
    Words data = operands(2, rank(), 500);
    Words none;
    StreamedRun::run(context, {all, 0, 500, 50, 4, true},
                     [&](Graph& graph, const Group& group, const Stream& stream, Place, Place to) {
                       if (chains) {
                         const Stream reduced = collective::reduce_chain(graph, group, 0, stream, {to, to, sum});
                         static_cast<void>(collective::broadcast_chain(graph, group, 0, reduced, to));
                         return;
                       }
                       Stream reduced = stream;
                       for (const Kind& kind : kinds) reduced = kind.build(graph, group, reduced, {to, to, sum});
                     },
                     none, data, {2, 3, 1});
    Words expected = combined(2, all, 0, 500, std::plus<>());
    for (std::uint64_t& word : expected) word *= chains ? 1 : static_cast<std::uint64_t>(ranks() * ranks());
    EXPECT_EQ(data, expected);
  }
}

using Bytes = std::vector<std::byte>;

template <class T>
Bytes bytes_of_values(Index n, T (*value)(std::uint64_t random, int rank)) {
  Bytes bytes;
  for (Index i = 0; i < n; ++i) {
    const T one = value(random_bits(static_cast<std::uint64_t>(rank()) + 99, static_cast<std::uint64_t>(i)), rank());
    const auto* const first = reinterpret_cast<const std::byte*>(&one);
    bytes.insert(bytes.end(), first, first + sizeof one);
  }
  return bytes;
}

struct IntPair {
  int value;
  int index;
};

/// Runs of one type; what MPI makes of them is the reference, unless it does not know the type.
struct TypedAllreduces : Allreduces {
  Bytes reduce(const Kind& kind, const Bytes& in, const Combine& combine) {
    const Index element = combine.element_bytes();
    const Index n = static_cast<Index>(in.size()) / element;
    Graph graph(2);
    const collective::SlotId from = graph.input(n * element);
    const collective::SlotId to = graph.output(n * element);
    static_cast<void>(kind.build(graph, everyone, Stream::cut(n, element, 2, 100), {{from}, {to}, combine}));
    Bytes out(in.size());
    schedule::Schedule schedule(context, std::move(graph), "typed");
    const schedule::Binding bindings[] = {schedule::Binding::input(in), schedule::Binding::output(out)};
    schedule.start(bindings);
    schedule.wait();
    return out;
  }

  void expect_same_on_all_ranks(const Bytes& out) {
    Bytes first = out;
    MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_BYTE, 0, context.comm().handle());
    EXPECT_EQ(out, first);
  }

  void expect_what_mpi_makes(const Bytes& in, const Combine& combine, MPI_Datatype type, MPI_Op operation) {
    Bytes expected(in.size());
    const auto n = static_cast<int>(static_cast<Index>(in.size()) / combine.element_bytes());
    MPI_Allreduce(in.data(), expected.data(), n, type, operation, context.comm().handle());
    for (const Kind& kind : kinds) {
      const Bytes out = reduce(kind, in, combine);
      expect_same_on_all_ranks(out);
      EXPECT_EQ(out, expected);
    }
  }
};

TEST_F(TypedAllreduces, make_of_integers_and_pairs_what_mpi_does) {
  expect_what_mpi_makes(bytes_of_values<std::int8_t>(777, [](std::uint64_t r, int) { return std::int8_t(r); }),
                        {ReduceOperation::max, Element::int8}, MPI_INT8_T, MPI_MAX);
  const auto pair = [](std::uint64_t r, int me) { return IntPair{static_cast<int>(r % 5), me}; };
  expect_what_mpi_makes(bytes_of_values<IntPair>(501, pair), {ReduceOperation::maxloc, Element::int_int}, MPI_2INT,
                        MPI_MAXLOC);
}

TEST_F(TypedAllreduces, give_sums_of_floats_the_same_bits_on_all_ranks) {
  const auto third = [](std::uint64_t r, int) { return static_cast<float>(r % 1000) / 3.0F; };
  const Bytes in = bytes_of_values<float>(1001, third);
  std::vector<float> own(1001);
  std::vector<float> expected(1001);
  std::memcpy(own.data(), in.data(), in.size());
  MPI_Allreduce(own.data(), expected.data(), 1001, MPI_FLOAT, MPI_SUM, context.comm().handle());
  for (const Kind& kind : kinds) {
    const Bytes out = reduce(kind, in, {ReduceOperation::sum, Element::float32});
    expect_same_on_all_ranks(out);
    std::vector<float> sums(1001);
    std::memcpy(sums.data(), out.data(), out.size());
    for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_NEAR(sums[i], expected[i], 1e-5F * std::abs(expected[i]));
  }

  const auto small = [](std::uint64_t r, int) {  // sums of these are exact
    return simd::to_bfloat16(static_cast<float>(r % 8));
  };
  const Bytes halves = bytes_of_values<simd::BFloat16>(333, small);
  std::vector<float> whole(333);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    simd::BFloat16 one{};
    std::memcpy(&one, halves.data() + 2 * i, 2);
    whole[i] = simd::to_float(one);
  }
  MPI_Allreduce(MPI_IN_PLACE, whole.data(), 333, MPI_FLOAT, MPI_SUM, context.comm().handle());
  for (const Kind& kind : kinds) {
    const Bytes out = reduce(kind, halves, {ReduceOperation::sum, Element::bfloat16});
    for (std::size_t i = 0; i < whole.size(); ++i) {
      simd::BFloat16 one{};
      std::memcpy(&one, out.data() + 2 * i, 2);
      ASSERT_EQ(simd::to_float(one), whole[i]);
    }
  }
}

TEST_F(TypedAllreduces, combine_by_the_users_own_operation_in_order) {
  const auto compose_all = [](void* in, void* inout, int* length, MPI_Datatype*) {
    auto* const left = static_cast<std::uint64_t*>(in);
    auto* const right = static_cast<std::uint64_t*>(inout);
    for (int i = 0; i < *length; ++i) right[i] = Compose{}(left[i], right[i]);
  };
  MPI_Op compose = MPI_OP_NULL;
  MPI_Op_create(compose_all, 0, &compose);
  const auto word = [](std::uint64_t r, int) { return r; };
  expect_what_mpi_makes(bytes_of_values<std::uint64_t>(444, word), mpi::Reduction{compose, MPI_UINT64_T, 8},
                        MPI_UINT64_T, compose);
  MPI_Op_free(&compose);
}

TEST_F(Allreduces, refuse_elements_of_another_size) {
  Graph graph;
  const collective::SlotId slot = graph.output(64);
  const Stream stream = Stream::cut(8, 8, 1, 8);
  const Combine floats(ReduceOperation::sum, Element::float32);
  for (const Kind& kind : kinds)
    EXPECT_THROW(static_cast<void>(kind.build(graph, everyone, stream, {{slot}, {slot}, floats})), ArgumentError);
}

}  // namespace
}  // namespace plait::test
