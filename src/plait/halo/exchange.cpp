#include "plait/halo/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/schedule/flags.hpp"

namespace plait::halo {

namespace {

using layout::AxisRun;
using layout::Box;
using layout::BoxPartition;
using layout::Point;

constexpr auto line = static_cast<Index>(Buffer::alignment);

void expect_valid(const mpi::Context& context, const Filling& filling, Index element_bytes, int fields) {
  expect_at_least("element_bytes", element_bytes, 1);
  expect_at_least("fields", fields, 1);
  for (const BoxPartition* partition : {&filling.from, &filling.to}) {
    if (partition->ranks() != context.size()) {
      throw ArgumentError(
          fmt::format("partition: is one for {} ranks, expected {}", partition->ranks(), context.size()));
    }
  }
  if (filling.from.whole() != filling.to.whole() || (filling.in_place && filling.from != filling.to)) {
    throw ArgumentError(fmt::format("partitions: cut {} and {}, expected the same box{}",
                                    layout::describe(filling.from.whole()), layout::describe(filling.to.whole()),
                                    filling.in_place ? " in the same way, as fields are filled in place" : ""));
  }
  if (filling.reach == Reach::corners_by_axes && !filling.in_place) {
    throw ArgumentError("reach: is corners by axes, expected another one, as fields are not filled in place");
  }
  for (std::size_t a = 0; a < layout::axes; ++a) {
    expect_at_least("from_layers", filling.from_layers[a], 0);
    if (filling.width[a] < 0 || filling.width[a] > filling.to_layers[a]) {
      throw ArgumentError(fmt::format("width: is {} on axis {}, expected 0 to {}, the layers that there are",
                                      filling.width[a], a, filling.to_layers[a]));
    }
  }
}

void name_arguments(mpi::Alike& arguments, const Filling& filling, Index element_bytes, int fields) {
  arguments.add("element_bytes", element_bytes);
  arguments.add("fields", fields);
  arguments.add("reach", filling.reach);
  arguments.add("in_place", filling.in_place);
  for (std::size_t a = 0; a < layout::axes; ++a) {
    arguments.add("width", filling.width[a]);
    arguments.add("periodic", filling.periodic[a]);
    for (const Index split : filling.from.splits()[a]) arguments.add("split", split);
    for (const Index split : filling.to.splits()[a]) arguments.add("split", split);
  }
}

// Rows of one element are the faces across the contiguous axis.
template <class Strides>
void copy_rows(const std::byte* from, Strides from_strides, std::byte* to, Strides to_strides, const Point& extent,
               Index row_bytes) {
  const auto copy = [&](auto copy_row) {
    for (Index i = 0; i < extent[0]; ++i) {
      for (Index j = 0; j < extent[1]; ++j) {
        copy_row(to + i * to_strides.plane + j * to_strides.row, from + i * from_strides.plane + j * from_strides.row);
      }
    }
  };
  switch (row_bytes) {
    case 4: copy([](std::byte* t, const std::byte* f) { std::memcpy(t, f, 4); }); break;
    case 8: copy([](std::byte* t, const std::byte* f) { std::memcpy(t, f, 8); }); break;
    case 16: copy([](std::byte* t, const std::byte* f) { std::memcpy(t, f, 16); }); break;
    default: copy([&](std::byte* t, const std::byte* f) { std::memcpy(t, f, at(row_bytes)); });
  }
}

}  // namespace

Exchange::Exchange(mpi::Context& context, const Filling& filling, Index element_bytes, int fields, std::string label)
    : context_(context), element_bytes_(element_bytes), fields_(fields), label_(std::move(label)) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    name_arguments(arguments, filling, element_bytes, fields);
    expect_valid(context, filling, element_bytes, fields);
    plan(filling);
  });
  share_memory();
  mpi::agreed(context, [&] { build(); });
}

void Exchange::plan(const Filling& filling) {
  const Box source = filling.from.box(context_.rank()).grown(filling.from_layers);
  const Box target = filling.to.box(context_.rank()).grown(filling.to_layers);
  const auto strides = [&](const Box& box) {
    return Strides{box.extent(1) * box.extent(2) * element_bytes_, box.extent(2) * element_bytes_};
  };
  source_strides_ = strides(source);
  target_strides_ = strides(target);
  find_regions(filling);
  Index bytes = 0;
  for (auto [packages, answers] : {std::pair(&outgoing_, &incoming_), std::pair(&incoming_, &outgoing_)}) {
    for (Package& package : *packages) {
      package.offset = bytes;
      bytes += rounded_up(package.bytes, line);
      package.is_answered = std::ranges::any_of(
          *answers, [&](const Package& answer) { return answer.peer == package.peer && answer.turn == package.turn; });
    }
  }
  buffer_ = Buffer(bytes);
  bound_.resize(at(fields_));
}

// Each region is a product of runs of the three axes. Both ends come upon those of a pair of ranks in the same order.
void Exchange::find_regions(const Filling& filling) {
  const auto own_source = filling.from.part_of(context_.rank());
  const auto own_target = filling.to.part_of(context_.rank());
  Runs runs, inner, ghosts, whole;  // of each axis
  for (std::size_t a = 0; a < layout::axes; ++a) {
    const std::vector<Index>& splits = filling.from.splits()[a];
    runs[a] = layout::axis_runs(splits, filling.to.splits()[a], filling.width[a], filling.periodic[a]);
    std::erase_if(runs[a], [&](const AxisRun& run) {
      const bool is_sent = own_source && run.source_part == (*own_source)[a];
      const bool is_received = own_target && run.target_part == (*own_target)[a];
      return !is_sent && !is_received;
    });
    if (filling.reach != Reach::corners_by_axes || !own_source) continue;
    for (const AxisRun& run : runs[a]) (run.is_ghost ? ghosts : inner)[a].push_back(run);
    const int part = (*own_source)[a];
    if (splits[at(part)] == splits[at(part) + 1]) continue;
    const Index before = filling.periodic[a] ? splits[at(part)] - filling.width[a]
                                             : std::max(splits[at(part)] - filling.width[a], Index{0});
    const Index end = splits[at(part) + 1] + filling.width[a];
    const Index length = (filling.periodic[a] ? end : std::min(end, splits.back())) - before;
    whole[a] = {{part, part, false, before, before, length}};
  }
  if (filling.reach == Reach::corners_by_axes) {
    const auto all = [](int) { return true; };
    add_regions(filling, {ghosts[0], inner[1], inner[2]}, 0, all);
    add_regions(filling, {whole[0], ghosts[1], inner[2]}, 1, all);
    add_regions(filling, {whole[0], whole[1], ghosts[2]}, 2, all);
  } else {
    add_regions(filling, runs, 0, [&](int beyond) {
      return (beyond > 0 || !filling.in_place) && (beyond < 2 || filling.reach == Reach::corners);
    });
  }
}

/// \param is_wanted  asked whether regions are that lie beyond faces on so many axes
template <class IsWanted>
void Exchange::add_regions(const Filling& filling, const Runs& runs, Index turn, const IsWanted& is_wanted) {
  const auto own_source = filling.from.part_of(context_.rank());
  const auto own_target = filling.to.part_of(context_.rank());
  const Box source = filling.from.box(context_.rank()).grown(filling.from_layers);
  const Box target = filling.to.box(context_.rank()).grown(filling.to_layers);
  for (const AxisRun& i : runs[0]) {
    for (const AxisRun& j : runs[1]) {
      for (const AxisRun& k : runs[2]) {
        if (!is_wanted(int{i.is_ghost} + int{j.is_ghost} + int{k.is_ghost})) continue;
        const BoxPartition::Parts source_part{i.source_part, j.source_part, k.source_part};
        const BoxPartition::Parts target_part{i.target_part, j.target_part, k.target_part};
        const bool is_sent = own_source == source_part, is_received = own_target == target_part;
        if (!is_sent && !is_received) continue;
        Region region{0, 0, {i.length, j.length, k.length}};
        if (is_sent) region.source = source.offset_of({i.source, j.source, k.source}) * element_bytes_;
        if (is_received) region.target = target.offset_of({i.target, j.target, k.target}) * element_bytes_;
        if (is_sent && is_received) {
          add(own_, context_.rank(), turn, region);
        } else if (is_sent) {
          add(outgoing_, filling.to.rank_of(target_part), turn, region);
        } else {
          add(incoming_, filling.from.rank_of(source_part), turn, region);
        }
      }
    }
  }
}

void Exchange::add(std::vector<Package>& packages, int peer, Index turn, const Region& region) {
  auto package = std::ranges::find_if(packages, [&](const Package& p) { return p.peer == peer && p.turn == turn; });
  if (package == packages.end()) package = packages.insert(packages.end(), {.peer = peer, .turn = turn});
  package->regions.push_back(region);
  package->bytes += region.extent[0] * region.extent[1] * region.extent[2] * element_bytes_ * fields_;
}

Index Exchange::shared_bytes(const Package& package) {
  return rounded_up(package.bytes, line) * (package.is_answered ? 2 : 1);
}

std::byte* Exchange::shared_slot(const Package& package) const {
  return package.shared + (package.is_answered && is_second_slot_ ? rounded_up(package.bytes, line) : 0);
}

schedule::NodeFlags Exchange::flags_of(int rank) const {
  const Index cells = 2 * context_.topology().node().size();
  const std::span<std::byte> segment = shared_->segment(context_.topology().node_rank_of(rank));
  return {segment.first(at(cells * Index{sizeof(schedule::FlagCell)})), cells};
}

// Where a node has too little shared memory, its ranks send each other messages.
void Exchange::share_memory() {
  const mpi::NodeTopology& topology = context_.topology();
  const mpi::Communicator& node = topology.node();
  if (node.size() == 1) return;
  const Index flag_bytes = 2 * node.size() * Index{sizeof(schedule::FlagCell)};
  const Index header = flag_bytes + rounded_up(node.size() * Index{sizeof(Index)}, line);
  const auto goes_through_memory = [&](const Package& package) {
    return topology.class_of(package.peer) == PeerClass::node;
  };
  Index own = 0;
  for (const Package& package : outgoing_) own += goes_through_memory(package) ? shared_bytes(package) : 0;
  const Index most = mpi::all_reduce(node, own, mpi::Operation::maximum());
  if (most == 0 || (header + most) * node.size() > context_.shared_staging().capacity()) return;
  try {
    shared_ = context_.shared_staging().lease(header + most, header);
  } catch (const OutOfMemory&) {
    return;
  }
  const auto offsets_of = [&](int node_rank) {
    return reinterpret_cast<Index*>(shared_->segment(node_rank).data() + flag_bytes);
  };
  Index next = header;
  for (Package& package : outgoing_) {
    if (!goes_through_memory(package)) continue;
    offsets_of(node.rank())[topology.node_rank_of(package.peer)] = next;
    package.shared = shared_->segment(node.rank()).data() + next;
    next += shared_bytes(package);
  }
  mpi::barrier(node);
  for (Package& package : incoming_) {
    if (!goes_through_memory(package)) continue;
    const int sender = topology.node_rank_of(package.peer);
    package.shared = shared_->segment(sender).data() + offsets_of(sender)[node.rank()];
  }
}

// At the stage of their turn packages are handed over, at the last one receivers tell that memory in the node is free.
// They need not where packages go both ways: the one that arrives tells that its sender has begun this run, so that it
// has read what was handed over in the run before, and the slot of that is free for the next run. Two slots are also
// faster where cores share no cache, as a store waits for lines that the other core still reads.
void Exchange::build() {
  using schedule::OperationId;
  using schedule::Position;
  using schedule::Range;
  using schedule::Run;
  schedule::Graph graph;
  const schedule::SlotId buffer = graph.output(buffer_.size());
  const int own = context_.rank(), ranks = context_.size();
  const auto position = [&](Index stage, int from, int to) {
    return Position{.stage = stage, .strand = 0, .segment = (to - from + ranks) % ranks};
  };
  const auto filled = [&](int to) { return 2 * context_.topology().node_rank_of(to); };
  const auto emptied = [&](int to) { return filled(to) + 1; };
  std::vector<OperationId> before, now;  // what fills layers in turns before this one, and in it
  for (Index turn = 0; turn < layout::axes; ++turn) {
    for (const Package& package : outgoing_) {
      if (package.turn != turn) continue;
      const auto place = [this, buffer, &package](const Run& run) {
        return package.shared != nullptr ? shared_slot(package) : run.address(buffer, package.offset);
      };
      const OperationId packed = graph.compute(
          position(turn, own, package.peer), steps(package),
          [this, &package, place](const Run& run, Index step) { pack(package, step, place(run)); }, {}, before);
      if (package.shared != nullptr) {
        graph.writes_for(packed, package.peer, package.bytes);
        const schedule::NodeFlags flags = flags_of(own);
        graph.signal(position(turn, own, package.peer), flags, filled(package.peer), 1, {packed});
        if (!package.is_answered) {
          graph.await(position(layout::axes, own, package.peer), flags, emptied(package.peer));
        }
      } else {
        graph.send(position(turn, own, package.peer), package.peer, {buffer, package.offset, package.bytes}, {packed});
      }
    }
    for (const Package& package : incoming_) {
      if (package.turn != turn) continue;
      const Position here = position(turn, package.peer, own);
      const auto add_unpack = [&](OperationId arrived) {
        now.push_back(graph.compute(here, steps(package),
                                    [this, buffer, &package](const Run& run, Index step) {
                                      unpack(package, step,
                                             package.shared != nullptr ? shared_slot(package)
                                                                       : run.address(buffer, package.offset));
                                    },
                                    {}, {arrived}));
      };
      if (package.shared != nullptr) {
        const schedule::NodeFlags flags = flags_of(package.peer);
        add_unpack(graph.await(here, flags, filled(own)));
        graph.reads_from(now.back(), package.peer, package.bytes);
        if (!package.is_answered) {
          graph.signal(position(layout::axes, package.peer, own), flags, emptied(own), 1, {now.back()},
                       schedule::Tells::end);
        }
      } else {
        add_unpack(graph.receive(here, package.peer, {buffer, package.offset, package.bytes}));
      }
    }
    for (const Package& package : own_) {
      if (package.turn != turn) continue;
      const auto move = [this, &package](const Run& run, Index step) {
        const Region& region = package.regions[at(step / fields_)];
        const Field& field = bound_[at(step % fields_)];
        const Index row_bytes = region.extent[2] * element_bytes_;
        copy_rows(static_cast<const std::byte*>(field.source) + region.source, source_strides_,
                  static_cast<std::byte*>(field.target) + region.target, target_strides_, region.extent, row_bytes);
        run.count_own_move(region.extent[0] * region.extent[1] * row_bytes);
      };
      now.push_back(graph.compute({.stage = turn, .strand = 0, .segment = ranks}, steps(package), move, {}, before));
    }
    before.insert(before.end(), now.begin(), now.end());
    now.clear();
  }
  schedule_.emplace(context_, std::move(graph), label_);
}

// A step for each region of each field.
Index Exchange::steps(const Package& package) const { return static_cast<Index>(package.regions.size()) * fields_; }

namespace {

// Where a step's part begins in a message: field by field within a region.
template <class Package>
Index bytes_before(const Package& package, Index region, Index field, Index element_bytes, Index fields) {
  Index points = 0;
  for (Index r = 0; r < region; ++r) {
    const Point& extent = package.regions[at(r)].extent;
    points += extent[0] * extent[1] * extent[2] * fields;
  }
  const Point& extent = package.regions[at(region)].extent;
  return (points + extent[0] * extent[1] * extent[2] * field) * element_bytes;
}

}  // namespace

void Exchange::pack(const Package& package, Index step, std::byte* message) {
  if (package.turn == 0) --packs_left_;
  const Region& region = package.regions[at(step / fields_)];
  const Index row_bytes = region.extent[2] * element_bytes_;
  copy_rows(static_cast<const std::byte*>(bound_[at(step % fields_)].source) + region.source, source_strides_,
            message + bytes_before(package, step / fields_, step % fields_, element_bytes_, fields_),
            Strides{region.extent[1] * row_bytes, row_bytes}, region.extent, row_bytes);
}

void Exchange::unpack(const Package& package, Index step, const std::byte* message) const {
  const Region& region = package.regions[at(step / fields_)];
  const Index row_bytes = region.extent[2] * element_bytes_;
  copy_rows(message + bytes_before(package, step / fields_, step % fields_, element_bytes_, fields_),
            Strides{region.extent[1] * row_bytes, row_bytes},
            static_cast<std::byte*>(bound_[at(step % fields_)].target) + region.target, target_strides_, region.extent,
            row_bytes);
}

void Exchange::begin(std::span<const Field> fields) {
  PLAIT_ASSERT(std::ssize(fields) == fields_, "as many fields as it was made for");
  std::ranges::copy(fields, bound_.begin());
  is_second_slot_ = !is_second_slot_;
  packs_left_ = 0;
  for (const Package& package : outgoing_) packs_left_ += package.turn == 0 ? steps(package) : 0;
  const schedule::Binding memory = schedule::Binding::output(buffer_.bytes());
  schedule_->start(std::span(&memory, 1));
  while (packs_left_ > 0 && !schedule_->progress()) {
  }
}

std::vector<double> moved(mpi::Context& context, const BoxPartition& from, std::span<const double> values,
                          const BoxPartition& to) {
  if (from == to) return mpi::agreed(context, [&] { return std::vector<double>(values.begin(), values.end()); });
  auto result = mpi::agreed(context, [&] { return std::vector<double>(at(to.box(context.rank()).points())); });
  Exchange move(context, {.from = from, .to = to}, Index{sizeof(double)}, 1, "field");
  move(std::array{Field{values.data(), result.data()}});
  return result;
}

}  // namespace plait::halo
