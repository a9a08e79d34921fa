#include <algorithm>
#include <complex>
#include <optional>
#include <string>
#include <utility>

#include "plait/layout/fingerprint.hpp"
#include "plait/purify/dense_products.hpp"
#include "plait/purify/eigenstates.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/filling.hpp"
#include "plait/purify/orthogonal.hpp"
#include "plait/purify/sequence.hpp"
#include "plait/purify/ways.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "capi/hermitian.hpp"

using namespace plait::capi;
using plait::Index;
using plait::layout::Layout;
using plait::purify::Matrix;
using plait::redistribute::Redistribution;

namespace {

struct PurificationLayouts {
  std::optional<Layout> h, s, d;  // s: where there is an overlap
  std::optional<plait::purify::Triangle> triangle;
};

/// The purifications of a handle, one after the other. Everything is collective, and the same on all ranks.
template <plait::Field T>
class Purifier {
 public:
  Purifier(plait::mpi::Context& context, PurificationLayouts layouts)
      : context_(context),
        layouts_(std::move(layouts)),
        n_(layouts_.h->shape().rows),
        products_(context, n_, plait::purify::choose_squares(context.size())),
        sequence_(products_) {}

  void set_overlap(const plait_source_tile* s, Index count) {
    s_.reset(), z_.reset(), stop();
    if (!layouts_.s) {
      throw plait::ArgumentError("s: was planned to be NULL, expected a layout of it in that case");
    }
    s_.emplace(read(*layouts_.s, s, count, "s"));
  }

  void begin(const plait_purification_problem* given, const plait_source_tile* h, Index count) {
    stop();
    plait::purify::Problem problem;
    bool by_eigenstates = false;
    checked(context_, [&](plait::mpi::Alike& arguments) {
      expect_input(given, "problem", "a plait_purification_problem");
      if (layouts_.s && !s_) {
        throw plait::ArgumentError("purification: has no overlap yet, expected plait_purification_set_overlap before");
      }
      by_eigenstates = takes_eigenstates(*given);
      if (by_eigenstates) {
        expect_eigenstates(*given);
      } else {
        problem = problem_of(*given);
      }
      arguments.add("electrons", given->electrons);
      arguments.add("electrons_per_state", per_state_);
      arguments.add("method", given->method);
      arguments.add("gershgorin", given->gershgorin != 0);
      arguments.add("smearing", given->smearing);
      arguments.add("width", given->width);
      arguments.add("mixed_precision", given->mixed_precision != 0);
    });
    products_before_ = products_.count();
    Matrix<T> hamiltonian = read(*layouts_.h, h, count, "h");
    if (by_eigenstates || chooses_eigenstates(*given, problem)) {
      find_states(*given, h_.emplace(std::move(hamiltonian)));
      return;
    }
    if (s_) {
      if (!z_) find_root();
      plait::purify::transform(products_, *z_, hamiltonian);
    }
    const auto bounds = given->gershgorin != 0 ? plait::purify::Bounds::gershgorin : plait::purify::Bounds::lanczos;
    const bool is_mixed = given->mixed_precision != 0;
    if (is_mixed && !early_) early_.emplace(context_, n_, plait::purify::choose_squares(context_.size()));
    running_ = &sequence_.begin(std::move(hamiltonian), problem, bounds, is_mixed ? &*early_ : nullptr);
    is_done_ = false;
  }

  bool advance(plait_purification_result* progress) {
    if (states_) {
      if (progress != nullptr) *progress = result_of_states();
      return false;
    }
    if (!running_) {
      throw plait::ArgumentError("purification: none is under way, expected plait_purification_begin before");
    }
    if (!is_done_) {
      try {
        is_done_ = !running_->advance();
      } catch (...) {
        stop();
        throw;
      }
      if (!is_done_) running_->follow_frontier();
    }
    if (progress != nullptr) *progress = result_so_far();
    return !is_done_;
  }

  void end(const plait_target_tile* d, Index count, plait_purification_result* result) {
    const auto target = checked(context_, [&](auto&) { return views_in<T>(context_, *layouts_.d, d, count, "d"); });
    while (advance(nullptr)) continue;
    plait_purification_result found;
    plait::purify::DensityErrors errors;
    std::optional<Matrix<T>> summed;
    if (states_) {
      found = result_of_states();
      summed.emplace(allocate());
      states_->weigh(filling_.occupations.of_states, *summed);
      errors = plait::purify::density_errors(context_, states_->values(), filling_, *h_, s_ ? &*s_ : nullptr, *summed);
    } else {
      found = result_so_far();
      errors = finish(found);
    }
    Matrix<T>& density = states_ ? *summed : running_->density();
    found.trace_error = errors.trace, found.idempotency_error = errors.idempotency;
    found.commutator_error = errors.commutator;
    if (const std::string complaint = errors.complaint(n_, s_.has_value()); !complaint.empty()) {
      throw plait::Error(plait::ErrorKind::other, "the result is no density matrix: " + complaint);
    }
    Redistribution(context_, density.layout(), *layouts_.d)
        .template execute<T>(T{1}, density.const_tiles(), T{0}, target);
    stop();
    if (result != nullptr) *result = found;
  }

 private:
  void stop() { running_ = nullptr, sequence_.end(), states_.reset(), h_.reset(); }

  /// The errors of the density that the steps led to, in the basis that was given; completes `found`.
  plait::purify::DensityErrors finish(plait_purification_result& found) {
    if (n_ > 0) set_frontier(found, running_->frontier());
    Matrix<T>& density = running_->density();
    auto errors = plait::purify::density_errors(context_, running_->state(), sequence_.hamiltonian(), density);
    if (s_) plait::purify::bring_back(products_, *z_, *s_, running_->state().problem.occupied, density, errors);
    found.products = products_so_far();
    return errors;
  }

  void find_root() {
    auto copy = allocate();
    plait::purify::blend<T>(0, {{1, &*s_}}, copy);
    auto root = allocate();
    static_cast<void>(plait::purify::inverse_root(products_, copy, root));
    z_.emplace(std::move(root));
  }

  /// Whether only they do what is asked for.
  [[nodiscard]] static bool takes_eigenstates(const plait_purification_problem& given) {
    const bool has_to = given.smearing != PLAIT_SMEARING_NONE || given.eigenvalues != nullptr;
    return given.method == PLAIT_PURIFICATION_EIGEN || (has_to && given.method == PLAIT_PURIFICATION_AUTO);
  }
  /// Whether AUTO does; else it sets the method of the problem.
  [[nodiscard]] bool chooses_eigenstates(const plait_purification_problem& given, plait::purify::Problem& problem) {
    if (given.method != PLAIT_PURIFICATION_AUTO || given.chemical_potential != nullptr) return false;
    const bool is_mixed = given.mixed_precision != 0;
    const plait::purify::Prospect prospect{.states = n_,
                                           .occupied = problem.occupied,
                                           .dtype = plait::dtype_of<T>(),
                                           .knows_frontier = is_mixed || sequence_.knows_frontier(problem.occupied),
                                           .iterates = given.gershgorin != 0 || given.most_iterations != 0 || is_mixed};
    const std::optional<plait::purify::Method> cheapest = plait::purify::possible_ways(context_, prospect)[0].method;
    problem.method = cheapest.value_or(problem.method);
    return !cheapest;
  }

  void expect_eigenstates(const plait_purification_problem& given) {
    static_cast<void>(smearing_of(given.smearing));
    if (given.chemical_potential != nullptr) {
      throw plait::ArgumentError("chemical_potential: is given, but eigenstates tell it; expected NULL");
    }
    if (given.mixed_precision != 0) {
      throw plait::ArgumentError("mixed_precision: is given, but eigenstates take no steps; expected 0");
    }
    set_electrons(given);
  }

  void find_states(const plait_purification_problem& given, const Matrix<T>& h) {
    states_.emplace(context_, h, s_ ? &*s_ : nullptr);
    try {
      filling_ = filled(context_, [&] {
        const double states = static_cast<double>(given.electrons) / per_state_;
        return plait::purify::fill(states_->values(), states, smearing_of(given.smearing), given.width);
      });
    } catch (...) {
      stop();
      throw;
    }
    if (given.eigenvalues != nullptr) std::ranges::copy(states_->values(), given.eigenvalues);
  }

  [[nodiscard]] plait_purification_result result_of_states() const {
    plait_purification_result result{};
    result.energy = per_state_ * filling_.energy;
    result.entropy = per_state_ * filling_.occupations.entropy;
    result.lowest_potential = filling_.chemical_potentials.low;
    result.highest_potential = filling_.chemical_potentials.high;
    set_frontier(result, filling_.frontier);
    return result;
  }

  [[nodiscard]] Matrix<T> allocate() { return plait::purify::allocate<T>(context_, products_.layout()); }

  /// In the layout of the products.
  [[nodiscard]] Matrix<T> read(const Layout& from, const plait_source_tile* tiles, Index count, const char* what) {
    return hermitian_from<T>(context_, from, tiles, count, layouts_.triangle, products_.layout(), what);
  }

  /// How many states they occupy, the last of them in part where they don't fill it.
  Index set_electrons(const plait_purification_problem& given) {
    per_state_ = electrons_per_state(given.electrons_per_state);
    return given.smearing == PLAIT_SMEARING_NONE
               ? plait::purify::occupied_states(given.electrons, per_state_, n_)
               : plait::purify::partly_occupied_states(static_cast<double>(given.electrons), per_state_, n_);
  }

  [[nodiscard]] plait::purify::Problem problem_of(const plait_purification_problem& given) {
    using plait::purify::Method;
    plait::purify::Problem problem;
    expect_at_least("most_iterations", given.most_iterations, 0);
    if (given.most_iterations > 0) problem.most_iterations = given.most_iterations;
    if (given.smearing != PLAIT_SMEARING_NONE || given.eigenvalues != nullptr) {
      throw plait::ArgumentError(std::string(given.eigenvalues != nullptr ? "eigenvalues" : "smearing") +
                                 ": takes eigenstates, but the method is another one; expected "
                                 "PLAIT_PURIFICATION_EIGEN or PLAIT_PURIFICATION_AUTO");
    }
    problem.occupied = set_electrons(given);
    if (given.chemical_potential != nullptr) problem.chemical_potential = *given.chemical_potential;
    if (given.method != PLAIT_PURIFICATION_AUTO) {
      // Eigenstates were taken before.
      const int method = enumerator<int>("method", given.method, PLAIT_PURIFICATION_AUTO, PLAIT_PURIFICATION_EIGEN);
      problem.method = static_cast<Method>(method - PLAIT_PURIFICATION_CANONICAL);
    } else if (problem.chemical_potential) {
      problem.method = Method::mcweeny;
    }
    if (problem.chemical_potential && problem.method != Method::mcweeny) {
      throw plait::ArgumentError(
          "chemical_potential: is given, but the method finds it by itself; expected PLAIT_PURIFICATION_MCWEENY");
    }
    return problem;
  }

  [[nodiscard]] plait_purification_result result_so_far() const {
    const plait::purify::State& state = running_->state();
    const plait::purify::Interval potentials = state.chemical_potentials();
    plait_purification_result result{};
    result.products = products_so_far();
    result.lowest_potential = potentials.low, result.highest_potential = potentials.high;
    set_frontier(result, state.frontier);
    if (state.iterates.empty()) return result;
    const plait::purify::Iterate& last = state.iterates.back();
    result.iterations = std::ssize(state.iterates) - (is_done_ ? 1 : 0);
    result.energy = per_state_ * last.energy;
    result.trace_error = last.trace - static_cast<double>(state.problem.occupied);
    result.idempotency_error = last.idempotency_error;
    return result;
  }

  [[nodiscard]] Index products_so_far() const {
    return products_.count() - products_before_ + running_->early_multiplications();
  }

  static void set_frontier(plait_purification_result& result, const plait::purify::Frontier& frontier) {
    result.highest_occupied = frontier.highest_occupied, result.occupied_error = frontier.occupied_error;
    result.lowest_empty = frontier.lowest_empty, result.empty_error = frontier.empty_error;
  }

  plait::mpi::Context& context_;
  PurificationLayouts layouts_;
  Index n_;
  plait::purify::DenseProducts<T> products_;
  std::optional<plait::purify::DenseProducts<plait::purify::Single<T>>> early_;  // once they are asked for
  std::optional<Matrix<T>> s_, z_, h_;
  plait::purify::Sequence<T> sequence_;
  plait::purify::Purification<T>* running_ = nullptr;    // of this and the next, the one that is under way
  std::optional<plait::purify::Eigenstates<T>> states_;  // of h_
  plait::purify::Filling filling_;
  int per_state_ = 2;
  bool is_done_ = false;
  Index products_before_ = 0;
};

}  // namespace

struct plait_purification : OnContext<plait_purification> {
  static constexpr const char* name = "a purification";
  plait::AnyKernel<PurifiableDTypes, Purifier<double>, Purifier<std::complex<double>>> kernel;
};

int plait_purification_create(plait_context* context, plait_type type, const plait_layout* h, const plait_layout* s,
                              const plait_layout* d, plait_triangle triangle, plait_purification** purification) {
  PurificationLayouts layouts;
  return create(
      context, purification, "purification",
      [&](plait_purification& made, plait::mpi::Alike& arguments) {
        static_cast<void>(dtype<PurifiableDTypes>(type));
        arguments.add("type", type);
        arguments.add("triangle", triangle);
        layouts.triangle = triangle_of(triangle);
        layouts.h = expect_handle(h, "h").layout;
        layouts.d = expect_handle(d, "d").layout;
        arguments.add("s is given", s != nullptr);
        if (s != nullptr) layouts.s = expect_handle(s, "s").layout;
        const Index n = layouts.h->shape().rows;
        for (const auto& [layout, what] : {std::pair(&layouts.h, "h"), {&layouts.s, "s"}, {&layouts.d, "d"}}) {
          if (!*layout) continue;
          expect_square(**layout, n, *made.context, what);
          arguments.add(what, plait::layout::fingerprint(**layout));
        }
      },
      [&](plait_purification& made) {
        made.kernel.emplace(static_cast<plait::DType>(type), *made.context, std::move(layouts));
      });
}

int plait_purification_free(plait_purification** purification) { return free_handle(purification, "purification"); }

int plait_purification_set_overlap(plait_purification* purification, const plait_source_tile* s, plait_index s_count) {
  return with_kernel(purification, "purification", [&](auto& kernel) { kernel.set_overlap(s, s_count); });
}

int plait_purification_begin(plait_purification* purification, const plait_purification_problem* problem,
                             const plait_source_tile* h, plait_index h_count) {
  return with_kernel(purification, "purification", [&](auto& kernel) { kernel.begin(problem, h, h_count); });
}

int plait_purification_advance(plait_purification* purification, int* done, plait_purification_result* progress) {
  return with_kernel(purification, "purification", [&](auto& kernel) {
    const bool goes_on = kernel.advance(progress);
    if (done != nullptr) *done = goes_on ? 0 : 1;
  });
}

int plait_purification_end(plait_purification* purification, const plait_target_tile* d, plait_index d_count,
                           plait_purification_result* result) {
  return with_kernel(purification, "purification", [&](auto& kernel) { kernel.end(d, d_count, result); });
}

int plait_purification_execute(plait_purification* purification, const plait_purification_problem* problem,
                               const plait_source_tile* h, plait_index h_count, const plait_target_tile* d,
                               plait_index d_count, plait_purification_result* result) {
  return with_kernel(purification, "purification", [&](auto& kernel) {
    kernel.begin(problem, h, h_count);
    kernel.end(d, d_count, result);
  });
}
