#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

#include "capi/arguments.hpp"
#include "capi/communicator.hpp"
#include "capi/convert.hpp"
#include "capi/counts.hpp"
#include "capi/error.hpp"
#include "capi/handle.hpp"
#include "capi/plait.h"
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

enum class Call : unsigned char { broadcast, reduce, allreduce, reduce_scatter, allgather, alltoall };

/// What has to be the same on all ranks.
struct Alike {
  Index type = 0;
  plait_operation operation = 0;
  Index count = 0;
  int root = 0;
  Index counts = 0;  // as a checksum
};

Alike alike(const Reduction& reduction) { return {.type = reduction.type(), .operation = reduction.operation()}; }

/// Begins an operation.
/// \param check  what this rank says that has to be the same on all; throws what is wrong here
/// \param begin  called when nothing is wrong anywhere
template <class Check, class Begin>
int start(Call call, plait_context* context, plait_request** request, Check&& check, Begin&& begin) {
  if (request != nullptr) *request = nullptr;
  return guarded([&] {
    plait::mpi::Context& its = *expect_handle(context, "context").context;
    expect_mpi();
    std::unique_ptr<plait_request> made;
    std::exception_ptr failure;
    Alike own;
    try {
      expect_output(request, "request");
      its.expect_usable();
      made = std::make_unique<plait_request>();
      made->context = context->context;
      own = check(*made);
    } catch (...) {
      failure = std::current_exception();
    }
    plait::mpi::expect_alike(its,
                             {{"collective operation", static_cast<Index>(call)},
                              {"type", own.type},
                              {"operation", own.operation},
                              {"count", own.count},
                              {"root", own.root},
                              {"counts, as a checksum", own.counts}},
                             failure);
    made->pending.emplace(begin(its, *made));
    *request = made.release();
  });
}

/// The same, ended as well.
template <class Start>
int blocking(Start&& start) {
  plait_request* request = nullptr;
  const int code = start(&request);
  return code == PLAIT_SUCCESS ? plait_request_wait(&request) : code;
}

Index own_count(const plait_context& context, const Counts& counts) {
  return counts.of_rank[static_cast<std::size_t>(context.context->rank())];
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
    for (std::size_t i = 0; i < coming.size(); ++i) {
      if (coming[i] == received.of_rank[i]) continue;
      throw plait::ArgumentError("receive_counts[" + std::to_string(i) + "]: is " +
                                 std::to_string(received.of_rank[i]) + ", expected " + std::to_string(coming[i]) +
                                 ", as many as that rank sends");
    }
  });
}

}  // namespace

int plait_start_broadcast(plait_context* context, void* data, plait_index count, plait_type type, int root,
                          plait_request** request) {
  std::span<std::byte> bytes;
  return start(
      Call::broadcast, context, request,
      [&](plait_request&) {
        bytes = expect_elements(data, count, plait::simd::size_in_bytes(element(type)), "data");
        return Alike{.type = type, .count = count, .root = root};
      },
      [&](plait::mpi::Context& its, plait_request&) { return plait::collective::start_broadcast(its, bytes, root); });
}

int plait_start_reduce(plait_context* context, void* data, plait_index count, const plait_reduction* reduction,
                       int root, plait_request** request) {
  std::span<std::byte> bytes;
  return start(
      Call::reduce, context, request,
      [&](plait_request& made) {
        const Reduction& its = made.reduction.emplace(reduction);
        bytes = expect_elements(data, count, its.element_bytes(), "data");
        Alike own = alike(its);
        own.count = count, own.root = root;
        return own;
      },
      [&](plait::mpi::Context& its, plait_request& made) {
        return plait::collective::start_reduce(its, bytes, root, made.reduction->combine());
      });
}

int plait_start_allreduce(plait_context* context, void* data, plait_index count, const plait_reduction* reduction,
                          plait_request** request) {
  std::span<std::byte> bytes;
  return start(
      Call::allreduce, context, request,
      [&](plait_request& made) {
        const Reduction& its = made.reduction.emplace(reduction);
        bytes = expect_elements(data, count, its.element_bytes(), "data");
        Alike own = alike(its);
        own.count = count;
        return own;
      },
      [&](plait::mpi::Context& its, plait_request& made) {
        return plait::collective::start_allreduce(its, bytes, made.reduction->combine());
      });
}

int plait_start_reduce_scatter(plait_context* context, const void* in, void* out, const plait_index* counts,
                               const plait_reduction* reduction, plait_request** request) {
  Counts blocks;
  std::span<const std::byte> from;
  std::span<std::byte> to;
  return start(
      Call::reduce_scatter, context, request,
      [&](plait_request& made) {
        const Reduction& its = made.reduction.emplace(reduction);
        blocks = Counts(counts, context->context->size(), its.element_bytes(), "counts");
        from = expect_elements(in, blocks.total, its.element_bytes(), "in");
        to = expect_elements(out, own_count(*context, blocks), its.element_bytes(), "out");
        Alike own = alike(its);
        own.counts = blocks.checksum;
        return own;
      },
      [&](plait::mpi::Context& its, plait_request& made) {
        return plait::collective::start_reduce_scatter(its, from, to, blocks.of_rank, made.reduction->combine());
      });
}

int plait_start_allgather(plait_context* context, const void* own, void* all, const plait_index* counts,
                          plait_type type, plait_request** request) {
  Counts blocks;
  Index bytes = 0;
  std::span<const std::byte> from;
  std::span<std::byte> to;
  return start(
      Call::allgather, context, request,
      [&](plait_request&) {
        bytes = plait::simd::size_in_bytes(element(type));
        blocks = Counts(counts, context->context->size(), bytes, "counts");
        from = expect_elements(own, own_count(*context, blocks), bytes, "own");
        to = expect_elements(all, blocks.total, bytes, "all");
        return Alike{.type = type, .counts = blocks.checksum};
      },
      [&](plait::mpi::Context& its, plait_request&) {
        return plait::collective::start_all_gather(its, from, to, blocks.of_rank, bytes);
      });
}

int plait_start_alltoall(plait_context* context, const void* in, const plait_index* send_counts, void* out,
                         const plait_index* receive_counts, plait_type type, plait_request** request) {
  Counts sent, received;
  Index bytes = 0;
  std::span<const std::byte> from;
  std::span<std::byte> to;
  return start(
      Call::alltoall, context, request,
      [&](plait_request&) {
        bytes = plait::simd::size_in_bytes(element(type));
        sent = Counts(send_counts, context->context->size(), bytes, "send_counts");
        received = Counts(receive_counts, context->context->size(), bytes, "receive_counts");
        from = expect_elements(in, sent.total, bytes, "in");
        to = expect_elements(out, received.total, bytes, "out");
        return Alike{.type = type};
      },
      [&](plait::mpi::Context& its, plait_request&) {
        expect_matching(its, sent, received);
        return plait::collective::start_all_to_all(its, from, sent.of_rank, to, received.of_rank, bytes);
      });
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
