#include "shim/scalapack/plan_cache.hpp"

#include <algorithm>
#include <utility>

namespace plait::shim::scalapack {

namespace {

constexpr Index bytes_per_plan = 4096;
constexpr Index bytes_per_run = 96;    // a run of an overlay, and its share of the pieces that are cut from it
constexpr Index bytes_per_peer = 512;  // packages, messages and operations
constexpr Index bytes_per_step = 640;  // a panel that was cut along a diagonal, at both ends, and the pieces of that

// Runs that a part of one of the axes has: one for each block of either that crosses what the part holds.
Index runs(const layout::Axis& from, const layout::Axis& to) {
  const auto blocks = [](const layout::Axis& axis) {
    return axis.extent() / std::max(Index{1}, axis.block()) / axis.parts() + 1;
  };
  return blocks(from) + blocks(to);
}

}  // namespace

CachedPlan::CachedPlan(mpi::Context& context, redistribute::MatrixPair pair,
                       std::shared_ptr<redistribute::RingMemory> rings)
    : plan(context, {std::move(pair)}, redistribute::Options{.label = "scalapack"}, std::move(rings)) {}

Index estimated_bytes(const redistribute::MatrixPair& pair) {
  const layout::Layout from = pair.op_from();
  const layout::Layout& to = pair.to;
  const auto [rows, columns] = to.shape();
  const Index steps = pair.part ? std::min(rows, columns) : 0;
  const Index peers = from.owners().distinct() + to.owners().distinct();
  return bytes_per_plan + bytes_per_peer * peers + bytes_per_step * steps +
         bytes_per_run * (runs(from.rows(), to.rows()) + runs(from.columns(), to.columns()));
}

}  // namespace plait::shim::scalapack
