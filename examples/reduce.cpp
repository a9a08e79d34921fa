// Adds up over the ranks of a node what data-parallel training and a simulation have to: gradients of 16 bits, combined
// as float and rounded to nearest even, and an energy that is the same to the last bit on any number of ranks.
//
//   mpirun -n 4 build/openmpi/bin/example_reduce

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

#include "plait/collective.hpp"
#include "plait/mpi.hpp"
#include "plait/simd.hpp"

using plait::Index;
using plait::simd::BFloat16;
using plait::simd::ReduceOperation;

int main(int argc, char** argv) {
  const plait::mpi::Environment mpi(argc, argv, MPI_COMM_WORLD);
  plait::mpi::Context context(MPI_COMM_WORLD);
  const int ranks = context.size();

  // The reducer is kept: making it takes some communication, using it takes none but through shared memory. (Where
  // ranks are on several nodes, each node sums up by itself.) Memory that the node shares is read where it lies.
  plait::collective::NodeReducer reducer(context);
  constexpr Index n = 100'000;
  const plait::mpi::SharedMemory memory = context.allocate_shared(n * Index{sizeof(BFloat16)});
  const std::span gradients(reinterpret_cast<BFloat16*>(memory.bytes().data()), n);
  std::ranges::fill(gradients, plait::simd::to_bfloat16(0.5F));
  reducer.allreduce(gradients, ReduceOperation::sum);
  const auto sum = 0.5F * static_cast<float>(reducer.ranks());
  const bool gradients_fit =
      std::ranges::all_of(gradients, [sum](BFloat16 gradient) { return plait::simd::to_float(gradient) == sum; });

  // Large terms that cancel, shared out over the ranks in turn: the sum is exact and rounded once, whoever has which.
  constexpr Index terms = 100'000;
  std::vector<double> own;
  for (Index i = context.rank(); i < terms; i += ranks) {
    own.push_back(i % 2 == 0 ? 0x1p60 : -0x1p60);
    own.push_back(0x1p-20 * static_cast<double>(i));
  }
  const auto energy = plait::collective::reproducible_sum<double>(context, own);
  const bool energy_fits = energy == 0x1p-20 * static_cast<double>(terms * (terms - 1) / 2);

  if (context.rank() == 0) {
    std::printf("gradients of %d ranks: %g, %s; energy: %.17g, %s\n", reducer.ranks(), static_cast<double>(sum),
                gradients_fit ? "right" : "wrong", energy, energy_fits ? "right" : "wrong");
  }
  return gradients_fit && energy_fits ? 0 : 1;
}
