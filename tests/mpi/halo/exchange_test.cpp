#include "plait/halo/exchange.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

#include "mpi/mpi/pretended_nodes.hpp"
#include "support/message_of.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using halo::Exchange;
using halo::Field;
using halo::Filling;
using halo::Reach;
using layout::Box;
using layout::BoxPartition;
using layout::Point;
using ::testing::HasSubstr;

// A different one at each point of each field in each run.
double value_at(const Box& whole, const Point& point, std::uint64_t field, std::uint64_t run) {
  return random_uniform(run * 100 + field, static_cast<std::uint64_t>(whole.offset_of(point)));
}

BoxPartition random_partition(Random& random, const Box& whole, std::size_t first_axis) {
  BoxPartition::Splits splits;
  Index left = ranks();
  for (std::size_t a = 0; a < layout::axes; ++a) {
    const Index parts = a < first_axis ? 1 : random(1, left);
    left /= parts;
    splits[a] = {0, whole.high[a]};
    while (std::ssize(splits[a]) <= parts) splits[a].push_back(random(0, whole.high[a]));
    std::ranges::sort(splits[a]);
  }
  return {splits, ranks()};
}

Filling random_filling(Random& random) {
  const auto first_axis = static_cast<std::size_t>(random(0, 2));
  Box whole{{}, {1, 1, 1}};
  Point width{};
  std::array<bool, 3> periodic{};
  for (std::size_t a = first_axis; a < layout::axes; ++a) {
    whole.high[a] = random(1, 12);
    width[a] = random(0, random(0, 1) == 0 ? 2 : 15);
    periodic[a] = random(0, 1) == 1;
  }
  const BoxPartition partition = random_partition(random, whole, first_axis);
  const auto reach = static_cast<Reach>(random(0, 2));
  Filling filling = Filling::ghosts(partition, width, periodic, reach);
  for (Index& layers : filling.to_layers) layers += random(0, 1);
  filling.from_layers = filling.to_layers;
  if (reach != Reach::corners_by_axes && random(0, 1) == 1) {
    filling.in_place = false;
    filling.to = random_partition(random, whole, first_axis);
    filling.from_layers[2] = random(0, 3);
  }
  return filling;
}

constexpr double untouched = -7;

// Begins with the point of the whole box that a target's point is a copy of, if it is one.
bool is_filled(const Filling& filling, const Box& own, const Point& point, Point& original) {
  int beyond = 0;
  for (std::size_t a = 0; a < layout::axes; ++a) {
    const Index extent = filling.from.whole().high[a];
    if (point[a] < own.low[a] - filling.width[a] || point[a] >= own.high[a] + filling.width[a]) return false;
    if (!filling.periodic[a] && (point[a] < 0 || point[a] >= extent)) return false;
    beyond += point[a] < own.low[a] || point[a] >= own.high[a] ? 1 : 0;
    original[a] = ((point[a] % extent) + extent) % extent;
  }
  return beyond < 2 || filling.reach != Reach::faces;
}

// Whether another rank has what this one needs: where it comes by axes, that is the neighbour on the last one.
bool comes_from_another(const Filling& filling, const Box& own, const Point& point, const Point& original) {
  if (filling.reach != Reach::corners_by_axes) return filling.from.owner_of(original) != rank();
  std::size_t last = 0;
  for (std::size_t a = 0; a < layout::axes; ++a) last = point[a] < own.low[a] || point[a] >= own.high[a] ? a : last;
  return original[last] < own.low[last] || original[last] >= own.high[last];
}

template <class T>
void expect_filled(mpi::Context& context, const Filling& filling, int fields) {
  Exchange exchange(context, filling, sizeof(T), fields);
  const Box whole = filling.from.whole();
  const Box source_box = filling.from.box(rank()), target_box = filling.to.box(rank());
  const Box source_memory = source_box.grown(filling.from_layers), target_memory = target_box.grown(filling.to_layers);
  for (std::uint64_t run = 0; run < 3; ++run) {
    std::vector<std::vector<T>> sources, targets;
    std::vector<Field> bound;
    for (int f = 0; f < fields; ++f) {
      const auto field = static_cast<std::uint64_t>(f);
      sources.emplace_back(at(source_memory.points()), T{untouched});
      targets.emplace_back(at(target_memory.points()), T{untouched});
      for_each_point(source_box, [&](const Point& p) {
        sources.back()[at(source_memory.offset_of(p))] = T(value_at(whole, p, field, run));
      });
    }
    if (filling.in_place) targets = sources;
    for (std::size_t f = 0; f < sources.size(); ++f) {
      bound.push_back({filling.in_place ? targets[f].data() : sources[f].data(), targets[f].data()});
    }
    context.counters().clear();
    exchange.begin(bound);
    exchange.progress();
    exchange.finish();

    Index received = 0, wrong = 0;
    for_each_point(target_memory, [&](const Point& p) {
      Point original{};
      const bool filled = is_filled(filling, target_box, p, original);
      const bool is_own = target_box.contains(p);
      const bool is_needed = filled && !(is_own && filling.in_place);
      received += is_needed && comes_from_another(filling, target_box, p, original) ? fields : 0;
      for (std::size_t f = 0; f < targets.size(); ++f) {
        const T expected = filled ? T(value_at(whole, original, f, run)) : T{untouched};
        wrong += targets[f][at(target_memory.offset_of(p))] == expected ? 0 : 1;
      }
    });
    EXPECT_EQ(wrong, 0);
    Index counted = 0;
    for (const PeerClass peer : {PeerClass::node, PeerClass::network}) {
      counted += context.counters()["halo"].received_from(peer).bytes;
    }
    EXPECT_EQ(counted, received * Index{sizeof(T)});
  }
}

struct Large {  // an element of 24 bytes
  double value, twice, negative;
  explicit Large(double x) : value(x), twice(2 * x), negative(-x) {}
  friend bool operator==(const Large&, const Large&) = default;
};

void expect_random_fillings(std::uint64_t first_seed) {
  mpi::Context context(test_comm());
  for (std::uint64_t seed = first_seed; seed < first_seed + 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random{seed};
    const Filling filling = random_filling(random);
    const auto fields = static_cast<int>(random(1, 3));
    switch (random(0, 2)) {
      case 0: expect_filled<float>(context, filling, fields); break;
      case 1: expect_filled<double>(context, filling, fields); break;
      default: expect_filled<Large>(context, filling, fields);
    }
  }
}

TEST(Halo, FillsWhatIsWithinReachAndNothingElse) { expect_random_fillings(0); }

TEST(Halo, DoesTheSameBetweenNodes) {
  const PretendedNodes pretended({2, 1, ranks()});
  expect_random_fillings(1000);
}

TEST(Halo, ReceivesAsManyWordsAsTheFacesHave) {
  mpi::Context context(test_comm());
  const auto p = static_cast<Index>(ranks());
  const BoxPartition slices(Box{{}, {1, 4 * p, 10}}, {1, ranks(), 1}, ranks());
  Exchange exchange(context, Filling::ghosts(slices, {0, 2, 2}, {false, true, false}), sizeof(double));
  std::vector<double> u(8 * 14);
  exchange(u.data());
  const auto& counters = context.counters()["halo"];
  const Index received =
      counters.received_from(PeerClass::node).bytes + counters.received_from(PeerClass::network).bytes;
  EXPECT_EQ(received, p == 1 ? 0 : Index{2 * 2 * 10 * sizeof(double)});
  EXPECT_EQ(counters.received_from(PeerClass::node).messages, p == 1 ? 0 : p == 2 ? 1 : 2);
}

TEST(Halo, FillsCornersByAxesWithAsManyMessagesAsFaces) {
  mpi::Context context(test_comm());
  for (const BoxPartition::Parts& parts : {BoxPartition::Parts{1, 2, ranks() / 2}, {1, 2, 2}, {2, 2, 2}}) {
    if (parts[1] * parts[2] < 1 || parts[0] * parts[1] * parts[2] > ranks()) continue;
    const BoxPartition partition(Box{{}, {8, 12, 40}}, parts, ranks());
    const auto messages = [&](Reach reach) {
      Exchange exchange(context, Filling::ghosts(partition, {2, 2, 2}, {}, reach), sizeof(double));
      std::vector<double> u(at(partition.box(rank()).grown({2, 2, 2}).points()));
      context.counters().clear();
      exchange(u.data());
      const auto& counters = context.counters()["halo"];
      return counters.sent_to(PeerClass::node).messages + counters.sent_to(PeerClass::network).messages;
    };
    EXPECT_EQ(messages(Reach::corners_by_axes), messages(Reach::faces));
  }
}

TEST(Halo, LeavesTimeToComputeBetweenBeginningAndEnd) {
  mpi::Context context(test_comm());
  const BoxPartition slices(Box{{}, {1, 1, 100}}, {1, 1, ranks()}, ranks());
  Exchange exchange(context, Filling::ghosts(slices, {0, 0, 1}, {false, false, true}), sizeof(float));
  const Index n = slices.box(rank()).extent(2);
  std::vector<float> u(at(n + 2), static_cast<float>(rank()));
  for (int run = 0; run < 20; ++run) {
    exchange.begin(u.data());
    for (std::size_t i = 2; i + 2 < u.size(); ++i) u[i] += 1;  // the interior
    exchange.finish();
    EXPECT_EQ(u.front(), static_cast<float>((rank() + ranks() - 1) % ranks()));
    EXPECT_EQ(u.back(), static_cast<float>((rank() + 1) % ranks()));
  }
}

// More than is packed in one turn of progress. The ranks that get it tell that they have it before its owner goes on.
void expect_handed_over_before_its_rank_blocks() {
  mpi::Context context(test_comm());
  constexpr Index points = 65'536;
  constexpr int fields = 8;
  std::vector<Index> on_first(at(ranks() + Index{1}), points), on_last(at(ranks() + Index{1}), 0);
  on_first.front() = 0;
  on_last.back() = points;
  const BoxPartition from(BoxPartition::Splits{{{0, 1}, {0, 1}, on_first}}, ranks());
  const BoxPartition to(BoxPartition::Splits{{{0, 1}, {0, 1}, on_last}}, ranks());
  Exchange exchange(context, {.from = from, .to = to}, sizeof(double), fields);
  std::vector<double> source(at(from.box(rank()).points() * fields)), target(at(to.box(rank()).points() * fields));
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<double>(i);
  std::vector<Field> bound;
  for (Index f = 0; f < fields; ++f) {
    bound.push_back(
        {source.empty() ? nullptr : source.data() + f * points, target.empty() ? nullptr : target.data() + f * points});
  }
  for (int run = 0; run < 3; ++run) {
    std::ranges::fill(target, untouched);
    exchange.begin(bound);
    if (rank() == 0) {
      mpi::barrier(context.comm());
      exchange.finish();
    } else {
      exchange.finish();
      mpi::barrier(context.comm());
    }
    Index wrong = 0;
    for (std::size_t i = 0; i < target.size(); ++i) wrong += target[i] == static_cast<double>(i) ? 0 : 1;
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Halo, HandsOverWhatOthersGetBeforeItsRankBlocksElsewhere) { expect_handed_over_before_its_rank_blocks(); }

TEST(Halo, SendsWhatOtherNodesGetBeforeItsRankBlocksElsewhere) {
  const PretendedNodes pretended(std::vector<int>(at(ranks()), 1));
  expect_handed_over_before_its_rank_blocks();
}

TEST(Halo, NamesWhatIsWrongOnAllRanks) {
  mpi::Context context(test_comm());
  const BoxPartition good = BoxPartition::for_ranks(Box{{}, {1, 8, 8}}, ranks());
  EXPECT_THAT(message_of<ArgumentError>([&] { Exchange(context, Filling::ghosts(good, {0, 1, 1}), 0); }),
              HasSubstr("element_bytes"));
  EXPECT_THAT(message_of<ArgumentError>([&] { Exchange(context, Filling::ghosts(good, {0, -1, 1}), 8); }),
              HasSubstr("-1"));
  const BoxPartition others = BoxPartition::for_ranks(Box{{}, {1, 8, 8}}, ranks() + 1);
  EXPECT_THAT(message_of<ArgumentError>([&] { Exchange(context, Filling::ghosts(others, {0, 1, 1}), 8); }),
              HasSubstr("ranks, expected"));
  Filling other_box = Filling::ghosts(good, {0, 1, 1});
  other_box.to = BoxPartition::for_ranks(Box{{}, {1, 8, 9}}, ranks());
  EXPECT_THAT(message_of<ArgumentError>([&] { Exchange(context, other_box, 8); }), HasSubstr("1 x 8 x 9"));
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { Exchange(context, {.from = good, .to = good, .reach = Reach::corners_by_axes}, 8); }),
              HasSubstr("not filled in place"));
  if (ranks() == 1) return;
  EXPECT_THAT(
      message_of<ArgumentError>([&] { Exchange(context, Filling::ghosts(good, {0, 1, 1}), rank() == 0 ? 4 : 8); }),
      HasSubstr("element_bytes"));
}

}  // namespace
}  // namespace plait::test
