#include "plait/purify/ways.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <span>

#include "plait/base/complex.hpp"
#include "plait/base/error.hpp"
#include "plait/dense/arrangement/choice.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/purify/dense_products.hpp"
#include "plait/purify/eigenstates.hpp"

namespace plait::purify {

namespace {

using dense::exchange_seconds;
using model::Machine;
using model::Placement;

// Fitted to measured times: see `ways`.
constexpr double reached_by_squares = 0.5;      // of the rate of products
constexpr double reached_by_eigenstates = 0.9;  // likewise, by what memory does not bound
constexpr double seconds_of_pair = 1.2e-7;      // of two states, in the secular equations of divide and conquer
constexpr double unhidden_share = 0.25;         // of what travels under products
constexpr double messages_of_column = 17;       // of the reduction to a tridiagonal matrix, times log2 of the ranks
constexpr double vectors_of_column = 4;         // of these, with the rows or columns of a rank
constexpr double messages_of_step = 4;          // of an iteration, likewise, that carry numbers
constexpr double vectors_of_iteration = 150;    // by which H is multiplied: bounds, states at the gap, checks
constexpr double seconds_of_step = 5e-5;        // of an iteration, whatever its size
constexpr double seconds_of_product = 7.5e-5;   // likewise

double number(Index count) { return static_cast<double>(count); }

/// What a type of elements takes, in that of doubles.
struct Element {
  double bytes;
  double product;  // floats take half of the time, complex numbers four products
  double real;     // a product of the real numbers that it consists of
};
Element element_of(DType dtype) {
  return FieldDTypes::with(dtype, []<class T>() {
    const double real = number(sizeof(decltype(std::real(T{})))) / 8;
    return Element{number(sizeof(T)), (is_complex<T> ? 4 : 1) * real, real};
  });
}

const model::Link& link_of(const Machine& machine, const Placement& placement) {
  return placement.nodes() == 1 ? machine.node : machine.network;
}

/// A square, or a square and a cube, as `DenseProducts` makes them: each rank does its share of half of the flops,
/// while blocks travel.
double products_seconds(const Machine& machine, const Placement& placement, Index n, const Element& element,
                        bool with_cube) {
  const double elements = number(n) * number(n);
  const double products = with_cube ? 2 : 1;
  const auto exchange = [&](double part) { return exchange_seconds(machine, placement, part * element.bytes); };
  double workers = placement.ranks;
  double moving = 0;
  if (choose_squares(placement.ranks) == Squares::cube) {
    const double edge = dense::symm::Grid::largest_cube(placement.ranks);
    workers = edge * edge * edge;
    // A block, and for each product half a block of columns and half a one of sums.
    if (edge > 1) moving = (1 + products) * exchange(elements / (edge * edge));
  } else {
    // Columns come from half of the other ranks, blocks of the product from the other half.
    moving = products * (workers - 1) / 2 * (exchange(elements / workers) + exchange(elements / (workers * workers)));
  }
  const double ranks_of_node = std::min(placement.ranks, placement.ranks_per_node);
  const double rate = reached_by_squares * machine.product_flops_per_second / ranks_of_node;
  const double multiplying = products * elements * number(n) / workers * element.product / rate;
  const double starting = products * seconds_of_product;
  return starting + std::max(multiplying, moving) + unhidden_share * std::min(multiplying, moving);
}

double products_of_step(Method method) { return uses_cube(method) ? 2 : 1; }

/// Of an iteration whose energies are evenly spaced on both sides of the gap, at most 200 of them.
std::optional<Index> products_of(Method method, const Prospect& prospect) {
  constexpr double least_gap = 1e-12;  // that purifications find
  if (prospect.gap < least_gap) return std::nullopt;
  std::array<double, 200> energies;
  const Index count = std::min(prospect.states, std::ssize(energies));
  const double filling = number(prospect.occupied) / number(prospect.states);
  const Index occupied = std::clamp(static_cast<Index>(std::lround(filling * number(count))), Index{1}, count - 1);
  const double spacing = (1 - prospect.gap) / number(std::max(count - 2, Index{1}));
  for (Index k = 0; k < count; ++k) {
    energies[static_cast<std::size_t>(k)] = k < occupied ? spacing * number(k) : 1 - spacing * number(count - 1 - k);
  }
  return products_needed(method, std::span(energies).first(static_cast<std::size_t>(count)), occupied,
                         prospect.knows_frontier);
}

double iteration_seconds(const Machine& machine, const Placement& placement, const Prospect& prospect, Method method) {
  if (prospect.occupied == 0 || prospect.occupied == prospect.states) return 0;
  const auto products = products_of(method, prospect);
  if (!products) return std::numeric_limits<double>::infinity();
  const bool with_cube = uses_cube(method);
  const Element element = element_of(prospect.dtype);
  const double bytes = number(prospect.states) * number(prospect.states) * element.bytes;
  const double reading = bytes / (machine.read_bytes_per_second * placement.nodes());
  const double matrices = with_cube ? 7 : 6;  // that the traces and the next iterate of a step read and write
  const double agreeing = messages_of_step * std::log2(placement.ranks) * link_of(machine, placement).latency_seconds;
  const double multiplying = products_seconds(machine, placement, prospect.states, element, with_cube);
  const double steps = number(*products) / products_of_step(method);
  return steps * (seconds_of_step + multiplying + matrices * reading + agreeing) +
         (vectors_of_iteration + prospect.vectors) * reading;
}

/// `Eigenstates` and their sum.
double eigenstates_seconds(const Machine& machine, const Placement& placement, const Prospect& prospect) {
  const double n = number(prospect.states);
  const Element element = element_of(prospect.dtype);
  const double workers = eigenstates_layout(prospect.states, placement, machine.cores_per_node).ranks();
  const double nodes = workers == 1 ? 1 : placement.nodes() * workers / placement.ranks;  // whose cores work

  // Of the reduction's 4/3 n³ flops one half, products of divide and conquer, turning eigenvectors back, and the sum.
  const double flops = n * n * ((2. / 3 + 2) * n + number(prospect.occupied)) * element.product;
  const double real_flops = 4. / 3 * n * n * n * element.real;
  const double multiplying = (flops + real_flops) / (reached_by_eigenstates * machine.product_flops_per_second * nodes);
  // The other half reads a triangle of what is left of the matrix for each column.
  const double reading = n * n * n / 6 * element.bytes / (machine.read_bytes_per_second * nodes);
  const double pairing = seconds_of_pair * n * n / workers;
  const model::Link& link = link_of(machine, placement);
  double moving = 0;
  if (workers == 1) {  // H comes to it, D goes from it
    const double bytes = 2 * n * n * element.bytes * (placement.ranks - 1) / placement.ranks;
    moving = bytes / link.streams_of(1).one_way.points().back().bytes_per_second;
  } else {
    const double vector = exchange_seconds(machine, placement, n / 2 / std::sqrt(workers) * element.bytes);
    moving = n * std::log2(workers) * (messages_of_column * link.latency_seconds + vectors_of_column * vector);
  }
  return multiplying + reading + pairing + moving;
}

/// Whether all ranks have the library, and it can count the elements.
bool can_find_eigenstates(const mpi::Context& context, const Prospect& prospect) {
  Index can = 1;
  try {
    const auto layout = eigenstates_layout(prospect.states, context);
    expect_eigensolver(layout);
    FieldDTypes::with(prospect.dtype, [&]<class T>() { expect_countable<T>(layout); });
  } catch (const Error&) {
    can = 0;
  }
  return mpi::all_reduce(context.comm(), can, mpi::Operation::minimum()) == 1;
}

/// One that is assumed has the cores of the context's nodes.
Machine with_cores(Machine machine, int cores) {
  if (machine.description != model::default_machine().description || cores == 0) return machine;
  machine.product_flops_per_second *= number(cores) / machine.cores_per_node;
  machine.cores_per_node = cores;
  return machine;
}

}  // namespace

std::string_view name(const Way& way) noexcept { return way.method ? name(*way.method) : "eigen"; }

std::vector<Way> ways(const Machine& machine, const Placement& placement, const Prospect& prospect) {
  std::vector<Way> all;
  for (const Method method : {Method::canonical, Method::tc2}) {
    all.push_back({method, iteration_seconds(machine, placement, prospect, method)});
  }
  if (!prospect.iterates) all.push_back({{}, eigenstates_seconds(machine, placement, prospect)});
  std::ranges::stable_sort(all, {}, &Way::seconds);
  return all;
}

double seconds_left(const State& state, const Prospect& prospect) noexcept {
  constexpr double undecided = 0.1;
  if (state.step < 2) return 0;
  const Interval within = state.frontier_within();
  const Occupation occupation = state.occupation();
  const double window = occupation.energy_of(undecided, within) - occupation.energy_of(1 - undecided, within);
  Prospect known = prospect;
  if (!state.iterates.back().settled) known.gap = std::min(known.gap, window / state.problem.spectrum.width());
  const Method method = state.problem.method;
  const auto products = products_of(method, known);
  if (!products) return std::numeric_limits<double>::infinity();
  double seconds = 0;  // of all steps but the last, whose time on other ranks is not known yet
  for (const Iterate& iterate : state.iterates) seconds += iterate.seconds;
  seconds -= state.iterates.back().seconds;
  const double steps = number(*products) / products_of_step(method);
  return std::max(0.0, steps - number(state.step)) * seconds / number(state.step - 1);
}

std::vector<Way> possible_ways(mpi::Context& context, Prospect prospect) {
  constexpr Index least_that_matters = 100;
  prospect.iterates =
      prospect.iterates || prospect.states < least_that_matters || !can_find_eigenstates(context, prospect);
  return mpi::agreed(context, [&] {
    return ways(with_cores(context.machine(), context.topology().cores_per_node()), context.placement(), prospect);
  });
}

}  // namespace plait::purify
