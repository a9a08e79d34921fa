#include "shim/reduce/collectives.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "shim/reduce/kernels.hpp"
#include "shim/reduce/node_group.hpp"
#include "shim/reduce/padded_results.hpp"
#include "shim/reduce/posted_request.hpp"
#include "shim/reduce/running.hpp"

namespace plait::shim::reduce {

namespace {

using collective::NodeReducer;
using collective::SlicedMessages;
using collective::node::Deliver;
using collective::node::PostedReductions;
using collective::node::Reduction;
using schedule::Combine;

// Shorter operands MPI reduces in about the time that it takes to leave them for others.
constexpr Index least_posted_bytes = Index{16} << 10;

std::nullopt_t pass_on(Routine routine, Outcome why) noexcept {
  Log::of_program().count(routine, why, 0);
  return std::nullopt;
}

std::nullopt_t not_reproducible(Routine routine, Outcome why, std::optional<int> rank = std::nullopt) noexcept {
  Log::of_program().tell(routine, why, rank);
  return pass_on(routine, why);
}

/// What is reduced how, and by whom.
struct Found {
  const Combine* combine;
  std::optional<simd::Element> padded;
  NodeGroup* group;
  bool is_exact;
};

/// What is known of a call without looking at buffers; nothing, with the reason logged, where that is enough to pass it
/// on.
std::optional<Found> look_at(Routine routine, const Call& call, Index count) noexcept {
  if (!mpi_is_running()) return std::nullopt;
  const Combining* const known = combining_of(call.operation, call.type);
  if (known == nullptr) {
    if (!is_reproducible_wanted()) return pass_on(routine, Outcome::reduction);
    return not_reproducible(routine, Outcome::irreproducible_reduction);
  }
  const Combining reduction = *known;  // what is called from here may ask for others
  if (count <= 0) return pass_on(routine, Outcome::arguments);
  NodeGroup* const group = NodeGroup::of(call.comm);
  if (group == nullptr || group->size() == 0) {
    if (!reduction.depends_on_order || !is_reproducible_wanted()) return pass_on(routine, Outcome::communicator);
    return not_reproducible(routine, Outcome::irreproducible_communicator);
  }
  const bool is_exact = group->is_reproducible() && reduction.exact_sum != nullptr;
  if (reduction.depends_on_order && !is_exact && group->is_reproducible()) {
    Log::of_program().tell(routine, Outcome::irreproducible_reduction, group->rank());
  }
  return Found{is_exact ? reduction.exact_sum : reduction.combine, reduction.padded, group, is_exact};
}

/// How much is reduced, and who gets what.
struct Extent {
  Index operands;  // of each rank
  Index results;   // that come to this one
  Deliver deliver;
};

/// Nothing where MPI may want to complain of the root or the counts. Results that are scattered are by
/// `group.counts()`.
template <class Count>
std::optional<Extent> extent_of(Kind kind, const Count* counts, int root, NodeGroup& group) noexcept {
  switch (kind) {
    case Kind::reduce:
      if (root < 0 || root >= group.size()) return std::nullopt;
      return Extent{*counts, root == group.rank() ? *counts : 0, Deliver::to_root};
    case Kind::allreduce: return Extent{*counts, *counts, Deliver::to_all};
    case Kind::scan: return Extent{*counts, *counts, Deliver::up_to_itself};
    case Kind::exscan: return Extent{*counts, group.rank() == 0 ? 0 : *counts, Deliver::up_to_the_last};
    case Kind::reduce_scatter:
    case Kind::reduce_scatter_block: break;
  }
  if (counts == nullptr) return std::nullopt;
  Index sum = 0;
  for (std::size_t rank = 0; rank < group.counts().size(); ++rank) {
    const Index count = counts[kind == Kind::reduce_scatter ? rank : 0];
    if (count < 0) return std::nullopt;
    group.counts()[rank] = count;
    sum += count;
  }
  return Extent{sum, group.counts()[static_cast<std::size_t>(group.rank())], Deliver::to_owners};
}

// Where MPI calls it an error if results are to overwrite operands without being told to; elsewhere it is in place, on
// some ranks perhaps.
bool may_be_same([[maybe_unused]] Routine routine, [[maybe_unused]] Index operands) noexcept {
#if defined(MPICH_VERSION)
  return false;
#else
  return routine != routine_of(Kind::reduce, Begin::and_end) &&
         (routine != routine_of(Kind::allreduce, Begin::and_end) || operands == 1);
#endif
}

// What other ranks know nothing of. A rank that gets nothing needs no place for it.
bool are_buffers(Routine routine, const Call& call, const Extent& extent) noexcept {
  if (call.send == nullptr) return false;
  if (extent.results == 0 && (extent.deliver == Deliver::to_root || call.receive == nullptr))
    return call.send != MPI_IN_PLACE;
  return call.receive != nullptr && call.receive != MPI_IN_PLACE &&
         (call.send != call.receive || may_be_same(routine, extent.operands));
}

const void* operand_of(const Call& call) noexcept { return call.send == MPI_IN_PLACE ? call.receive : call.send; }

void copy_own(const Found& found, const Call& call, Index results) noexcept {
  if (call.send == MPI_IN_PLACE || results == 0) return;
  if (found.padded) {
    copy_without_padding(*found.padded, results, call.send, call.receive);
  } else {
    std::memmove(call.receive, call.send, static_cast<std::size_t>(results * found.combine->element_bytes()));
  }
}

template <class Reducer>
void run(Reducer& reducer, const Found& found, const Extent& extent, const Call& call, void* out) {
  const void* const in = operand_of(call);
  const Combine& combine = *found.combine;
  switch (extent.deliver) {
    case Deliver::to_all: return reducer.allreduce(in, out, extent.operands, combine);
    case Deliver::to_root: return reducer.reduce(in, out, extent.operands, call.root, combine);
    case Deliver::to_owners: return reducer.reduce_scatter(in, out, found.group->counts(), combine);
    default: break;
  }
  if constexpr (std::is_same_v<Reducer, NodeReducer>) {
    if (extent.deliver == Deliver::up_to_itself) return reducer.scan(in, out, extent.operands, combine);
    reducer.exscan(in, out, extent.operands, combine);
  }
}

/// Reduces by the ranks of a group, all of whom come here with the same `bytes` of operands.
std::optional<int> serve(Kind kind, const Call& call, const Found& found, const Extent& extent, Index bytes) noexcept {
  const Routine routine = routine_of(kind, Begin::and_end);
  NodeGroup& group = *found.group;
  if (group.size() == 1) {
    copy_own(found, call, extent.results);
    Log::of_program().count(routine, Outcome::served, bytes);
    return MPI_SUCCESS;
  }
  if (found.is_exact) group.begin_reproducible();
  const bool all_meet = kind == Kind::allreduce || kind == Kind::reduce_scatter_block;
  NodeReducer* const reducer = found.is_exact ? group.ready_reducer() : group.reducer(bytes, all_meet);
  SlicedMessages* const messages = found.is_exact ? group.messages() : nullptr;
  if (reducer == nullptr && messages == nullptr) {
    if (found.is_exact) return not_reproducible(routine, Outcome::irreproducible_memory, group.rank());
    return pass_on(routine, group.why_not());
  }
  try {
    const Landing results(found.padded, extent.results, call.receive);
    if (reducer != nullptr) {
      run(*reducer, found, extent, call, results.place());
    } else {
      run(*messages, found, extent, call, results.place());
    }
    results.deliver();
  } catch (const std::exception&) {
    MPI_Comm_call_errhandler(call.comm, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
  }
  Log::of_program().count(routine, Outcome::served, bytes);
  return MPI_SUCCESS;
}

/// A reduction that is posted, once or whenever a request is started.
struct Posting {
  std::shared_ptr<PostedReductions> posted;
  Reduction reduction;
  std::optional<simd::Element> padded;
  Index results;
  std::vector<Index> begins;  // of the slices, to which the reduction refers

  [[nodiscard]] std::unique_ptr<PostedReductions::Running> post(PostedReductions::Series* series) {
    Landing landed(padded, results, reduction.out);
    Reduction landing_first = reduction;
    landing_first.begins = begins;
    landing_first.out = static_cast<std::byte*>(landed.place());
    auto running = series == nullptr ? posted->post(landing_first) : posted->post(landing_first, *series);
    return padded ? landing(std::move(running), std::move(landed)) : std::move(running);
  }
};

/// The request of a reduction that each start of it posts.
int make_repeated_request(Routine routine, Posting posting, MPI_Request* request) {
  struct Repeated {
    Posting posting;
    PostedReductions::Series series;
  };
  const PostedReductions::Series series = posting.posted->new_series();  // before anything that may fail on one rank
  const auto repeated = std::make_shared<Repeated>(Repeated{std::move(posting), series});
  return make_persistent_request(
      [=] {
        const Reduction& reduction = repeated->posting.reduction;
        Log::of_program().count(routine, Outcome::served, reduction.n * reduction.combine->element_bytes());
        return repeated->posting.post(&repeated->series);
      },
      request);
}

/// What a non-blocking call is to be posted in, if it is to be; nothing, with the reason logged, where it is passed on.
std::shared_ptr<PostedReductions> posted_reductions(Routine routine, Begin when, const Found& found, Index bytes,
                                                    bool is_prefix) noexcept {
  NodeGroup& group = *found.group;
  const bool is_small = bytes < least_posted_bytes && !found.is_exact;
  std::shared_ptr<PostedReductions> posted;
  Outcome why = Outcome::size;
  if (when == Begin::at_each_start && !can_make_persistent_requests()) {
    why = Outcome::requests;
  } else if (group.size() > 1 && !(when == Begin::at_each_start && is_small)) {
    posted = when == Begin::at_once ? group.posted(bytes) : group.posted_again(found.is_exact);
    if (posted == nullptr) why = group.why_not();
  }
  if (found.is_exact && (posted == nullptr || is_prefix)) {
    not_reproducible(routine, Outcome::irreproducible_routine, group.rank());
    return nullptr;
  }
  if (posted != nullptr && bytes > posted->longest_operand()) why = Outcome::shared_memory;
  if (posted != nullptr && !is_small && why != Outcome::shared_memory) return posted;
  pass_on(routine, why);
  return nullptr;
}

/// Begins a non-blocking call, as `serve` does with others.
std::optional<int> start(Kind kind, Begin when, const Call& call, const Found& found, const Extent& extent) noexcept {
  const Routine routine = routine_of(kind, when);
  const Index bytes = extent.operands * found.combine->element_bytes();
  const Reduction reduction{found.combine,
                            static_cast<const std::byte*>(operand_of(call)),
                            static_cast<std::byte*>(call.receive),
                            extent.operands,
                            extent.deliver,
                            call.root,
                            {}};
  int code = MPI_ERR_NO_MEM;
  try {
    auto posted = posted_reductions(routine, when, found, bytes, reduction.is_prefix());
    if (posted == nullptr) return std::nullopt;
    Posting posting{std::move(posted), reduction, found.padded, extent.results, {}};
    if (extent.deliver == Deliver::to_owners) {
      posting.begins.resize(found.group->counts().size() + 1);
      collective::node::divide_by_counts(found.group->counts(), posting.begins);
    }
    code = when == Begin::at_once ? make_request(posting.post(nullptr), call.request)
                                  : make_repeated_request(routine, std::move(posting), call.request);
  } catch (const std::exception&) {
    code = MPI_ERR_NO_MEM;
  }
  if (code != MPI_SUCCESS) {
    MPI_Comm_call_errhandler(call.comm, code);
  } else if (when == Begin::at_once) {
    Log::of_program().count(routine, Outcome::served, bytes);
  }
  return code;
}

}  // namespace

template <class Count>
std::optional<int> reduced(Kind kind, Begin begin, const Count* counts, const Call& call) noexcept {
  const Routine routine = routine_of(kind, begin);
  const auto found = look_at(routine, call, kind == Kind::reduce_scatter ? 1 : *counts);
  if (!found) return std::nullopt;
  const auto extent = extent_of(kind, counts, call.root, *found->group);
  if (!extent) return pass_on(routine, Outcome::arguments);
  const bool ends = begin == Begin::and_end;
  // Prefixes are of all ranks, one after the other: no exact sums, which are made of all operands at once.
  if (ends && found->is_exact && (kind == Kind::scan || kind == Kind::exscan)) {
    return not_reproducible(routine, Outcome::irreproducible_routine, found->group->rank());
  }
  const Index bytes = extent->operands * found->combine->element_bytes();
  const bool are_fine = are_buffers(routine, call, *extent) && (ends || call.request != nullptr);
  if (bytes == 0 || !are_fine)
    return pass_on(routine, Outcome::arguments);  // the other ranks may not come to the latter
  return ends ? serve(kind, call, *found, *extent, bytes) : start(kind, begin, call, *found, *extent);
}

template std::optional<int> reduced(Kind, Begin, const int*, const Call&) noexcept;
#if MPI_VERSION >= 4
template std::optional<int> reduced(Kind, Begin, const MPI_Count*, const Call&) noexcept;
#endif

bool reduced_locally(const void* in, void* inout, Index count, MPI_Datatype type, MPI_Op operation) noexcept {
  if (!mpi_is_running()) return false;
  const Combining* const reduction = combining_of(operation, type);
  if (reduction == nullptr) {
    pass_on(Routine::reduce_local, Outcome::reduction);
    return false;
  }
  const bool are_buffers = in != nullptr && inout != nullptr && in != MPI_IN_PLACE && inout != MPI_IN_PLACE;
  if (count <= 0 || !are_buffers || in == inout) {
    pass_on(Routine::reduce_local, Outcome::arguments);
    return false;
  }
  reduction->kernel(count, in, inout);
  Log::of_program().count(Routine::reduce_local, Outcome::served, count * reduction->combine->element_bytes());
  return true;
}

}  // namespace plait::shim::reduce
