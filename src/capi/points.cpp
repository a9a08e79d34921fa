#include "plait/purify/points.hpp"

#include <algorithm>
#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "plait/layout/fingerprint.hpp"

#include "capi/hermitian.hpp"

using namespace plait::capi;
using plait::Index;
using plait::layout::Layout;
using plait::purify::Matrix;

namespace {

/// Points of a handle. Everything but `states` is collective, and the same on all ranks.
template <plait::Field T>
class Points {
 public:
  Points(plait::mpi::Context& context, const std::vector<Index>& states,
         std::optional<plait::purify::Triangle> triangle)
      : context_(context), n_(states), is_set_(states.size()), triangle_(triangle), points_(context, states) {}

  void set(Index point, const plait_layout* h_layout, const plait_source_tile* h, Index h_count,
           const plait_layout* s_layout, const plait_source_tile* s, Index s_count) {
    checked(context_, [&](plait::mpi::Alike& arguments) {
      expect_point(point, arguments);
      arguments.add("s is given", s_layout != nullptr);
      look_at(h_layout, point, "h", arguments);
      if (s_layout != nullptr) look_at(s_layout, point, "s", arguments);
    });
    const auto read = [&](const plait_layout* layout, const plait_source_tile* tiles, Index count, const char* what) {
      return hermitian_from<T>(context_, layout->layout, tiles, count, triangle_, layout->layout, what);
    };
    const Matrix<T> hamiltonian = read(h_layout, h, h_count, "h");
    std::optional<Matrix<T>> overlap;
    if (s_layout != nullptr) overlap.emplace(read(s_layout, s, s_count, "s"));
    has_filled_ = has_solved_ = false;
    points_.set(point, hamiltonian, overlap ? &*overlap : nullptr);
    is_set_[static_cast<std::size_t>(point)] = true;
  }

  void fill(const plait_points_problem* given, plait_points_result* result) {
    std::vector<double> weights;
    int per_state = 0;
    checked(context_, [&](plait::mpi::Alike& arguments) {
      expect_input(given, "problem", "a plait_points_problem");
      if (const auto missing = std::ranges::find(is_set_, false); missing != is_set_.end()) {
        throw plait::ArgumentError("points: point " + std::to_string(missing - is_set_.begin()) +
                                   " has no Hamiltonian yet, expected plait_points_set before");
      }
      if (given->spins < 0 || given->spins > 2) {
        throw plait::ArgumentError("spins: is " + std::to_string(given->spins) + ", expected 1 or 2, or 0 for 1");
      }
      if (given->spins == 2 && given->electrons_per_state == 2) {
        throw plait::ArgumentError("electrons_per_state: is 2, expected 1, as spins is 2");
      }
      per_state = given->spins == 2 ? 1 : electrons_per_state(given->electrons_per_state);
      static_cast<void>(smearing_of(given->smearing));
      weights = weights_of(*given);
      double room = 0;
      for (std::size_t k = 0; k < weights.size(); ++k) room += weights[k] * static_cast<double>(n_[k]);
      const double most = room * per_state;
      if (!(given->electrons >= 0 && given->electrons <= most * (1 + 1e-12))) {
        throw plait::ArgumentError("electrons: is " + std::to_string(given->electrons) + ", expected 0 to " +
                                   std::to_string(most) + ", which all states hold");
      }
      filled_ = std::min(given->electrons / per_state, room);
      arguments.add("electrons", given->electrons);
      arguments.add("electrons_per_state", per_state);
      arguments.add("spins", given->spins);
      arguments.add("smearing", given->smearing);
      arguments.add("width", given->width);
      for (const double weight : weights) arguments.add("weights", weight);
    });
    has_filled_ = false;
    if (!has_solved_) points_.solve();
    has_solved_ = true;
    filling_ = filled(context_, [&] {
      return plait::purify::fill_points(points_.values(), weights, filled_, smearing_of(given->smearing), given->width);
    });
    const auto errors = points_.weigh(filling_);
    has_filled_ = true;
    if (result == nullptr) return;
    *result = {};
    result->energy = per_state * filling_.energy, result->entropy = per_state * filling_.entropy;
    result->trace_error = errors.trace, result->idempotency_error = errors.idempotency;
    result->commutator_error = errors.commutator;
    result->lowest_potential = filling_.chemical_potentials.low;
    result->highest_potential = filling_.chemical_potentials.high;
    result->highest_occupied = filling_.frontier.highest_occupied;
    result->lowest_empty = filling_.frontier.lowest_empty;
    result->direct_gap = filling_.direct_gap;
    std::ranges::copy(filling_.frontier_points, result->frontier_points);
  }

  void take(Index point, const plait_layout* layout, const plait_target_tile* d, Index count) {
    const auto target = checked(context_, [&](plait::mpi::Alike& arguments) {
      expect_filled();
      expect_point(point, arguments);
      look_at(layout, point, "d", arguments);
      return views_in<T>(context_, layout->layout, d, count, "d");
    });
    auto density = plait::purify::allocate<T>(context_, layout->layout);
    points_.take(point, density);
    plait::redistribute::Redistribution(context_, layout->layout, layout->layout)
        .template execute<T>(T{1}, density.const_tiles(), T{0}, target);
  }

  void states(Index point, double* energies, double* occupations) const {
    expect_filled();
    expect_below("point", point, points_.count());
    const auto k = static_cast<std::size_t>(point);
    if (energies != nullptr) std::ranges::copy(points_.values()[k], energies);
    if (occupations != nullptr) std::ranges::copy(filling_.of_points[k].occupations.of_states, occupations);
  }

 private:
  void expect_point(Index point, plait::mpi::Alike& arguments) const {
    expect_below("point", point, points_.count());
    arguments.add("point", point);
  }

  void look_at(const plait_layout* given, Index point, const char* what, plait::mpi::Alike& arguments) const {
    const Layout& layout = expect_handle(given, what).layout;
    expect_square(layout, n_[static_cast<std::size_t>(point)], context_, what);
    arguments.add(what, plait::layout::fingerprint(layout));
  }

  void expect_filled() const {
    if (has_filled_) return;
    throw plait::ArgumentError("points: have no density matrices, expected plait_points_fill before");
  }

  [[nodiscard]] std::vector<double> weights_of(const plait_points_problem& given) const {
    const int spins = std::max(1, given.spins);
    const Index of_spin = points_.count() / spins;
    const auto weights = expect_array(given.weights, given.weights == nullptr ? 0 : of_spin, "weights");
    return plait::purify::weights_of_points(weights, points_.count(), spins);
  }

  plait::mpi::Context& context_;
  std::vector<Index> n_;
  std::vector<bool> is_set_;
  std::optional<plait::purify::Triangle> triangle_;
  plait::purify::PointStates<T> points_;
  plait::purify::PointsFilling filling_;
  double filled_ = 0;  // states' worth of electrons
  bool has_solved_ = false;
  bool has_filled_ = false;
};

}  // namespace

struct plait_points : OnContext<plait_points> {
  static constexpr const char* name = "points";
  plait::AnyKernel<PurifiableDTypes, Points<double>, Points<std::complex<double>>> kernel;
};

int plait_points_create(plait_context* context, plait_type type, plait_triangle triangle, const plait_index* states,
                        plait_index count, plait_points** points) {
  std::vector<Index> n;
  return create(
      context, points, "points",
      [&](plait_points&, plait::mpi::Alike& arguments) {
        static_cast<void>(dtype<PurifiableDTypes>(type));
        static_cast<void>(triangle_of(triangle));
        expect_at_least("count", count, 1);
        const auto given = expect_array(states, count, "states");
        n.assign(given.begin(), given.end());
        for (std::size_t k = 0; k < n.size(); ++k) expect_at_least("states[" + std::to_string(k) + "]", n[k], 1);
        arguments.add("type", type);
        arguments.add("triangle", triangle);
      },
      [&](plait_points& made) {
        made.kernel.emplace(static_cast<plait::DType>(type), *made.context, n, triangle_of(triangle));
      });
}

int plait_points_free(plait_points** points) { return free_handle(points, "points"); }

int plait_points_set(plait_points* points, plait_index point, const plait_layout* h_layout, const plait_source_tile* h,
                     plait_index h_count, const plait_layout* s_layout, const plait_source_tile* s,
                     plait_index s_count) {
  return with_kernel(points, "points",
                     [&](auto& kernel) { kernel.set(point, h_layout, h, h_count, s_layout, s, s_count); });
}

int plait_points_fill(plait_points* points, const plait_points_problem* problem, plait_points_result* result) {
  return with_kernel(points, "points", [&](auto& kernel) { kernel.fill(problem, result); });
}

int plait_points_take(plait_points* points, plait_index point, const plait_layout* d_layout, const plait_target_tile* d,
                      plait_index d_count) {
  return with_kernel(points, "points", [&](auto& kernel) { kernel.take(point, d_layout, d, d_count); });
}

int plait_points_states(plait_points* points, plait_index point, double* energies, double* occupations) {
  return with_kernel(points, "points", [&](auto& kernel) { kernel.states(point, energies, occupations); });
}
