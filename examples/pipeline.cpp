// A step of data-parallel training whose weights are updated segment by segment, while later segments of the gradient
// are still on their way between the ranks.
//
//   mpirun -n 4 build/openmpi/bin/example_pipeline

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

#include "plait/collective.hpp"
#include "plait/mpi.hpp"

using plait::Index;
using plait::collective::Group;
using plait::collective::Pipeline;
using plait::schedule::Binding;

int main(int argc, char** argv) {
  const plait::mpi::Environment mpi(argc, argv, MPI_COMM_WORLD);
  plait::mpi::Context context(MPI_COMM_WORLD);
  constexpr Index n = 1'000'000;
  constexpr int steps = 3;
  const float rate = 1.0F / static_cast<float>(context.size());
  std::vector<float> weights(n, 1), gradient(n);

  // Made once, started in each step. The algorithm, and the length of a segment, are chosen for this machine.
  const auto sum = plait::mpi::reduction<float>(plait::mpi::Operation::sum());
  Pipeline pipeline(context, n, Index{sizeof(float)});
  pipeline.allreduce(Group::all(context), sum).compute([&](std::span<std::byte> bytes, Index first) {
    const std::span summed(reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float));
    for (const float g : summed) weights[static_cast<std::size_t>(first++)] -= rate * g;
  });
  plait::schedule::Schedule training = pipeline.schedule("training");

  for (int step = 0; step < steps; ++step) {
    std::ranges::fill(gradient, 0.25F);
    const Binding binding = Binding::output(std::as_writable_bytes(std::span(gradient)));
    training.start({&binding, 1});
    training.wait();
  }
  const bool fits = std::ranges::all_of(weights, [](float weight) { return weight > 0.249F && weight < 0.251F; });
  if (context.rank() == 0) {
    std::printf("weights after %d steps on %d ranks: %g, %s\n", steps, context.size(),
                static_cast<double>(weights.front()), fits ? "right" : "wrong");
  }
  return fits ? 0 : 1;
}
