#include "shim/reduce/collectives.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "shim/reduce/kernels.hpp"
#include "shim/reduce/node_group.hpp"
#include "shim/reduce/padded_results.hpp"
#include "shim/reduce/posted_request.hpp"
#include "shim/reduce/reproducible.hpp"
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

std::optional<int> pass_on(Routine routine, Outcome why) noexcept {
  Log::of_program().count(routine, why, 0);
  return std::nullopt;
}

std::optional<int> not_reproducible(Routine routine, Outcome why, std::optional<int> rank = std::nullopt) noexcept {
  Log::of_program().tell(routine, why, rank);
  return pass_on(routine, why);
}

// Where MPI calls it an error if results are to overwrite operands without being told to; elsewhere it is in place, on
// some ranks perhaps.
bool may_be_same([[maybe_unused]] Routine routine, [[maybe_unused]] Index count) noexcept {
#if defined(MPICH_VERSION)
  return false;
#else
  return routine != Routine::reduce && (routine != Routine::allreduce || count == 1);
#endif
}

// A rank that gets nothing needs no place for it.
bool are_buffers(Routine routine, const void* send, const void* receive, Index count, bool gets_nothing) noexcept {
  if (gets_nothing && receive == nullptr) return send != nullptr && send != MPI_IN_PLACE;
  return send != nullptr && receive != nullptr && receive != MPI_IN_PLACE &&
         (send != receive || may_be_same(routine, count));
}

/// What is reduced how, and by whom.
struct Call {
  const Combine* combine;
  std::optional<simd::Element> padded;
  NodeGroup* group;
  bool is_exact;
};

/// What is known of a call without looking at buffers; nothing, with the reason logged, where that is enough to pass it
/// on.
std::optional<Call> look_at(Routine routine, MPI_Op operation, MPI_Datatype type, Index count, MPI_Comm comm) noexcept {
  if (!mpi_is_running()) return std::nullopt;
  const auto pass = [&](Outcome why) {
    pass_on(routine, why);
    return std::nullopt;
  };
  const std::optional<Combining> reduction = combining_of(operation, type);
  if (!reduction) {
    if (!is_reproducible_wanted()) return pass(Outcome::reduction);
    not_reproducible(routine, Outcome::irreproducible_reduction);
    return std::nullopt;
  }
  if (count <= 0) return pass(Outcome::arguments);
  NodeGroup* const group = NodeGroup::of(comm);
  if (group == nullptr || group->size() == 0) {
    if (!reduction->depends_on_order || !is_reproducible_wanted()) return pass(Outcome::communicator);
    not_reproducible(routine, Outcome::irreproducible_communicator);
    return std::nullopt;
  }
  const bool is_exact = group->is_reproducible() && reduction->exact_sum != nullptr;
  if (reduction->depends_on_order && !is_exact && group->is_reproducible()) {
    Log::of_program().tell(routine, Outcome::irreproducible_reduction, group->rank());
  }
  return Call{is_exact ? reduction->exact_sum : reduction->combine, reduction->padded, group, is_exact};
}

/// Buffers of a call, of which other ranks know nothing.
struct Buffers {
  const void* send;
  void* receive;
  Index results;  // that come to `receive`
  bool are_fine;

  [[nodiscard]] const void* operand() const noexcept { return send == MPI_IN_PLACE ? receive : send; }
};

Buffers buffers_of(Routine routine, const void* send, void* receive, Index operands, Index results) noexcept {
  return {send, receive, results, are_buffers(routine, send, receive, operands, results == 0)};
}

/// Of a result that only one rank gets.
Buffers buffers_of_root(Routine routine, const void* send, void* receive, Index count, bool is_root) noexcept {
  if (is_root) return buffers_of(routine, send, receive, count, count);
  return {send, receive, 0, send != nullptr && send != MPI_IN_PLACE};
}

void copy_own(const Call& call, const Buffers& buffers) noexcept {
  if (call.padded) {
    copy_without_padding(*call.padded, buffers.results, buffers.send, buffers.receive);
  } else {
    std::memmove(buffers.receive, buffers.send,
                 static_cast<std::size_t>(buffers.results * call.combine->element_bytes()));
  }
}

/// By the ranks of a group, all of whom come here with the same `bytes` of operands.
/// \param run  given the reducer, which is a NodeReducer or SlicedMessages, the operand, and where the result goes
template <class Run>
std::optional<int> serve(Routine routine, MPI_Comm comm, const Call& call, Index bytes, const Buffers& buffers,
                         Run&& run) noexcept {
  NodeGroup& group = *call.group;
  if (bytes == 0) return pass_on(routine, Outcome::arguments);
  if (!buffers.are_fine) return pass_on(routine, Outcome::arguments);  // the other ranks may not come to such a call
  if (group.size() == 1) {
    if (buffers.send != MPI_IN_PLACE && buffers.results > 0) copy_own(call, buffers);
    Log::of_program().count(routine, Outcome::served, bytes);
    return MPI_SUCCESS;
  }
  if (call.is_exact) group.begin_reproducible();
  const bool all_meet = routine == Routine::allreduce || routine == Routine::reduce_scatter_block;
  NodeReducer* const reducer = call.is_exact ? group.ready_reducer() : group.reducer(bytes, all_meet);
  SlicedMessages* const messages = call.is_exact ? group.messages() : nullptr;
  if (reducer == nullptr && messages == nullptr) {
    if (call.is_exact) return not_reproducible(routine, Outcome::irreproducible_memory, group.rank());
    return pass_on(routine, group.why_not());
  }
  try {
    const Landing results(call.padded, buffers.results, buffers.receive);
    if (reducer != nullptr) {
      run(*reducer, buffers.operand(), results.place());
    } else {
      run(*messages, buffers.operand(), results.place());
    }
    results.deliver();
  } catch (const std::exception&) {
    MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
  }
  Log::of_program().count(routine, Outcome::served, bytes);
  return MPI_SUCCESS;
}

// Prefixes of all ranks, one after the other: no exact sums, which are made of all operands at once.
std::optional<int> prefix(Routine routine, const void* send, void* receive, Index count, MPI_Datatype type,
                          MPI_Op operation, MPI_Comm comm, decltype(&NodeReducer::scan) run) noexcept {
  const auto call = look_at(routine, operation, type, count, comm);
  if (!call) return std::nullopt;
  const NodeGroup& group = *call->group;
  if (call->is_exact) return not_reproducible(routine, Outcome::irreproducible_routine, group.rank());
  const bool gets_nothing = routine == Routine::exscan && group.rank() == 0;
  return serve(routine, comm, *call, count * call->combine->element_bytes(),
               buffers_of(routine, send, receive, count, gets_nothing ? 0 : count),
               [&](auto& reducer, const void* in, void* out) {
                 if constexpr (std::is_same_v<decltype(reducer), NodeReducer&>) {
                   (reducer.*run)(in, out, count, *call->combine);
                 }
               });
}

/// Into `group.counts()`.
/// \return  their sum, or -1 where MPI may want to complain of them
template <class Count>
Index take_counts(NodeGroup& group, const Count* counts) noexcept {
  if (counts == nullptr) return -1;
  Index sum = 0;
  for (std::size_t rank = 0; rank < group.counts().size(); ++rank) {
    if (counts[rank] < 0) return -1;
    group.counts()[rank] = counts[rank];
    sum += counts[rank];
  }
  return sum;
}

/// A reduction that is posted, once or whenever a request is started.
struct Posting {
  std::shared_ptr<PostedReductions> posted;
  Reduction reduction;
  std::optional<simd::Element> padded;
  Index results;
  std::vector<Index> begins;  // of a persistent one, whose slices the reduction refers to

  [[nodiscard]] std::unique_ptr<PostedReductions::Running> post(PostedReductions::Series* series) {
    Landing landed(padded, results, reduction.out);
    Reduction landing_first = reduction;
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
  posting.begins.assign(posting.reduction.begins.begin(), posting.reduction.begins.end());
  const auto repeated = std::make_shared<Repeated>(Repeated{std::move(posting), series});
  repeated->posting.reduction.begins = repeated->posting.begins;
  return make_persistent_request(
      [=] {
        const Reduction& reduction = repeated->posting.reduction;
        Log::of_program().count(routine, Outcome::served, reduction.n * reduction.combine->element_bytes());
        return repeated->posting.post(&repeated->series);
      },
      request);
}

/// What a non-blocking call is to be posted in, if it is to be; nothing, with the reason logged, where it is passed on.
std::shared_ptr<PostedReductions> posted_reductions(Routine routine, Begin when, const Call& call, Index bytes,
                                                    bool is_prefix) noexcept {
  NodeGroup& group = *call.group;
  const bool is_small = bytes < least_posted_bytes && !call.is_exact;
  std::shared_ptr<PostedReductions> posted;
  Outcome why = Outcome::size;
  if (when == Begin::at_each_start && !can_make_persistent_requests()) {
    why = Outcome::requests;
  } else if (group.size() > 1 && !(when == Begin::at_each_start && is_small)) {
    posted = when == Begin::at_once ? group.posted(bytes) : group.posted_again(call.is_exact);
    if (posted == nullptr) why = group.why_not();
  }
  if (call.is_exact && (posted == nullptr || is_prefix)) {
    not_reproducible(routine, Outcome::irreproducible_routine, group.rank());
    return nullptr;
  }
  if (posted != nullptr && bytes > posted->longest_operand()) why = Outcome::shared_memory;
  if (posted != nullptr && !is_small && why != Outcome::shared_memory) return posted;
  pass_on(routine, why);
  return nullptr;
}

/// Begins what `look_at` found of a non-blocking call, as `serve` does with others.
/// \param begins  the slices of a result that is scattered
std::optional<int> start(Routine routine, Begin when, MPI_Comm comm, const Call& call, Index n, Deliver deliver,
                         int root, std::span<const Index> begins, const Buffers& buffers,
                         MPI_Request* request) noexcept {
  const Index bytes = n * call.combine->element_bytes();
  if (bytes == 0 || !buffers.are_fine || request == nullptr) return pass_on(routine, Outcome::arguments);
  const Reduction reduction{call.combine,
                            static_cast<const std::byte*>(buffers.operand()),
                            static_cast<std::byte*>(buffers.receive),
                            n,
                            deliver,
                            root,
                            begins};
  auto posted = posted_reductions(routine, when, call, bytes, reduction.is_prefix());
  if (posted == nullptr) return std::nullopt;
  int code = MPI_ERR_NO_MEM;
  try {
    Posting posting{std::move(posted), reduction, call.padded, buffers.results, {}};
    code = when == Begin::at_once ? make_request(posting.post(nullptr), request)
                                  : make_repeated_request(routine, std::move(posting), request);
  } catch (const std::exception&) {
    code = MPI_ERR_NO_MEM;
  }
  if (code != MPI_SUCCESS) {
    MPI_Comm_call_errhandler(comm, code);
    return code;
  }
  if (when == Begin::at_once) Log::of_program().count(routine, Outcome::served, bytes);
  return MPI_SUCCESS;
}

/// Of what each rank, or one of them, gets all.
std::optional<int> start_whole(Routine routine, Begin when, const void* send, void* receive, Index count,
                               MPI_Datatype type, MPI_Op operation, MPI_Comm comm, Deliver deliver,
                               MPI_Request* request) noexcept {
  const auto call = look_at(routine, operation, type, count, comm);
  if (!call) return std::nullopt;
  const bool gets_nothing = deliver == Deliver::up_to_the_last && call->group->rank() == 0;
  const Buffers buffers = buffers_of(routine, send, receive, count, gets_nothing ? 0 : count);
  return start(routine, when, comm, *call, count, deliver, 0, {}, buffers, request);
}

/// By the counts of the group.
std::optional<int> start_scattered(Routine routine, Begin when, const void* send, void* receive, const Call& call,
                                   MPI_Comm comm, MPI_Request* request) noexcept {
  NodeGroup& group = *call.group;
  try {
    std::vector<Index> begins(group.counts().size() + 1);
    collective::node::divide_by_counts(group.counts(), begins);
    const Index own = group.counts()[static_cast<std::size_t>(group.rank())];
    const Buffers buffers = buffers_of(routine, send, receive, begins.back(), own);
    return start(routine, when, comm, call, begins.back(), Deliver::to_owners, 0, begins, buffers, request);
  } catch (const std::bad_alloc&) {
    MPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
  }
}

}  // namespace

std::optional<int> allreduce(const void* send, void* receive, Index count, MPI_Datatype type, MPI_Op operation,
                             MPI_Comm comm) noexcept {
  constexpr Routine routine = Routine::allreduce;
  const auto call = look_at(routine, operation, type, count, comm);
  if (!call) return std::nullopt;
  const Combine& combine = *call->combine;
  return serve(routine, comm, *call, count * combine.element_bytes(), buffers_of(routine, send, receive, count, count),
               [&](auto& reducer, const void* in, void* out) { reducer.allreduce(in, out, count, combine); });
}

std::optional<int> reduce(const void* send, void* receive, Index count, MPI_Datatype type, MPI_Op operation, int root,
                          MPI_Comm comm) noexcept {
  constexpr Routine routine = Routine::reduce;
  const auto call = look_at(routine, operation, type, count, comm);
  if (!call) return std::nullopt;
  const Combine& combine = *call->combine;
  const NodeGroup& group = *call->group;
  if (root < 0 || root >= group.size()) return pass_on(routine, Outcome::arguments);
  return serve(routine, comm, *call, count * combine.element_bytes(),
               buffers_of_root(routine, send, receive, count, group.rank() == root),
               [&](auto& reducer, const void* in, void* out) { reducer.reduce(in, out, count, root, combine); });
}

std::optional<int> reduce_scatter_block(const void* send, void* receive, Index count, MPI_Datatype type,
                                        MPI_Op operation, MPI_Comm comm) noexcept {
  constexpr Routine routine = Routine::reduce_scatter_block;
  const auto call = look_at(routine, operation, type, count, comm);
  if (!call) return std::nullopt;
  const Combine& combine = *call->combine;
  const NodeGroup& group = *call->group;
  return serve(routine, comm, *call, count * group.size() * combine.element_bytes(),
               buffers_of(routine, send, receive, count, count), [&](auto& reducer, const void* in, void* out) {
                 reducer.reduce_scatter_block(in, out, count, combine);
               });
}

std::optional<int> scan(const void* send, void* receive, Index count, MPI_Datatype type, MPI_Op operation,
                        MPI_Comm comm) noexcept {
  return prefix(Routine::scan, send, receive, count, type, operation, comm, &NodeReducer::scan);
}

std::optional<int> exscan(const void* send, void* receive, Index count, MPI_Datatype type, MPI_Op operation,
                          MPI_Comm comm) noexcept {
  return prefix(Routine::exscan, send, receive, count, type, operation, comm, &NodeReducer::exscan);
}

template <class Count>
std::optional<int> reduce_scatter(const void* send, void* receive, const Count* counts, MPI_Datatype type,
                                  MPI_Op operation, MPI_Comm comm) noexcept {
  constexpr Routine routine = Routine::reduce_scatter;
  const auto call = look_at(routine, operation, type, 1, comm);
  if (!call) return std::nullopt;
  NodeGroup& group = *call->group;
  const Index sum = take_counts(group, counts);
  if (sum < 0) return pass_on(routine, Outcome::arguments);
  const Index own = group.counts()[static_cast<std::size_t>(group.rank())];
  return serve(routine, comm, *call, sum * call->combine->element_bytes(), buffers_of(routine, send, receive, sum, own),
               [&](auto& reducer, const void* in, void* out) {
                 reducer.reduce_scatter(in, out, group.counts(), *call->combine);
               });
}

std::optional<int> iallreduce(const void* send, void* receive, Index count, MPI_Datatype type, MPI_Op operation,
                              MPI_Comm comm, MPI_Request* request, Begin when) noexcept {
  return start_whole(when == Begin::at_once ? Routine::iallreduce : Routine::allreduce_init, when, send, receive, count,
                     type, operation, comm, Deliver::to_all, request);
}

std::optional<int> ireduce(const void* send, void* receive, Index count, MPI_Datatype type, MPI_Op operation, int root,
                           MPI_Comm comm, MPI_Request* request, Begin when) noexcept {
  const Routine routine = when == Begin::at_once ? Routine::ireduce : Routine::reduce_init;
  const auto call = look_at(routine, operation, type, count, comm);
  if (!call) return std::nullopt;
  const NodeGroup& group = *call->group;
  if (root < 0 || root >= group.size()) return pass_on(routine, Outcome::arguments);
  const Buffers buffers = buffers_of_root(routine, send, receive, count, group.rank() == root);
  return start(routine, when, comm, *call, count, Deliver::to_root, root, {}, buffers, request);
}

std::optional<int> ireduce_scatter_block(const void* send, void* receive, Index count, MPI_Datatype type,
                                         MPI_Op operation, MPI_Comm comm, MPI_Request* request, Begin when) noexcept {
  const Routine routine = when == Begin::at_once ? Routine::ireduce_scatter_block : Routine::reduce_scatter_block_init;
  const auto call = look_at(routine, operation, type, count, comm);
  if (!call) return std::nullopt;
  std::ranges::fill(call->group->counts(), count);
  return start_scattered(routine, when, send, receive, *call, comm, request);
}

template <class Count>
std::optional<int> ireduce_scatter(const void* send, void* receive, const Count* counts, MPI_Datatype type,
                                   MPI_Op operation, MPI_Comm comm, MPI_Request* request, Begin when) noexcept {
  const Routine routine = when == Begin::at_once ? Routine::ireduce_scatter : Routine::reduce_scatter_init;
  const auto call = look_at(routine, operation, type, 1, comm);
  if (!call) return std::nullopt;
  if (take_counts(*call->group, counts) < 0) return pass_on(routine, Outcome::arguments);
  return start_scattered(routine, when, send, receive, *call, comm, request);
}

std::optional<int> iscan(const void* send, void* receive, Index count, MPI_Datatype type, MPI_Op operation,
                         MPI_Comm comm, MPI_Request* request, Begin when) noexcept {
  return start_whole(when == Begin::at_once ? Routine::iscan : Routine::scan_init, when, send, receive, count, type,
                     operation, comm, Deliver::up_to_itself, request);
}

std::optional<int> iexscan(const void* send, void* receive, Index count, MPI_Datatype type, MPI_Op operation,
                           MPI_Comm comm, MPI_Request* request, Begin when) noexcept {
  return start_whole(when == Begin::at_once ? Routine::iexscan : Routine::exscan_init, when, send, receive, count, type,
                     operation, comm, Deliver::up_to_the_last, request);
}

template std::optional<int> reduce_scatter(const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm) noexcept;
template std::optional<int> ireduce_scatter(const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm,
                                            MPI_Request*, Begin) noexcept;
#if MPI_VERSION >= 4
template std::optional<int> reduce_scatter(const void*, void*, const MPI_Count*, MPI_Datatype, MPI_Op,
                                           MPI_Comm) noexcept;
template std::optional<int> ireduce_scatter(const void*, void*, const MPI_Count*, MPI_Datatype, MPI_Op, MPI_Comm,
                                            MPI_Request*, Begin) noexcept;
#endif

}  // namespace plait::shim::reduce
