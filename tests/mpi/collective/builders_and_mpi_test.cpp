// What builders bring about is what MPI's own collectives do, on communicators of the same ranks.
#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "plait/collective/algorithm/exchange.hpp"
#include "plait/collective/algorithm/rooted.hpp"

#include "mpi/collective/block_cases.hpp"
#include "mpi/collective/rooted.hpp"

namespace plait::test {
namespace {

using collective::Blocks;
using collective::Graph;
using collective::Group;
using collective::Place;
using collective::Stream;
using collective::TreeShape;
using schedule::Combine;

void compose_all(void* in, void* inout, int* length, MPI_Datatype*) {
  const auto* const left = static_cast<const std::uint64_t*>(in);
  auto* const right = static_cast<std::uint64_t*>(inout);
  for (int i = 0; i < *length; ++i) right[i] = Compose{}(left[i], right[i]);
}

std::vector<int> ints(const std::vector<Index>& values) { return {values.begin(), values.end()}; }

// The first `size` ranks, and a communicator of these.
struct SubGroup {
  explicit SubGroup(int size) : c{{}, size / 2, 200, 3, 16, false} {
    for (int r = 0; r < size; ++r) c.ranks.push_back(r);
    MPI_Comm_split(test_comm(), rank() < size ? 0 : MPI_UNDEFINED, rank(), &comm);
  }
  SubGroup(const SubGroup&) = delete;
  SubGroup& operator=(const SubGroup&) = delete;
  ~SubGroup() {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  [[nodiscard]] bool is_root() const { return rank() == c.root; }
  [[nodiscard]] int count() const { return static_cast<int>(c.n); }

  StreamCase c;
  MPI_Comm comm = MPI_COMM_NULL;
};

struct BuildersAndMpi : ::testing::Test {
  mpi::Context context{test_comm()};

  // What `build` makes of these words, in memory for so many.
  Words run(const StreamCase& c, Words in, std::size_t out_words, const StreamedRun::Build& build) {
    Words out(out_words);
    StreamedRun::run(context, c, build, in, out);
    return out;
  }
};

TEST_F(BuildersAndMpi, broadcast_and_reduce_alike) {
  const Compose compose;
  const Combine in_order = Combine::elementwise<std::uint64_t>(compose);
  MPI_Op operation = MPI_OP_NULL;
  MPI_Op_create(compose_all, 0, &operation);
  for (int size = ranks() <= 9 ? 1 : ranks(); size <= ranks(); ++size) {
    const SubGroup sub(size);
    const Words own = operands(static_cast<std::uint64_t>(size), rank(), sub.c.n);
    Words sent = own;
    Words reduced(own.size());
    if (sub.comm != MPI_COMM_NULL) {
      MPI_Bcast(sent.data(), sub.count(), MPI_UINT64_T, sub.c.root, sub.comm);
      MPI_Reduce(own.data(), reduced.data(), sub.count(), MPI_UINT64_T, operation, sub.c.root, sub.comm);
    }
    StreamCase in_place = sub.c;
    in_place.in_place = true;
    const auto scattered_broadcast = [](Graph& graph, const Group& group, int root, const Stream& stream, Place data) {
      return collective::broadcast_scatter_all_gather(graph, group, root, TreeShape::binomial,
                                                      collective::AllGatherWay::doubling, stream, data);
    };
    using Broadcast = Stream (*)(Graph&, const Group&, int, const Stream&, Place);
    for (const Broadcast broadcast :
         {collective::broadcast_binomial, collective::broadcast_chain, Broadcast(scattered_broadcast)}) {
      Words data = own;
      Words none;
      StreamedRun::run(
          context, in_place,
          [&](Graph& graph, const Group& group, const Stream& stream, Place, Place out) {
            static_cast<void>(broadcast(graph, group, sub.c.root, stream, out));
          },
          none, data);
      EXPECT_EQ(data, sent);
    }
    const auto scattered_reduce = [](Graph& graph, const Group& group, int root, const Stream& stream,
                                     const collective::Reducing& how) {
      return collective::reduce_halving_gather(graph, group, root, TreeShape::linear, stream, how);
    };
    using Reduce = Stream (*)(Graph&, const Group&, int, const Stream&, const collective::Reducing&);
    for (const Reduce reduce :
         {Reduce(collective::reduce_binomial), Reduce(collective::reduce_chain), Reduce(scattered_reduce)}) {
      EXPECT_EQ(run(sub.c, own, own.size(),
                    [&](Graph& graph, const Group& group, const Stream& stream, Place in, Place out) {
                      static_cast<void>(reduce(graph, group, sub.c.root, stream, {in, out, in_order}));
                    }),
                reduced);
    }
  }
  MPI_Op_free(&operation);
}

TEST_F(BuildersAndMpi, scatter_gather_and_exchange_alike) {
  for (int size = ranks() <= 9 ? 1 : ranks(); size <= ranks(); ++size) {
    const SubGroup sub(size);
    const auto seed = static_cast<std::uint64_t>(size);
    const std::vector<Index> counts = ragged_counts(sub.c, seed);
    std::vector<Index> begins = begins_of(counts);
    const auto n = static_cast<std::size_t>(begins.back());
    const bool is_member = sub.comm != MPI_COMM_NULL;
    const auto own = static_cast<std::size_t>(is_member ? rank() : 0);
    const Words all = operands(seed, rank(), begins.back());
    Words block(static_cast<std::size_t>(is_member ? counts[own] : 0));
    Words gathered(n);
    Words exchanged(static_cast<std::size_t>(is_member ? counts[own] * size : 0));
    const std::vector<int> lengths = ints(counts);
    const std::vector<int> starts = ints(begins);
    std::vector<int> same(static_cast<std::size_t>(size), is_member ? lengths[own] : 0);
    std::vector<int> same_starts(same.size(), 0);
    std::exclusive_scan(same.begin(), same.end(), same_starts.begin(), 0);
    if (is_member) {
      MPI_Scatterv(all.data(), lengths.data(), starts.data(), MPI_UINT64_T, block.data(), lengths[own], MPI_UINT64_T,
                   sub.c.root, sub.comm);
      MPI_Gatherv(all.data() + begins[own], lengths[own], MPI_UINT64_T, gathered.data(), lengths.data(), starts.data(),
                  MPI_UINT64_T, sub.c.root, sub.comm);
      MPI_Alltoallv(all.data(), lengths.data(), starts.data(), MPI_UINT64_T, exchanged.data(), same.data(),
                    same_starts.data(), MPI_UINT64_T, sub.comm);
    }
    for (const TreeShape shape : {TreeShape::binomial, TreeShape::linear}) {
      const Blocks blocks = Blocks::cut(counts, 8, sub.c.strands, sub.c.segment);
      const Words scattered =
          run(sub.c, all, n, [&](Graph& graph, const Group& group, const Stream&, Place in, Place out) {
            static_cast<void>(scatter(graph, group, sub.c.root, shape, blocks, in, out));
          });
      if (is_member) {
        EXPECT_TRUE(std::equal(block.begin(), block.end(), scattered.begin() + begins[own]));
      }
      EXPECT_EQ(run(sub.c, all, n,
                    [&](Graph& graph, const Group& group, const Stream&, Place in, Place out) {
                      static_cast<void>(gather(graph, group, sub.c.root, shape, blocks, in, out));
                    }),
                gathered);
    }
    for (const auto order : {collective::ExchangeOrder::pairwise, collective::ExchangeOrder::spread}) {
      EXPECT_EQ(run(sub.c, all, exchanged.size(),
                    [&](Graph& graph, const Group& group, const Stream&, Place in, Place out) {
                      const std::vector<Index> column(same.begin(), same.end());
                      static_cast<void>(all_to_all(graph, group, order,
                                                   {.sent = Blocks::cut(counts, 8, sub.c.strands, sub.c.segment),
                                                    .received = Blocks::cut(column, 8, sub.c.strands, sub.c.segment)},
                                                   in, out));
                    }),
                exchanged);
    }
  }
}

}  // namespace
}  // namespace plait::test
