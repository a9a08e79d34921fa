#include <algorithm>
#include <array>
#include <exception>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "plait/collective/node/reducer.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/node/shared_memory.hpp"

#include "capi/handle.hpp"
#include "capi/reduction.hpp"

using namespace plait::capi;
using plait::Index;
using plait::collective::NodeReducer;

struct plait_shared_memory : OnContext<plait_shared_memory> {
  static constexpr const char* name = "shared memory";
  plait::mpi::SharedMemory memory;
};

struct plait_node : OnContext<plait_node> {
  static constexpr const char* name = "a node";
  std::optional<NodeReducer> reducer;
};

namespace {

enum class NodeCall : unsigned char { allreduce, reduce, reduce_scatter, scan, exscan };

/// Agrees on the arguments of a call through the memory of the node, which takes a hop between caches.
/// \throws what the lowest rank that failed did; ArgumentError, if a value is not the same on all ranks of the node
void agree_on_node(plait_node& node, std::initializer_list<plait::mpi::NamedValue> values,
                   const std::exception_ptr& failure) {
  const int ranks = node.reducer->ranks();
  if (ranks == 1 && failure) std::rethrow_exception(failure);
  std::array<Index, 16> highest{};
  highest[0] = failure ? ranks - node.reducer->rank() : 0;
  std::size_t count = 1;
  for (const auto& value : values) {
    highest[count++] = value.value;
    highest[count++] = -value.value;
  }
  node.reducer->allreduce(std::span<Index>(highest).first(count), plait::simd::ReduceOperation::max);
  if (highest[0] > 0) {
    plait::mpi::throw_failure_of(node.context->topology().node(), ranks - static_cast<int>(highest[0]), failure);
  }
  const Index* its = &highest[1];
  for (const auto& value : values) {
    const Index most = *its++;
    const Index least = -*its++;
    if (most == least) continue;
    throw plait::ArgumentError(std::string(value.name) + ": " + std::to_string(least) + " on one rank, " +
                               std::to_string(most) + " on another, expected the same on all ranks of the node");
  }
}

/// Elements that a rank reads and writes, and what has to be the same on all ranks beside the former.
struct Brought {
  Index in, out, alike = 0;
};

/// One of the reductions.
/// \param check   what this rank brings; throws what is wrong with it
/// \param reduce  called when nothing is wrong anywhere
template <class Check, class Reduce>
int reduce_on_node(NodeCall call, plait_node* node, const void* in, void* out, const plait_reduction* given,
                   Check&& check, Reduce&& reduce) {
  return guarded([&] {
    plait_node& its = expect_handle(node, "node");
    expect_mpi();
    std::optional<Reduction> reduction;
    std::exception_ptr failure;
    Brought brought{};
    try {
      its.context->expect_usable();
      reduction.emplace(given);
      if (call >= NodeCall::scan && reduction->operation() == PLAIT_EXACT_SUM) {
        throw plait::ArgumentError("reduction: its operation is PLAIT_EXACT_SUM, expected one on two operands");
      }
      brought = check(*its.reducer, reduction->element_bytes());
      static_cast<void>(expect_elements(in, brought.in, reduction->element_bytes(), "in"));
      static_cast<void>(expect_elements(out, brought.out, reduction->element_bytes(), "out"));
    } catch (...) {
      failure = std::current_exception();
    }
    agree_on_node(its,
                  {{"reduction of the node", static_cast<Index>(call)},
                   {"type", failure ? 0 : reduction->type()},
                   {"operation", failure ? 0 : Index{reduction->operation()}},
                   {"count", brought.in},
                   {call == NodeCall::reduce_scatter ? "counts, as a checksum" : "root", brought.alike}},
                  failure);
    reduce(*its.reducer, reduction->combine());
  });
}

}  // namespace

int plait_allocate_shared(plait_context* context, plait_index bytes, plait_shared_memory** memory, void** address) {
  return create(
      context, memory, "memory", [&](auto&, auto&) { expect_output(address, "address"); },
      [&](plait_shared_memory& made) {
        made.memory = made.context->allocate_shared(bytes);
        *address = made.memory.bytes().data();
      });
}

int plait_free_shared(plait_shared_memory** memory) { return free_handle(memory, "memory"); }

int plait_node_create(plait_context* context, plait_node** node) {
  return create(
      context, node, "node", [](auto&, auto&) {}, [](plait_node& made) { made.reducer.emplace(*made.context); });
}

int plait_node_free(plait_node** node) { return free_handle(node, "node"); }

int plait_node_rank(const plait_node* node, int* rank) {
  return guarded([&] { expect_output(rank, "rank") = expect_handle(node, "node").reducer->rank(); });
}

int plait_node_size(const plait_node* node, int* size) {
  return guarded([&] { expect_output(size, "size") = expect_handle(node, "node").reducer->ranks(); });
}

int plait_node_allreduce(plait_node* node, const void* in, void* out, plait_index count,
                         const plait_reduction* reduction) {
  return reduce_on_node(
      NodeCall::allreduce, node, in, out, reduction, [&](NodeReducer&, Index) { return Brought{count, count}; },
      [&](NodeReducer& its, const auto& combine) { its.allreduce(in, out, count, combine); });
}

int plait_node_reduce(plait_node* node, const void* in, void* out, plait_index count, const plait_reduction* reduction,
                      int root) {
  return reduce_on_node(
      NodeCall::reduce, node, in, out, reduction,
      [&](NodeReducer& its, Index) {
        expect_below("root", root, its.ranks());
        return Brought{count, root == its.rank() ? count : 0, root};
      },
      [&](NodeReducer& its, const auto& combine) { its.reduce(in, out, count, root, combine); });
}

int plait_node_reduce_scatter(plait_node* node, const void* in, void* out, const plait_index* counts,
                              const plait_reduction* reduction) {
  Counts blocks;
  return reduce_on_node(
      NodeCall::reduce_scatter, node, in, out, reduction,
      [&](NodeReducer& its, Index element_bytes) {
        blocks = Counts(counts, its.ranks(), element_bytes, "counts");
        return Brought{blocks.total, blocks.of_rank[static_cast<std::size_t>(its.rank())], blocks.checksum};
      },
      [&](NodeReducer& its, const auto& combine) { its.reduce_scatter(in, out, blocks.of_rank, combine); });
}

int plait_node_scan(plait_node* node, const void* in, void* out, plait_index count, const plait_reduction* reduction) {
  return reduce_on_node(
      NodeCall::scan, node, in, out, reduction, [&](NodeReducer&, Index) { return Brought{count, count}; },
      [&](NodeReducer& its, const auto& combine) { its.scan(in, out, count, combine); });
}

int plait_node_exscan(plait_node* node, const void* in, void* out, plait_index count,
                      const plait_reduction* reduction) {
  return reduce_on_node(
      NodeCall::exscan, node, in, out, reduction,
      [&](NodeReducer& its, Index) { return Brought{count, its.rank() > 0 ? count : 0}; },
      [&](NodeReducer& its, const auto& combine) { its.exscan(in, out, count, combine); });
}
