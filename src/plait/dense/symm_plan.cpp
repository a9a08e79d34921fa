#include "plait/dense/symm_plan.hpp"

#include <string>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/dense/symm_blocking.hpp"

namespace plait::dense {

namespace {

void expect_at_least(Index least, Index value, const char* name) {
  if (value < least) throw ArgumentError(fmt::format("{}: {}, expected at least {}", name, value, least));
}

int most_edge(const mpi::Context& context) { return SymmMesh::largest_cube(context.size()); }

}  // namespace

void check_symm_arguments(const mpi::Context& context, Index n, const SymmOptions& options) {
  expect_at_least(0, n, "n");
  expect_at_least(1, options.strands.value_or(1), "strands");
  expect_at_least(1, options.segment_bytes.value_or(1), "segment_bytes");
  expect_at_least(1, options.edge.value_or(1), "edge");
  if (options.edge.value_or(1) > most_edge(context)) {
    throw ArgumentError(fmt::format("edge: {}, expected at most {}, for a mesh of edge x edge x edge ranks of {}",
                                    *options.edge, most_edge(context), context.size()));
  }
  static_cast<void>(layout::elements({n, n}));  // an Index can count them
}

std::unique_ptr<SymmPlan> make_symm_plan(mpi::Context& context, Index n, const SymmProducts& products,
                                         const SymmOptions& options) {
  const int edge = options.edge.value_or(most_edge(context));
  const SymmMesh mesh(n, edge, edge);
  switch (options.algorithm) {
    case SymmAlgorithm::original:
    case SymmAlgorithm::baseline: return std::make_unique<SymmBlocking>(context, mesh, products, options);
    case SymmAlgorithm::overlapped: break;
  }
  throw ArgumentError("algorithm: not there yet");
}

}  // namespace plait::dense
