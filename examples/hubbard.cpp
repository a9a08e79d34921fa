// The mean field of Hubbard's model on a ring of sites with uneven energies: electrons hop to their neighbours, and
// each feels those of the other spin on its site,  H_up = T + v + U n_dn,  H_dn = T + v + U n_up,  where n is the
// diagonal of D. What each purification learned of its H saves products in the next.
//
//   mpirun -n 4 build/openmpi/bin/example_hubbard

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "plait/mpi.hpp"
#include "plait/purify.hpp"

using plait::Index;
namespace purify = plait::purify;
using Matrix = purify::Matrix<double>;

namespace {

constexpr Index sites = 60;
constexpr double repulsion = 2.5;
constexpr double tolerance = 1e-9;  // of a site's electrons

double site_energy(Index i) { return 0.3 * std::sin(7 * static_cast<double>(i)); }

/// H of the electrons of one spin, with so many of the other one on each site.
Matrix hamiltonian(const plait::layout::Layout& layout, int rank, const std::vector<double>& others) {
  Matrix h(layout, rank);
  h.for_each_element([&](Index i, Index j, double& element) {
    const Index distance = std::abs(i - j);
    element = distance == 1 || distance == sites - 1 ? -1 : 0;
    if (i == j) element = site_energy(i) + repulsion * others[static_cast<std::size_t>(i)];
  });
  return h;
}

std::vector<double> diagonal(plait::mpi::Context& context, const Matrix& d) {
  std::vector<double> result(sites);
  d.for_each_element([&](Index i, Index j, const double& element) {
    if (i == j) result[static_cast<std::size_t>(i)] = element;
  });
  plait::mpi::all_reduce(context.comm(), std::span(result), plait::mpi::Operation::sum());
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const plait::mpi::Environment mpi(argc, argv, MPI_COMM_WORLD);
  plait::mpi::Context context(MPI_COMM_WORLD);
  purify::DenseProducts<double> products(context, sites, purify::choose_squares(context.size()));
  std::array<purify::Sequence<double>, 2> sequences{purify::Sequence(products), purify::Sequence(products)};
  std::array<std::vector<double>, 2> electrons{std::vector<double>(sites), std::vector<double>(sites)};
  for (Index i = 0; i < sites; ++i) {  // where to begin: spins that alternate
    electrons[0][static_cast<std::size_t>(i)] = i % 2 == 0 ? 0.9 : 0.1;
    electrons[1][static_cast<std::size_t>(i)] = i % 2 == 0 ? 0.1 : 0.9;
  }
  const purify::Problem problem{.method = purify::Method::tc2, .occupied = sites / 2};
  Index last = 0;
  double change = 1;
  double energy = 0;
  for (int step = 1; step <= 300 && change > tolerance; ++step) {
    const auto former = electrons;
    energy = 0;
    change = 0;
    last = 0;
    for (const std::size_t spin : {0U, 1U}) {
      auto& purification =
          sequences[spin].begin(hamiltonian(products.layout(), context.rank(), former[1 - spin]), problem);
      while (purification.advance()) purification.follow_frontier();
      const auto found = diagonal(context, purification.density());
      energy += purification.state().iterates.back().energy;  // tr(D H)
      last += purification.multiplications();
      for (std::size_t i = 0; i < found.size(); ++i) {
        change = std::max(change, std::abs(found[i] - former[spin][i]));
        electrons[spin][i] = 0.3 * former[spin][i] + 0.7 * found[i];
      }
    }
    for (std::size_t i = 0; i < former[0].size(); ++i)
      energy -= repulsion * former[0][i] * former[1][i];  // counted twice
    if (context.rank() == 0) {
      std::printf("step %3d: energy %.12f, change %.1e, %d products\n", step, energy, change, static_cast<int>(last));
    }
  }
  // The same without what is known from before, for one spin.
  purify::Sequence alone(products);
  auto& purification = alone.begin(hamiltonian(products.layout(), context.rank(), electrons[1]), problem);
  while (purification.advance()) {
  }
  const Index without = 2 * purification.multiplications();
  const bool fits = change <= tolerance && last < without;
  if (context.rank() == 0) {
    std::printf("electrons of the first sites %.10f %.10f %.10f; %d products without the steps before: %s\n",
                electrons[0][0], electrons[0][1], electrons[0][2], static_cast<int>(without), fits ? "ok" : "wrong");
  }
  return fits ? 0 : 1;
}
