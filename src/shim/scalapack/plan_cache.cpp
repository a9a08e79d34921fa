#include "shim/scalapack/plan_cache.hpp"

#include <algorithm>
#include <utility>

namespace plait::shim::scalapack {

namespace {

constexpr Index bytes_per_plan = 4096;
constexpr Index bytes_per_run = 96;    // a run of an overlay, and its share of the pieces that are cut from it
constexpr Index bytes_per_peer = 512;  // packages, messages and operations
constexpr Index bytes_per_step = 640;  // a panel that was cut along a diagonal, at both ends, and the pieces of that
// What a plan may hold of the memory that a node shares, which is scarce in containers: slots for what is sent, of
// elements of 16 bytes at most, in segments of up to twice their length.
constexpr Index most_shared_bytes = Index{16} << 20;
constexpr Index shared_bytes_per_element = 2 * 16;

// Runs that a part of one of the axes has: one for each block of either that crosses what the part holds.
Index runs(const layout::Axis& from, const layout::Axis& to) {
  const auto blocks = [](const layout::Axis& axis) {
    return axis.extent() / std::max(Index{1}, axis.block()) / axis.parts() + 1;
  };
  return blocks(from) + blocks(to);
}

}  // namespace

CachedPlan::CachedPlan(mpi::Context& context, redistribute::MatrixPair pair)
    : plan(context, {std::move(pair)}, redistribute::Options{.label = "scalapack"}) {}

Index estimated_bytes(const redistribute::MatrixPair& pair) {
  const layout::Layout from = pair.op_from();
  const layout::Layout& to = pair.to;
  const auto [rows, columns] = to.shape();
  const Index steps = pair.part ? std::min(rows, columns) : 0;
  const Index peers = from.owners().distinct() + to.owners().distinct();
  const Index elements = std::min(layout::elements(to.shape()), most_shared_bytes / shared_bytes_per_element);
  return bytes_per_plan + bytes_per_peer * peers + bytes_per_step * steps + shared_bytes_per_element * elements +
         bytes_per_run * (runs(from.rows(), to.rows()) + runs(from.columns(), to.columns()));
}

}  // namespace plait::shim::scalapack
