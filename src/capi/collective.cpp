#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

#include "capi/handle.hpp"
#include "capi/reduction.hpp"

using namespace plait::capi;
using plait::Index;
using plait::collective::Pending;

struct plait_request : OnContext<plait_request> {
  static constexpr const char* name = "a request";
  std::optional<Reduction> reduction;
  std::optional<Pending> pending;

  [[nodiscard]] bool may_fail() const noexcept { return reduction && reduction->may_fail(); }
};

namespace {

/// Begins an operation.
/// \param plan   plans it, and adds what has to be the same on all ranks; throws what is wrong here
/// \param match  what is to be compared beside, when nothing is wrong anywhere. Collective
template <class Plan, class Match = void (*)(plait::mpi::Context&)>
int start(
    plait_context* context, plait_request** request, const Plan& plan,
    const Match& match = [](plait::mpi::Context&) {}) {
  return create(
      context, request, "request",
      [&](plait_request& made, plait::mpi::Alike& arguments) {
        made.pending.emplace(plan(*made.context, made, arguments));
      },
      [&](plait_request& made) {
        match(*made.context);
        made.pending->start();
      });
}

/// The same, ended as well.
template <class Start>
int blocking(Start&& start) {
  plait_request* request = nullptr;
  const int code = start(&request);
  return code == PLAIT_SUCCESS ? plait_request_wait(&request) : code;
}

Index own_count(const plait::mpi::Context& context, const Counts& counts) {
  return counts.of_rank[static_cast<std::size_t>(context.rank())];
}

void expect_as_sent(std::size_t rank, Index received, Index sent) {
  if (received == sent) return;
  throw plait::ArgumentError("receive_counts[" + std::to_string(rank) + "]: is " + std::to_string(received) +
                             ", expected " + std::to_string(sent) + ", as many as that rank sends");
}

/// That what each rank sends is what the others expect. Collective.
void expect_matching(plait::mpi::Context& context, const Counts& sent, const Counts& received) {
  const auto& comm = context.comm();
  std::vector<Index> coming, one;
  plait::mpi::agreed(context, [&] {
    coming.resize(sent.of_rank.size());
    one.assign(sent.of_rank.size(), Index{sizeof(Index)});
  });
  plait::mpi::all_to_all_bytes(comm, std::as_bytes(sent.of_rank), one, std::as_writable_bytes(std::span(coming)), one);
  plait::mpi::agreed(context, [&] {
    for (std::size_t i = 0; i < coming.size(); ++i) expect_as_sent(i, received.of_rank[i], coming[i]);
  });
}

}  // namespace

int plait_start_broadcast(plait_context* context, void* data, plait_index count, plait_type type, int root,
                          plait_request** request) {
  return start(context, request, [&](auto& its, plait_request&, auto& arguments) {
    const auto bytes = expect_elements(data, count, plait::simd::size_in_bytes(element(type)), "data");
    auto planned = plait::collective::plan_broadcast(its, bytes, root, &arguments);
    arguments.add("type", type);
    return planned;
  });
}

int plait_start_reduce(plait_context* context, void* data, plait_index count, const plait_reduction* reduction,
                       int root, plait_request** request) {
  return start(context, request, [&](auto& its, plait_request& made, auto& arguments) {
    const Reduction& with = made.reduction.emplace(reduction);
    const auto bytes = expect_elements(data, count, with.element_bytes(), "data");
    return plait::collective::plan_reduce(its, bytes, root, with.combine(), &arguments);
  });
}

int plait_start_allreduce(plait_context* context, void* data, plait_index count, const plait_reduction* reduction,
                          plait_request** request) {
  return start(context, request, [&](auto& its, plait_request& made, auto& arguments) {
    const Reduction& with = made.reduction.emplace(reduction);
    const auto bytes = expect_elements(data, count, with.element_bytes(), "data");
    return plait::collective::plan_allreduce(its, bytes, with.combine(), &arguments);
  });
}

int plait_start_reduce_scatter(plait_context* context, const void* in, void* out, const plait_index* counts,
                               const plait_reduction* reduction, plait_request** request) {
  return start(context, request, [&](auto& its, plait_request& made, auto& arguments) {
    const Reduction& with = made.reduction.emplace(reduction);
    const Counts blocks(counts, its.size(), with.element_bytes(), "counts");
    const auto from = expect_elements(in, blocks.total, with.element_bytes(), "in");
    const auto to = expect_elements(out, own_count(its, blocks), with.element_bytes(), "out");
    return plait::collective::plan_reduce_scatter(its, from, to, blocks.of_rank, with.combine(), &arguments);
  });
}

int plait_start_allgather(plait_context* context, const void* own, void* all, const plait_index* counts,
                          plait_type type, plait_request** request) {
  return start(context, request, [&](auto& its, plait_request&, auto& arguments) {
    const Index bytes = plait::simd::size_in_bytes(element(type));
    const Counts blocks(counts, its.size(), bytes, "counts");
    const auto from = expect_elements(own, own_count(its, blocks), bytes, "own");
    const auto to = expect_elements(all, blocks.total, bytes, "all");
    auto planned = plait::collective::plan_all_gather(its, from, to, blocks.of_rank, bytes, &arguments);
    arguments.add("type", type);
    return planned;
  });
}

int plait_start_alltoall(plait_context* context, const void* in, const plait_index* send_counts, void* out,
                         const plait_index* receive_counts, plait_type type, plait_request** request) {
  Counts sent, received;
  return start(
      context, request,
      [&](auto& its, plait_request&, auto& arguments) {
        const Index bytes = plait::simd::size_in_bytes(element(type));
        sent = Counts(send_counts, its.size(), bytes, "send_counts");
        received = Counts(receive_counts, its.size(), bytes, "receive_counts");
        const auto self = static_cast<std::size_t>(its.rank());
        expect_as_sent(self, received.of_rank[self], sent.of_rank[self]);
        const auto from = expect_elements(in, sent.total, bytes, "in");
        const auto to = expect_elements(out, received.total, bytes, "out");
        auto planned =
            plait::collective::plan_all_to_all(its, from, sent.of_rank, to, received.of_rank, bytes, &arguments);
        arguments.add("type", type);
        return planned;
      },
      [&](auto& its) { expect_matching(its, sent, received); });
}

int plait_broadcast(plait_context* context, void* data, plait_index count, plait_type type, int root) {
  return blocking([&](auto* request) { return plait_start_broadcast(context, data, count, type, root, request); });
}

int plait_reduce(plait_context* context, void* data, plait_index count, const plait_reduction* reduction, int root) {
  return blocking([&](auto* request) { return plait_start_reduce(context, data, count, reduction, root, request); });
}

int plait_allreduce(plait_context* context, void* data, plait_index count, const plait_reduction* reduction) {
  return blocking([&](auto* request) { return plait_start_allreduce(context, data, count, reduction, request); });
}

int plait_reduce_scatter(plait_context* context, const void* in, void* out, const plait_index* counts,
                         const plait_reduction* reduction) {
  return blocking(
      [&](auto* request) { return plait_start_reduce_scatter(context, in, out, counts, reduction, request); });
}

int plait_allgather(plait_context* context, const void* own, void* all, const plait_index* counts, plait_type type) {
  return blocking([&](auto* request) { return plait_start_allgather(context, own, all, counts, type, request); });
}

int plait_alltoall(plait_context* context, const void* in, const plait_index* send_counts, void* out,
                   const plait_index* receive_counts, plait_type type) {
  return blocking([&](auto* request) {
    return plait_start_alltoall(context, in, send_counts, out, receive_counts, type, request);
  });
}

int plait_request_progress(plait_request* request, int* done) {
  return guarded([&] {
    plait_request& its = expect_handle(request, "request");
    expect_mpi();
    const bool is_done = its.pending->progress();
    if (done != nullptr) *done = is_done ? 1 : 0;
  });
}

int plait_request_wait(plait_request** request) {
  return guarded([&] {
    if (expect_output(request, "request") == nullptr) return;
    expect_handle(*request, "request");
    const std::unique_ptr<plait_request> its(*request);
    *request = nullptr;
    expect_mpi();
    wait_for_all(*its->context, its->may_fail(), [&] { its->pending->wait(); });
  });
}
