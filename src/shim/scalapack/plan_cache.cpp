#include "shim/scalapack/plan_cache.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plait/mpi/collectives.hpp"

#include "shim/own_rank.hpp"
#include "shim/settings.hpp"

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

constexpr const char* variable = "PLAIT_GEMM_FROM";

int read_setting() {
  const std::string_view setting = environment(variable);
  if (setting.empty()) return usual_least_order;
  int order = 0;
  const auto [end, error] = std::from_chars(setting.data(), setting.data() + setting.size(), order);
  if (error == std::errc() && end == setting.data() + setting.size() && order >= 0) return order;
  OwnRank rank;
  rank.learn();
  if (rank.is_zero()) {
    std::fputs(
        fmt::format("plait: warning: environment variable {} is '{}', expected the order of a matrix, from 0 on; "
                    "products are served from {} on\n",
                    variable, setting, usual_least_order)
            .c_str(),
        stderr);
  }
  return usual_least_order;
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

int least_order(const mpi::Communicator& comm) {
  static const int own = read_setting();
  int order = own;
  mpi::broadcast(comm, std::span(&order, 1), 0);
  return order;
}

}  // namespace plait::shim::scalapack
