#include "plait/poisson/solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/model/halo.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::poisson {

namespace {

using layout::Box;
using layout::BoxPartition;

// Of their own, which know k at points alone.
bool has_cycles(Method method) { return method >= Method::v_cycles && method <= Method::full_multigrid; }

bool has_steps(Method method) { return method == Method::jacobi || method == Method::chebyshev; }

// What suits a method best: others are moved to it, once.
BoxPartition partition_of(const Axes& axes, const BoxPartition& partition, Method method) {
  if (method == Method::fft) return FourierSolver::partition(axes, partition.ranks());
  if (method == Method::lu) return {partition.whole(), {1, 1, 1}, partition.ranks()};
  return method >= Method::v_cycles ? Multigrid::partition(axes, partition) : partition;
}

// By the model: of the rank that has most.
Index best_steps(const mpi::Context& context, const Axes& axes, const BoxPartition& partition, Method method) {
  Index most = 16;
  const bool has_step = method == Method::chebyshev;
  model::GhostedSteps work{.bytes_sent_a_point = Index{sizeof(double)} * (has_step ? 2 : 1),
                           .bytes_moved_a_point = Index{sizeof(double)} * (has_step ? 8 : 6),
                           .bytes_reduced = Index{sizeof(double)} * Index{krylov::Dots::most}};
  for (std::size_t a = 0; a < layout::axes; ++a) {
    const std::vector<Index>& splits = partition.splits()[a];
    work.is_cut[a] = splits.size() > 2;
    work.is_periodic[a] = axes[a].is_periodic();
    work.extents[a] = 1;
    for (std::size_t p = 0; p + 1 < splits.size(); ++p) {
      work.extents[a] = std::max(work.extents[a], splits[p + 1] - splits[p]);
    }
    if (work.is_cut[a]) most = std::min(most, work.extents[a]);  // so that neighbours have all of the layers
  }
  return model::best_steps_per_exchange(work, context.machine(), context.placement(), most);
}

Options agreed(mpi::Context& context, const Given& given, Options options) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add("method", options.method);
    iterate::name_arguments(options.limits, arguments);
    arguments.add("omega", options.omega.value_or(0));
    arguments.add("steps_per_exchange", options.steps_per_exchange);
    arguments.add("sums", options.sums);
    arguments.add("project", options.project);
    arguments.add("smoother", options.multigrid.smoother);
    arguments.add("sweeps_before", options.multigrid.sweeps_before);
    arguments.add("sweeps_after", options.multigrid.sweeps_after);
    arguments.add("cycles", options.multigrid.cycles);
    arguments.add("least_points_per_rank", options.multigrid.least_points_per_rank);
    arguments.add("most_jump", options.multigrid.most_jump);
    iterate::expect_valid(options.limits);
    if (options.omega && !(*options.omega > 0 && *options.omega < 2)) {
      throw ArgumentError(fmt::format("omega: is {}, expected one between 0 and 2", *options.omega));
    }
    constexpr Index most = 1024;
    if (options.steps_per_exchange < 0 || options.steps_per_exchange > most) {
      throw ArgumentError(fmt::format("steps_per_exchange: is {}, expected 0 to {}", options.steps_per_exchange, most));
    }
    const auto expect_other = [&](bool has_it, bool is_lacking, std::string_view what, std::string_view others) {
      if (!has_it || !is_lacking) return;
      throw ArgumentError(
          fmt::format("{}, which {} can't have, expected jacobi, chebyshev, sor, cg, pipelined-cg{}mg-cg{}", what,
                      name(options.method), others.empty() ? " or " : ", ", others));
    };
    const bool is_direct = options.method == Method::fft || options.method == Method::lu;
    expect_other(!given.k.faces.empty(), has_cycles(options.method), "k: is given by face", " or lu");
    expect_other(!options.outside.points.empty(), is_direct || has_cycles(options.method),
                 "outside: there are points outside of the domain", "");
    expect_values(context, given, arguments);
  });
  if (!has_steps(options.method)) options.steps_per_exchange = 1;
  if (options.steps_per_exchange == 0)
    options.steps_per_exchange = best_steps(context, given.axes, given.partition, options.method);
  return options;
}

}  // namespace

std::string_view name(Method method) {
  static constexpr std::array<std::string_view, 12> names{"jacobi", "chebyshev", "sor", "cg", "pipelined-cg", "fft",
                                                          "lu",     "v",         "w",   "f",  "fmg",          "mg-cg"};
  return names[static_cast<std::size_t>(method)];
}

Solver::Solver(mpi::Context& context, const Axes& axes, const BoxPartition& partition, const Coefficient& k,
               std::span<const double> f, std::span<const double> start, const Options& options)
    : context_(context),
      options_(agreed(context, {axes, partition, k, f, start, options.boundary, options.outside}, options)),
      partition_(partition),
      equation_(context, {axes, partition, k, f, start, options.boundary, options.outside},
                partition_of(axes, partition, options.method), options_.steps_per_exchange, options.project),
      u_(equation_.take_start()),
      course_(options.limits, {.roundoff = iterate::roundoff_of<double>(), .errors = iterate::Errors::fluctuate},
              norm()),
      dots_(context, options.sums),
      is_at_zero_(equation_.starts_at_zero()) {
  Level& level = equation_.level();
  mpi::agreed(context, [&] {
    if (!has_cycles(options.method)) r_ = level.zeros();
  });
  make_method();
  if (options.method == Method::multigrid_conjugate_gradients &&
      (level.has_outside() || !k.faces.empty() ||
       largest_jump(context, axes, partition, k) > options.multigrid.most_jump)) {
    black_box_ = poisson::black_box(context, level, options.multigrid.least_points_per_rank);
  } else if (options.method >= Method::v_cycles) {
    // Kinds are in the order of the methods.
    const auto kind = static_cast<Cycle>(static_cast<int>(options.method) - static_cast<int>(Method::v_cycles));
    multigrid_ = Multigrid::make(context, equation_, kind, options.multigrid);
  }
  make_conjugate_gradients();
  if (has_relaxation() && level.weighs()) estimate_.emplace(context, at(level.own().points()));
}

void Solver::make_method() {
  switch (options_.method) {
    case Method::jacobi: {
      // Where u is given nowhere on a part, 2 is an eigenvalue of D⁻¹ A: 1 would keep errors that alternate in sign.
      constexpr double damped = 0.9;
      omega_ = options_.omega.value_or(equation_.has_free_parts() ? damped : 1);
      steps_.emplace(context_, equation_, options_.steps_per_exchange, omega_);
      break;
    }
    case Method::chebyshev: {
      constexpr double most = 2;  // as no row of D⁻¹ A has a larger sum of sizes
      const krylov::Extremes found = scaled_spectrum(context_, equation_);
      const double low = found.low > 0 ? std::min(found.low, most) : most;
      steps_.emplace(context_, equation_, options_.steps_per_exchange, omega_, StepIteration::Bounds{low, most});
      break;
    }
    case Method::sor: omega_ = options_.omega ? *options_.omega : best_omega(context_, equation_); break;
    case Method::fft:
      if (!equation_.constant()) {
        throw ArgumentError(fmt::format(
            "method: is fft, which takes a k that is the same everywhere, but k is {} to {}; expected mg-cg or "
            "another method",
            equation_.extremes()[0], equation_.extremes()[1]));
      }
      fourier_.emplace(context_, equation_.level().axes(), *equation_.constant());
      break;
    case Method::lu: {
      Level& level = equation_.level();
      const Index points = partition_.whole().points();
      if (points > Elimination::most_points) {
        throw ArgumentError(fmt::format(
            "method: is lu, which takes at most {} points, as factors of {} would be of {:.3g} GB; expected "
            "mg-cg or another method",
            Elimination::most_points, points, 8e-9 * std::pow(static_cast<double>(points), 2)));
      }
      elimination_.emplace(points, !level.own().is_empty(),
                           [&](std::span<const double> in, std::span<double> out) { level.multiply(in, r_, out); });
      break;
    }
    default: break;
  }
}

void Solver::make_conjugate_gradients() {
  const bool is_pipelined = options_.method == Method::pipelined_conjugate_gradients;
  const bool has_preconditioner = options_.method == Method::multigrid_conjugate_gradients;
  if (!is_pipelined && !has_preconditioner && options_.method != Method::conjugate_gradients) return;
  Level& level = equation_.level();
  mpi::agreed(context_, [&] {
    right_side_ = level.own_values(equation_.right_side());
    solution_ = level.own_values(u_);
    if (level.weighs()) weights_ = level.own_values(level.inverse_diagonal());
  });
  const krylov::Operator<double> a = [this](std::span<const double> in, std::span<double> out) {
    equation_.level().multiply(in, r_, out);
  };
  const krylov::Projection<double> without_means = [this](std::span<double> values) { equation_.remove_means(values); };
  // A makes nothing of constants on free parts, M much.
  const krylov::Operator<double> m = [this](std::span<const double> in, std::span<double> out) {
    std::ranges::copy(in, out.begin());
    equation_.remove_means(out);
    equation_.level().copy_in(out, r_);
    (black_box_ ? *black_box_ : *multigrid_).apply(r_, u_);
    equation_.level().copy_out(u_, out);
    equation_.remove_means(out);
  };
  // Clusters take as long as some cycles, which shift such sets themselves, but where k spans very much.
  constexpr double very_much = 1e8;
  krylov::Shift<double> shift;
  const auto extremes = equation_.extremes();
  if (!has_preconditioner || extremes[1] > very_much * extremes[0]) {
    shift = [this](std::span<const double> r) { return this->shift(r); };
  }
  const krylov::Projection<double> project = equation_.has_free_parts() ? without_means : krylov::Projection<double>{};
  const krylov::Options options{options_.limits, options_.sums};
  const krylov::System<double> system{a, right_side_, solution_, weights_, project, shift};
  if (is_pipelined) {
    gradients_ = std::make_unique<krylov::PipelinedConjugateGradient<double>>(context_, system, options);
  } else {
    gradients_ = std::make_unique<krylov::ConjugateGradient<double>>(
        context_, system, options, has_preconditioner ? m : krylov::Operator<double>{});
  }
}

void Solver::correct() {
  const Level& level = equation_.level();
  std::vector<double> e = mpi::agreed(context_, [&] { return level.own_values(r_); });
  fourier_ ? fourier_->solve(e) : elimination_->solve(e);
  auto next = e.begin();
  level.for_each_point([&](std::size_t place, const layout::Point&) { u_[place] += *next++; });
}

double Solver::error() {
  Level& level = equation_.level();
  const Values& b = equation_.right_side();
  const bool is_first = right_side_squared_ == 0;
  if (steps_) {
    steps_->find_residual(u_, r_);
  } else if (!has_cycles(options_.method)) {
    level.exchange(u_);
    level.residual(u_, b, r_);
  }
  const auto add = [&](std::size_t i, const Values& values) {
    level.for_each_row([&](Index offset, Index, Index) {
      const std::span<const double> row = level.weighted(values.data() + offset, offset);
      dots_.add(i, row, row);
    });
  };
  if (!has_cycles(options_.method)) add(0, r_);
  // The residual of u = 0 is b.
  const bool is_at_zero = std::exchange(is_at_zero_, false);
  if (is_first && !is_at_zero) add(1, b);
  dots_.begin();
  dots_.finish();
  if (is_first) right_side_squared_ = dots_[is_at_zero ? 0 : 1];
  return right_side_squared_ == 0 ? 0 : std::sqrt(dots_[0] / right_side_squared_);
}

void Solver::iterate_once() {
  const Values& b = equation_.right_side();
  switch (options_.method) {
    case Method::jacobi:
    case Method::chebyshev: steps_->advance(u_, r_); break;  // r is that of u
    case Method::sor: equation_.level().sweep(omega_, u_, b); break;
    case Method::fft:
    case Method::lu: correct(); break;
    default: multigrid_->improve(u_, b, dots_);
  }
}

bool Solver::advance() {
  if (gradients_) return gradients_->advance();
  if (course_.state().end != iterate::End::none) return false;
  if (!has_begun_) {
    has_begun_ = true;
    if (has_cycles(options_.method)) {
      is_at_zero_ ? multigrid_->begin_at_zero(equation_.right_side(), equation_.largest(), dots_)
                  : multigrid_->begin(u_, equation_.right_side(), dots_);
    }
    const double first = error();
    if (right_side_squared_ == 0) std::ranges::fill(u_, 0);
    if (course_.errors().empty() && first <= options_.limits.tolerance && !estimate_) {
      course_.end(iterate::End::converged, fmt::format("{} is {:.3g} at the start", norm(), first));
      return false;
    }
    if (!estimate_ && course_.is_over()) return false;  // it goes on from the end of a run
  }
  if (course_.is_at_limit()) {
    if (estimate_) check_u();
    course_.end_at_limit();
    return false;
  }
  iterate_once();
  course_.took(error());
  const std::vector<double>& errors = course_.errors();
  constexpr double hopeless = 1e6;
  if (!std::isfinite(errors.back()) || errors.back() > hopeless * std::max(errors.front(), 1.)) {
    course_.end(iterate::End::numbers,
                fmt::format("{} has grown from {:.3g} to {:.3g}: the method does not converge here{}", norm(),
                            errors.front(), errors.back(),
                            equation_.level().k_varies() ? ", as k jumps; use multigrid as a preconditioner" : ""));
    return false;
  }
  if (!goes_on_for_u() && course_.is_over()) return false;
  if (course_.state().end == iterate::End::none && is_at_rounding()) {
    course_.end(iterate::End::numbers,
                fmt::format("{} stays at {:.3g}, which is what rounding leaves of its terms; the tolerance is {:.3g}",
                            norm(), errors.back(), options_.limits.tolerance));
  }
  return course_.state().end == iterate::End::none;
}

double Solver::shift(std::span<const double> r) {
  if (!clusters_) clusters_.emplace(context_, equation_.level());
  return clusters_->largest_shift(r);
}

void Solver::check_u() {
  const Level& level = equation_.level();
  const double off = shift(mpi::agreed(context_, [&] { return level.own_values(r_); }));
  estimate_->know(course_.state().step, off > 0 ? off / level.largest_of(context_, u_) : 0);
}

bool Solver::goes_on_for_u() {
  if (!estimate_) return false;
  const Index step = course_.state().step;
  if (estimate_->is_due(step)) {
    estimate_->look(step, mpi::agreed(context_, [&] { return equation_.level().own_values(u_); }));
  }
  const double tolerance = options_.limits.tolerance;
  if (course_.state().error > tolerance) return false;
  const bool is_near = estimate_->by_changes() <= tolerance;
  if (is_near && estimate_->is_to_be_checked(step)) check_u();
  const double off = estimate_->value();
  if (off <= tolerance) return false;
  if (estimate_->is_at_rounding()) {
    course_.end(iterate::End::numbers,
                fmt::format("u changes by what rounding makes alone, and is off by {:.3g} of its largest value by "
                            "estimate; the tolerance is {:.3g}",
                            off, tolerance));
  }
  return true;
}

// Terms are those of b and D u, which is larger. Relaxation may fall slowly, so that it takes as many iterations again
// to tell.
bool Solver::is_at_rounding() {
  const std::vector<double>& errors = course_.errors();
  if (has_relaxation() ? !course_.is_slow() : !iterate::is_at_roundoff(errors, INFINITY)) return false;
  Level& level = equation_.level();
  const Values& inverse = level.inverse_diagonal();
  std::vector<double> terms = mpi::agreed(context_, [&] { return std::vector<double>(at(level.row_length())); });
  level.for_each_row([&](Index offset, Index, Index) {
    for (std::size_t x = 0; x < terms.size(); ++x) {
      const std::size_t place = at(offset) + x;
      terms[x] = inverse[place] > 0 ? u_[place] / (level.weighs() ? 1 : inverse[place]) : 0;
    }
    dots_.add<double>(0, terms, terms);
  });
  dots_.begin();
  dots_.finish();
  return iterate::is_at_roundoff(errors, iterate::roundoff_of<double>() * std::sqrt(dots_[0] / right_side_squared_));
}

std::optional<double> Solver::estimated_error() const {
  if (gradients_) return gradients_->estimated_error();
  return estimate_ ? std::optional(estimate_->value()) : std::nullopt;
}

const iterate::State& Solver::state() const noexcept { return gradients_ ? gradients_->state() : course_.state(); }

const std::vector<double>& Solver::errors() const noexcept {
  return gradients_ ? gradients_->errors() : course_.errors();
}

void Solver::save(iterate::Checkpoint& checkpoint) const {
  if (gradients_) return gradients_->save(checkpoint);
  course_.save(checkpoint);
  checkpoint.by_rank["u"] = equation_.level().own_values(u_);
  if (steps_) steps_->save(checkpoint);
  if (estimate_) estimate_->save(checkpoint);
}

void Solver::resume(const iterate::Checkpoint& checkpoint) {
  if (gradients_) return gradients_->resume(checkpoint);
  mpi::agreed(context_, [&](mpi::Alike& alike) {
    iterate::name_arguments(checkpoint, alike);
    course_.resume(checkpoint);
    const auto found = checkpoint.by_rank.find("u");
    const Index size = found == checkpoint.by_rank.end() ? 0 : std::ssize(found->second);
    if (size != equation_.level().own().points()) {
      throw ArgumentError(
          fmt::format("the state has {} values of u, expected {}", size, equation_.level().own().points()));
    }
    equation_.level().copy_in(found->second, u_);
    is_at_zero_ = false;
    if (steps_) steps_->resume(checkpoint);
    if (estimate_) estimate_->resume(checkpoint);
  });
}

Values& Solver::current_u() {
  if (!solution_.empty()) equation_.level().copy_in(solution_, u_);
  return u_;
}

void Solver::copy_solution(std::span<double> u) { std::ranges::copy(equation_.solution(current_u()), u.begin()); }

auto Solver::check() -> Check {
  const auto [left, all, weighted_left, weighted_all] = equation_.squares(current_u());
  return {all == 0 ? 0 : std::sqrt(left / all), weighted_all == 0 ? 0 : std::sqrt(weighted_left / weighted_all),
          std::sqrt(all / static_cast<double>(partition_.whole().points()))};
}

std::string_view Solver::norm() const noexcept {
  return equation_.level().weighs() ? "‖D⁻¹ (b - A u)‖/‖D⁻¹ b‖" : "‖b - A u‖/‖b‖";
}

std::optional<double> Solver::hidden_reductions() const {
  const auto* const pipelined = dynamic_cast<const krylov::PipelinedConjugateGradient<double>*>(gradients_.get());
  if (pipelined == nullptr) return std::nullopt;
  std::array<Index, 2> counts{pipelined->hidden_reductions(), pipelined->reductions()};
  mpi::all_reduce(context_.comm(), std::span<Index>(counts), mpi::Operation::sum());
  return counts[1] == 0 ? 0 : static_cast<double>(counts[0]) / static_cast<double>(counts[1]);
}

Balance Solver::balance() { return equation_.balance(current_u()); }

}  // namespace plait::poisson
