#include "bench/simulated/square_cube.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/dense/symm/plan.hpp"
#include "plait/simd/reduce/element_of.hpp"

#include "bench/multiply/symm_transfers.hpp"
#include "bench/simulated/measure.hpp"

namespace plait::bench {

namespace {

void multiply(const dense::LocalProduct& product) {
  compute(2.0 * static_cast<double>(product.terms) * static_cast<double>(product.rows) *
          static_cast<double>(product.columns));
}

mpi::Reduction sum_of_nothing() {
  MPI_Op operation = MPI_OP_NULL;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &operation);
  return {operation, MPI_DOUBLE, Index{sizeof(double)}};
}

const dense::symm::Products& products() {
  static const dense::symm::Products all{
      .kind = {simd::element_of<double>(), Index{sizeof(double)}, multiply, 2},
      .zero = nullptr,  // nobody reads them
      .one = nullptr,
      .sum = sum_of_nothing(),
      .combine = schedule::Combine([](const void*, Index, const void*, const void*, void*) {}, nullptr,
                                   Index{sizeof(double)}, false)
                     .in_any_order(),
      .mirror = [](Index, Index, const std::byte*, std::byte*, Index) {},
      .mirror_lower = [](Index, Index, Index, const std::byte*, std::byte*) {},
  };
  return all;
}

struct Operands {
  explicit Operands(Index bytes) : d(bytes), d2(bytes), d3(bytes) {}
  Buffer d, d2, d3;
};

}  // namespace

symm::Algorithm parse_square_cube(const std::string& algorithm) {
  constexpr std::array<std::pair<std::string_view, symm::Algorithm>, 5> all{{
      {"algorithm-3", symm::Algorithm::original},
      {"algorithm-4", symm::Algorithm::baseline},
      {"algorithm-5", symm::Algorithm::overlapped},
      {"algorithm-6", symm::Algorithm::cannon},
      {"own", symm::Algorithm::mirrored},
  }};
  for (const auto& [name, value] : all) {
    if (name == algorithm) return value;
  }
  throw ArgumentError(fmt::format("'{}' is no algorithm for squares and cubes", algorithm));
}

PreparedSquareCube prepare(mpi::Context& context, const SimulatedSquareCube& task) {
  const dense::symm::Options options = dense::symm::complete(context.size(), task.n, task.options);
  const std::shared_ptr<dense::symm::Plan> plan = dense::symm::make_plan(context, task.n, products(), options);
  const auto all = dense::symm::Powers::square_and_cube;
  plan->make(all);
  plan->prepare(all);
  const layout::Shape home = plan->home_shape(context.rank());
  const auto memory = std::make_shared<Operands>(home.rows * home.columns * Index{sizeof(double)});

  PreparedSquareCube prepared{
      [plan, memory, all] { plan->run({memory->d.data(), memory->d2.data(), memory->d3.data()}, all); }, 0};
  if (context.rank() == 0) {
    const auto transfers = symm_transfers_of_square_cube(plan->mesh(), options, Index{sizeof(double)});
    prepared.busiest_bytes =
        static_cast<double>(node_volume(model::Placement{context.size(), 1}, transfers).busiest_bytes());
  }
  return prepared;
}

}  // namespace plait::bench
