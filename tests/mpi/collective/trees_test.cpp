#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/random.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/schedule.hpp"

#include "support/ranks.hpp"

namespace plait::test {
namespace {

using collective::Graph;
using collective::Group;
using collective::Stream;
using collective::Tree;
using collective::TreeShape;
using schedule::Combine;

struct Trees : ::testing::Test {
  mpi::Context context{test_comm()};
};

TEST_F(Trees, join_all_ranks_at_rising_levels_with_consecutive_subtrees) {
  for (const TreeShape shape : {TreeShape::binomial, TreeShape::linear}) {
    for (int size = 1; size <= 20; ++size) {
      for (int root = 0; root < size; ++root) {
        int joined = 1;
        for (int me = 0; me < size; ++me) {
          const Tree own = collective::tree(shape, size, root, me);
          ASSERT_EQ(own.parent < 0, me == root);
          int members = 1;
          int level = -1;
          for (const Tree::Child& child : own.children) {
            const Tree other = collective::tree(shape, size, root, child.index);
            ASSERT_EQ(other.parent, me);
            ASSERT_EQ(other.parent_level, child.level);
            ASSERT_EQ(std::pair(other.first, other.last), std::pair(child.first, child.last));
            ASSERT_TRUE(shape == TreeShape::linear || child.level > level);
            level = child.level;
            members += child.last - child.first;
            ++joined;
          }
          ASSERT_LT(level, me == root ? collective::depth(shape, size) : std::max(own.parent_level, 1));
          ASSERT_EQ(members, own.last - own.first);
          ASSERT_TRUE(own.first <= me && me < own.last);
        }
        ASSERT_EQ(joined, size);
      }
    }
  }
}

// A sum of floats shows how it was bracketed.
TEST_F(Trees, reduce_to_the_same_bits_whichever_the_root_is) {
  const Combine sum(simd::ReduceOperation::sum, simd::Element::float32);
  const Group group = Group::all(context);
  const Stream stream = Stream::cut(100, sizeof(float), 2, 16);
  std::vector<float> in(100);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = 1.0F / static_cast<float>(1 + random_bits(static_cast<std::uint64_t>(rank()), i) % 1000);
  std::vector<float> kept;
  for (int root = 0; root < group.size(); ++root) {
    Graph graph(2);
    const collective::SlotId from = graph.input(400);
    const collective::SlotId to = graph.output(400);
    static_cast<void>(collective::reduce_binomial(graph, group, root, stream, {{from}, {to}, sum}));
    schedule::Schedule schedule(context, std::move(graph), "sum");
    std::vector<float> out(100);
    schedule.start(std::vector{schedule::Binding::input(std::as_bytes(std::span(in))),
                               schedule::Binding::output(std::as_writable_bytes(std::span(out)))});
    schedule.wait();
    MPI_Bcast(out.data(), 100, MPI_FLOAT, root, test_comm());
    if (root == 0) kept = out;
    ASSERT_EQ(out, kept) << root;
  }
}

}  // namespace
}  // namespace plait::test
