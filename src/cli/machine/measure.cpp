#include "cli/machine/measure.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "plait/base/memory.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/dense/blas/blas.hpp"
#include "plait/dense/blas/blas_threads.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/message.hpp"
#include "plait/mpi/request.hpp"
#include "plait/simd/reduce/element_of.hpp"
#include "plait/simd/reduce/reduce.hpp"
#include "plait/simd/transform/copy.hpp"

#include "cli/host/text.hpp"

namespace plait::cli {

namespace {

/// How long all ranks take to do `work`, each its own: from when the first begins to when the last is done, in seconds,
/// the same on every rank. Some microseconds too long rather than too short: where ranks take turns on a core, one that
/// looks at its own time only would not see that it waited for the others. Collective over `context`.
template <class Work>
double seconds_together(const mpi::Context& context, const Work& work) {
  mpi::barrier(context.comm());
  const Stopwatch watch;
  mpi::barrier(context.comm());  // all watches run
  work();
  return mpi::all_reduce(context.comm(), watch.seconds(), mpi::Operation::maximum());
}

/// Where this rank sends messages to and gets them from in a measurement; nowhere, if it only waits for the others.
struct Peers {
  std::optional<int> to = {};
  std::optional<int> from = {};
};

constexpr Index bytes_under_way = 16'000'000;
constexpr std::size_t most_under_way = 16;

/// Times messages of this rank among those of others, which all begin together.
class MessageStream {
 public:
  /// For messages of at most `most_bytes` bytes.
  MessageStream(mpi::Context& context, Index most_bytes)
      : context_(context),
        tag_(context.reserve_tags(1)),
        sent_(most_bytes),
        received_(std::max(bytes_under_way, 2 * most_bytes)) {
    std::ranges::fill(sent_.span(), std::byte{1});  // so that all of it is there
    std::ranges::fill(received_.span(), std::byte{0});
  }

  /// Until the last of `messages` messages of `bytes` bytes has reached the last rank that gets any: in seconds, the
  /// same on every rank. Several are under way at once. Collective; peers fit each other.
  [[nodiscard]] double seconds(Peers peers, Index bytes, int messages) {
    const mpi::Communicator& comm = context_.comm();
    std::array<mpi::Request, most_under_way> sends;
    std::array<mpi::Request, most_under_way> receives;
    const auto window = at(std::clamp<Index>(bytes_under_way / std::max<Index>(1, bytes), 2, Index{most_under_way}));
    const auto size = at(bytes);
    return seconds_together(context_, [&] {
      for (int message = 0; message < messages; ++message) {
        const std::size_t slot = at(message) % window;
        if (peers.from) {
          receives[slot].wait();
          receives[slot] =
              mpi::start_receive(comm, received_.span().subspan(slot * size, size), *peers.from, tag_.first());
        }
        if (peers.to) {
          sends[slot].wait();
          sends[slot] = mpi::start_send(comm, sent_.span().first(size), *peers.to, tag_.first());
        }
      }
      mpi::wait_all(receives);
      mpi::wait_all(sends);
    });
  }

  /// One way of an empty message between a rank and its peer, in the mean over `round_trips`: in seconds, of the
  /// slowest pair, the same on every rank. Collective.
  /// \param peer    the other rank of a pair, if this one is in one
  /// \param begins  whether this rank of the pair sends first
  [[nodiscard]] double latency_seconds(std::optional<int> peer, bool begins, int round_trips) {
    const mpi::Communicator& comm = context_.comm();
    mpi::barrier(comm);
    const Stopwatch watch;
    for (int trip = 0; peer && trip < round_trips; ++trip) {
      if (begins) mpi::start_send(comm, {}, *peer, tag_.first()).wait();
      mpi::start_receive(comm, {}, *peer, tag_.first()).wait();
      if (!begins) mpi::start_send(comm, {}, *peer, tag_.first()).wait();
    }
    const double own = peer ? watch.seconds() / (2.0 * round_trips) : 0;
    return mpi::all_reduce(comm, own, mpi::Operation::maximum());
  }

 private:
  mpi::Context& context_;
  mpi::Tags tag_;
  Array<std::byte> sent_;
  Array<std::byte> received_;  // of all messages under way
};

constexpr Index bytes_of_node = Index{512} << 20;  // more than the caches of all of its ranks together
constexpr Index quick_bytes_of_node = Index{64} << 20;
constexpr Index least_bytes_of_rank = Index{8} << 20;
constexpr Index most_bytes_of_rank = Index{256} << 20;
constexpr Index segment_elements = 7'500;  // 60 kB: as messages bring them

// Of the shortest of some runs: what else runs on the machine can only make them longer.
template <class Work>
double shortest_seconds(mpi::Context& context, const Effort& effort, const Work& work) {
  work();
  double shortest = std::numeric_limits<double>::infinity();
  double spent = 0;  // the same on all ranks
  const int least_runs = effort.quick ? 1 : 3;
  for (int run = 0; run < least_runs || (spent < effort.seconds / 3 && run < 10 * least_runs); ++run) {
    const double seconds = seconds_together(context, work);
    shortest = std::min(shortest, seconds);
    spent += seconds;
  }
  return shortest;
}

std::uint64_t sum_of(std::span<const std::uint64_t> words) {
  std::uint64_t sum = 0;
  const auto count = static_cast<Index>(words.size());
  const std::uint64_t* const data = words.data();
#pragma omp simd reduction(+ : sum)
  for (Index i = 0; i < count; ++i) sum += data[i];
  return sum;
}

using model::BandwidthCurve;
using model::Link;
using Points = std::vector<BandwidthCurve::Point>;

// None is a power of two: MPI adds to messages, and with that the longest ones that it sends without asking are a bit
// shorter.
constexpr std::array<Index, 10> all_sizes{1'000,  4'000,   8'000,   16'000,    32'000,
                                          60'000, 128'000, 256'000, 1'000'000, 4'000'000};
constexpr std::array<Index, 4> quick_sizes{1'000, 16'000, 60'000, 1'000'000};
constexpr double longest_sample_seconds = 0.05;
constexpr double longest_message_seconds = 0.2;  // longer ones are left out: the link is slow, and the rate known
constexpr int fewest_messages = 4;
constexpr int most_messages = 20'000;

// Of a few samples: what else runs on the machine can only make them longer.
template <class Sample>
double shortest(int samples, const Sample& sample) {
  double seconds = std::numeric_limits<double>::infinity();
  for (int i = 0; i < samples; ++i) seconds = std::min(seconds, sample());
  return std::max(1e-9, seconds);
}

/// Ranks that send to each other at once, in this order, and which of them this one is; none, if it takes no part.
struct Group {
  std::vector<int> ranks = {};
  int own = 0;

  /// One way: the first of each two neighbours sends to the second one; the last one of an odd number takes no part.
  [[nodiscard]] Peers pairs() const {
    const auto partner = at(own ^ 1);
    if (partner >= ranks.size()) return {};
    return own % 2 == 0 ? Peers{.to = ranks[partner]} : Peers{.from = ranks[partner]};
  }
  /// Both ways: each sends to the next one.
  [[nodiscard]] Peers ring() const {
    const std::size_t count = ranks.size();
    if (count == 0) return {};
    return {.to = ranks[(at(own) + 1) % count], .from = ranks[(at(own) + count - 1) % count]};
  }
};

/// The ranks of all nodes, and where this one is among them.
struct Nodes {
  std::vector<std::vector<int>> ranks;
  int node;
  int index;  // in its node

  explicit Nodes(const mpi::Context& context)
      : ranks(at(context.topology().nodes())),
        node(context.topology().node_of(context.rank())),
        index(context.topology().node_rank_of(context.rank())) {
    for (int rank = 0; rank < context.size(); ++rank) ranks[at(context.topology().node_of(rank))].push_back(rank);
  }
  /// The first ranks of this rank's node, if it has so many.
  [[nodiscard]] Group in_node(int count) const {
    const std::vector<int>& all = ranks[at(node)];
    if (at(count) > all.size() || index >= count) return {};
    return {{all.begin(), all.begin() + count}, index};
  }
  /// The ranks of this rank's index, one of each node, for the first `count` indices.
  /// \pre  all nodes have so many
  [[nodiscard]] Group across(int count) const {
    if (index >= count) return {};
    Group group{{}, node};
    for (const std::vector<int>& all : ranks) group.ranks.push_back(all[at(index)]);
    return group;
  }
};

/// 1, 2, 4 … and the most.
std::vector<int> counts_up_to(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

class Measurement {
 public:
  /// \param curves  how many are going to be measured
  Measurement(mpi::Context& context, const Effort& effort, std::size_t curves)
      : effort_(effort),
        sizes_(effort.quick ? std::span<const Index>(quick_sizes) : all_sizes),
        stream_(context, sizes_.back()),
        repeats_(effort.quick ? 2 : 3) {
    const auto samples = static_cast<double>(curves * sizes_.size() * at(repeats_ + 1));
    sample_seconds_ = std::min(longest_sample_seconds, effort.seconds / samples);
  }

  /// \param senders  of each node, which send at once
  [[nodiscard]] BandwidthCurve curve(const std::string& what, Peers peers, int senders) {
    effort_.tell(what);
    std::vector<double> seconds;
    for (const Index bytes : sizes_) {
      seconds.push_back(message_seconds(peers, bytes));
      if (seconds.back() * 4 > longest_message_seconds) break;  // the next size is about four times as long
    }
    Points points(seconds.size());
    double of_longer = std::numeric_limits<double>::infinity();
    for (std::size_t i = seconds.size(); i-- > 0;) {
      // A longer one that took less time shows that this one was disturbed.
      of_longer = std::min(of_longer, seconds[i]);
      points[i] = {sizes_[i], static_cast<double>(senders * sizes_[i]) / of_longer};
    }
    return BandwidthCurve(std::move(points));
  }

  /// A link of which the latency is measured, between the ranks of pairs, and no bandwidth yet.
  [[nodiscard]] Link link(const std::string& what, Peers pair) {
    effort_.tell(what);
    const auto peer = pair.to ? pair.to : pair.from;
    const bool begins = pair.to.has_value();
    constexpr int first_trips = 20;
    const double first = std::max(1e-9, stream_.latency_seconds(peer, begins, first_trips));
    const int trips = std::clamp(static_cast<int>(sample_seconds_ / (2 * first)), first_trips, most_messages);
    const double seconds = shortest(2 * repeats_ + 1, [&] { return stream_.latency_seconds(peer, begins, trips); });
    return {.measured = true, .latency_seconds = seconds, .streams = {}};
  }

 private:
  // From one message to the next. The first few open connections; then so many as fill the time of a sample.
  double message_seconds(Peers peers, Index bytes) {
    int messages = fewest_messages;
    static_cast<void>(stream_.seconds(peers, bytes, messages));
    double seconds = stream_.seconds(peers, bytes, messages);
    while (seconds < sample_seconds_ / 2 && messages < most_messages) {
      const double factor = std::clamp(sample_seconds_ / std::max(1e-9, seconds), 2.0, 16.0);
      messages = std::min(most_messages, static_cast<int>(factor * messages));
      seconds = stream_.seconds(peers, bytes, messages);
    }
    const int more = seconds > 2 * longest_sample_seconds ? 0 : repeats_ - 1;
    return std::min(seconds, shortest(more, [&] { return stream_.seconds(peers, bytes, messages); })) / messages;
  }

  const Effort& effort_;
  std::span<const Index> sizes_;
  MessageStream stream_;
  int repeats_;
  double sample_seconds_;
};

}  // namespace

MemoryRates measure_memory(mpi::Context& context, const Effort& effort) {
  const int ranks = context.topology().ranks_per_node();
  const Index bytes =
      std::clamp((effort.quick ? quick_bytes_of_node : bytes_of_node) / ranks, least_bytes_of_rank, most_bytes_of_rank);
  const Index elements = bytes / Index{sizeof(double)};
  auto arrays = mpi::agreed(context, [&] { return std::pair(Array<double>(elements), Array<double>(elements)); });
  Array<double>&source = arrays.first, &target = arrays.second;
  std::ranges::fill(source.span(), 0.0);
  std::ranges::fill(target.span(), 0.0);
  const auto of_node = static_cast<double>(ranks * bytes);
  MemoryRates rates;

  effort.tell("reading memory");
  std::uint64_t sum = 0;
  rates.read = of_node / shortest_seconds(context, effort, [&] {
                 sum += sum_of({reinterpret_cast<const std::uint64_t*>(source.data()), at(elements)});
               });
  target[0] = static_cast<double>(sum);  // so that it is needed

  effort.tell("copying memory");
  rates.copy = of_node / shortest_seconds(context, effort, [&] {
                 simd::stream_copy(reinterpret_cast<std::byte*>(target.data()),
                                   reinterpret_cast<const std::byte*>(source.data()), bytes, simd::selected_isa(),
                                   simd::Stores::streaming);
               });

  effort.tell("combining");
  simd::ReduceKernel* const add = simd::reduce_kernel(simd::ReduceOperation::sum, simd::element_of<double>());
  rates.combine = static_cast<double>(bytes) / shortest_seconds(context, effort, [&] {
                    for (Index begin = 0; begin < elements; begin += segment_elements) {
                      add(std::min(segment_elements, elements - begin), source.data(), target.data() + begin);
                    }
                  });
  return rates;
}

double measure_products(mpi::Context& context, const Effort& effort) {
  effort.tell("multiplying matrices");
  const Index n = effort.quick ? 512 : 2048;
  std::vector<Array<double>> arrays = mpi::agreed(context, [&] {
    std::vector<Array<double>> all;
    for (int i = 0; i < 3; ++i) all.emplace_back(n * n);
    return all;
  });
  for (Array<double>& array : arrays) std::ranges::fill(array.span(), 1.0);
  const auto view = [n](Array<double>& array) { return matrix_view<double>(array.data(), n, n, n); };
  const dense::BlasThreads few(context.topology().share_of_cores());
  const double seconds = shortest_seconds(context, effort, [&] {
    dense::gemm(dense::Op::identity, dense::Op::identity, 1.0, view(arrays[0]), view(arrays[1]), 0.0, view(arrays[2]));
  });
  const auto of_one = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  return context.topology().ranks_per_node() * of_one / seconds;
}

Link measure_node_link(mpi::Context& context, const Effort& effort) {
  const Nodes nodes(context);
  const int most = context.topology().ranks_per_node();
  if (most == 1) return model::default_machine(mpi::network_message).node;
  const std::vector<int> counts = counts_up_to(most);
  Measurement measurement(context, effort, 2 * counts.size());
  Link link = measurement.link("latency within a node", nodes.in_node(2).pairs());
  for (const int senders : counts) {
    const std::string who = fmt::format("messages within a node, {}", counted(senders, "rank"));
    const int one_way = std::min(senders, most / 2);
    BandwidthCurve from_pairs = one_way < senders
                                    ? link.streams.back().one_way
                                    : measurement.curve(who + " one way", nodes.in_node(2 * one_way).pairs(), one_way);
    const int in_ring = std::max(2, senders);  // of an exchange of two, each sees what one of two has
    BandwidthCurve around = measurement.curve(who + " both ways", nodes.in_node(in_ring).ring(), senders);
    link.streams.push_back({senders, std::move(from_pairs), std::move(around)});
  }
  return link;
}

Link measure_network_link(mpi::Context& context, const Effort& effort) {
  const Nodes nodes(context);
  if (nodes.ranks.size() == 1) return model::default_machine(mpi::network_message).network;
  const auto size_of = [](const std::vector<int>& ranks) { return ranks.size(); };
  const std::vector<int> counts = counts_up_to(static_cast<int>(std::ranges::min(nodes.ranks, {}, size_of).size()));
  Measurement measurement(context, effort, 2 * counts.size());
  Link link = measurement.link("latency between nodes", nodes.across(1).pairs());
  for (const int senders : counts) {
    const std::string who = fmt::format("messages between nodes, {} of each", counted(senders, "rank"));
    const Group group = nodes.across(senders);
    BandwidthCurve one_way = measurement.curve(who + " one way", group.pairs(), senders);
    BandwidthCurve both_ways = measurement.curve(who + " both ways", group.ring(), senders);
    link.streams.push_back({senders, std::move(one_way), std::move(both_ways)});
  }
  return link;
}

}  // namespace plait::cli
