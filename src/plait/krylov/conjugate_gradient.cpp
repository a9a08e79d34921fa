#include "plait/krylov/conjugate_gradient.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::krylov {

namespace {

template <class T>
iterate::Limits agreed_limits(mpi::Context& context, const System<T>& system, bool weighs, const Options& options) {
  return mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    arguments.add("sums", options.sums);
    iterate::name_arguments(options.limits, arguments);
    iterate::expect_valid(options.limits);
    const std::size_t size = system.b.size();
    if (system.x.size() != size) {
      throw ArgumentError(fmt::format("x: has {} elements, expected {}, as b has", system.x.size(), size));
    }
    if (weighs && system.weights.size() != size) {
      throw ArgumentError(fmt::format("weights: has {} elements, expected {}, as b has", system.weights.size(), size));
    }
    return options.limits;
  });
}

template <class T>
std::vector<T> agreed_vector(mpi::Context& context, std::size_t size) {
  return mpi::agreed(context, [&] { return std::vector<T>(size); });
}

// y ← x + s·y
template <class T>
void scale_and_add(std::span<const T> x, double s, std::vector<T>& y) {
  const T factor = static_cast<T>(s);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + factor * y[i];
}

// y ← y + s·x
template <class T>
void add_scaled(double s, const std::vector<T>& x, std::span<T> y) {
  const T factor = static_cast<T>(s);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

}  // namespace

template <class T>
ConjugateGradientBase<T>::ConjugateGradientBase(mpi::Context& context, System<T> system, const Options& options)
    : context_(context),
      system_(std::move(system)),
      weighs_(mpi::all_reduce(context.comm(), Index{system_.weights.empty() ? 0 : 1}, mpi::Operation::maximum()) > 0),
      limits_(agreed_limits(context, system_, weighs_, options)),
      course_(limits_, {.roundoff = iterate::roundoff_of<T>(), .errors = iterate::Errors::fluctuate}, norm()),
      r_(agreed_vector<T>(context, system_.b.size())),
      dots_(context, options.sums),
      kept_{{{"x", system_.x}, {"r", r_}},
            {{"‖b‖²", &norm_squared_}, {"last true error", &last_true_error_}, {"least error", &least_error_}}},
      weighted_(agreed_vector<T>(context, system_.weights.size())),
      projected_(agreed_vector<T>(context, system_.project ? system_.b.size() : 0)) {
  if (weighs_) estimate_.emplace(context, system_.b.size());
}

template <class T>
void ConjugateGradientBase<T>::add_square(std::size_t sum, std::span<const T> values) {
  if (weighs_) {
    std::ranges::transform(system_.weights, values, weighted_.begin(), std::multiplies<>());
    values = weighted_;
  }
  dots_.add<T>(sum, values, values);
}

template <class T>
std::string_view ConjugateGradientBase<T>::norm() const noexcept {
  return weighs_ ? "‖D⁻¹ (b - A·x)‖/‖D⁻¹ b‖" : "‖b - A·x‖/‖b‖";
}

template <class T>
double ConjugateGradientBase<T>::relative(double residual_squared) const {
  return std::sqrt(residual_squared / norm_squared_);
}

template <class T>
std::span<const T> ConjugateGradientBase<T>::projected_x() {
  if (!system_.project) return system_.x;
  std::ranges::copy(system_.x, projected_.begin());
  system_.project(projected_);
  return projected_;
}

template <class T>
bool ConjugateGradientBase<T>::is_right(std::span<const T> r) {
  if (!estimate_) return true;
  std::array<double, 2> most{system_.shift ? system_.shift(r) : 0, 0};  // of what x is off by, and of x
  for (std::size_t i = 0; !system_.shift && i < r.size(); ++i) {
    most[0] = std::max(most[0], std::abs(static_cast<double>(system_.weights[i]) * static_cast<double>(r[i])));
  }
  for (const T value : projected_x()) most[1] = std::max(most[1], std::abs(static_cast<double>(value)));
  mpi::all_reduce(context_.comm(), std::span<double>(most), mpi::Operation::maximum());
  estimate_->know(course_.state().step, most[0] > 0 ? most[0] / most[1] : 0);
  return estimate_->least() <= limits_.tolerance;
}

template <class T>
double ConjugateGradientBase<T>::true_error(std::span<T> r) {
  system_.a(system_.x, r);
  std::ranges::transform(system_.b, r, r.begin(), std::minus<>());
  add_square(0, r);
  add_square(1, system_.b);
  dots_.begin();
  dots_.finish();
  norm_squared_ = dots_[1];
  return relative(dots_[0]);
}

template <class T>
bool ConjugateGradientBase<T>::is_near(double error) const {
  if (!estimate_) return true;
  // Recurrences go on below what rounding leaves of b - A·x, and then tell nothing of x.
  constexpr double few = 64;
  return estimate_->by_changes() <= limits_.tolerance || estimate_->is_at_rounding() ||
         error <= few * iterate::roundoff_of<T>();
}

template <class T>
auto ConjugateGradientBase<T>::begin() -> Verdict {
  has_begun_ = true;
  const double error = true_error(r_);
  if (norm_squared_ == 0) {
    std::ranges::fill(system_.x, T{});
    course_.end(iterate::End::converged, "b is 0, and so is x");
    return Verdict::is_over;
  }
  if (!std::isfinite(error)) return fail("b, x or A·x is not finite");
  if (error > limits_.tolerance || !is_near(error) || !is_right(r_)) {
    if (!course_.is_at_limit()) return Verdict::begins_again;
    course_.end_at_limit();
    return Verdict::is_over;
  }
  course_.end(iterate::End::converged,
              fmt::format("{} is {:.3g} at the start, the tolerance {:.3g}", norm(), error, limits_.tolerance));
  return Verdict::is_over;
}

template <class T>
auto ConjugateGradientBase<T>::took(double residual_squared) -> Verdict {
  double error = relative(residual_squared);
  const Index step = course_.state().step + 1;
  // What A makes 0 of comes into r by rounding, and would stay there while the rest falls.
  constexpr Index some = 16;
  if (system_.project && step % some == 0) system_.project(r_);
  if (estimate_ && estimate_->is_due(step)) estimate_->look(step, projected_x());
  constexpr double few = 64;
  const bool is_at_rounding = error <= few * iterate::roundoff_of<T>();
  // Directions that go on beyond what rounding leaves are of no use any more, and then spoil x.
  constexpr double much = 1000;
  const bool is_spoiled = least_error_ <= limits_.tolerance && error > much * least_error_;
  least_error_ = std::min(least_error_, error);
  const bool is_asked = is_spoiled || (!(error > limits_.tolerance) && is_near(error) &&
                                       (!estimate_ || is_at_rounding || estimate_->is_to_be_checked(step)));
  std::vector<T> r = agreed_vector<T>(context_, is_asked ? r_.size() : 0);
  if (is_asked) error = true_error(r);
  course_.took(error);
  if (!std::isfinite(error)) return fail("the residual is not finite");
  if (!is_asked) return Verdict::goes_on;
  if (error <= limits_.tolerance) {
    if (is_right(r)) return converged(error);
    // Directions to come may find what the residual hides.
    if (!is_at_rounding && !is_spoiled) return Verdict::goes_on;
  }
  std::ranges::copy(r, r_.begin());
  return judge(error, r_);
}

template <class T>
auto ConjugateGradientBase<T>::converged(double error) -> Verdict {
  course_.end(iterate::End::converged,
              fmt::format("{} is {:.3g}, the tolerance {:.3g}", norm(), error, limits_.tolerance));
  return Verdict::is_over;
}

template <class T>
auto ConjugateGradientBase<T>::judge(double error, std::span<const T> r) -> Verdict {
  const bool is_x_right = is_right(r);
  if (error <= limits_.tolerance && is_x_right && is_near(error)) return converged(error);
  const double left = is_x_right ? error : std::max(error, estimate_->least());
  if (course_.is_at_limit()) {
    course_.end_at_limit(is_x_right ? "" : off_by());
  } else if (last_true_error_ < 0 || left < 0.5 * last_true_error_) {
    last_true_error_ = left;
    least_error_ = INFINITY;
    return Verdict::begins_again;
  } else {
    return fail(fmt::format("{} stays at {:.3g}{}, {}; the tolerance is {:.3g}", norm(), error,
                            is_x_right ? "" : off_by(), why_it_stays_, limits_.tolerance));
  }
  return Verdict::is_over;
}

template <class T>
std::string ConjugateGradientBase<T>::off_by() const {
  return fmt::format(", and x is off by {:.3g} of its largest element", estimate_->least());
}

template <class T>
bool ConjugateGradientBase<T>::is_over_at_limit(std::span<T> memory) {
  if (!course_.is_at_limit()) return false;
  const double error = true_error(memory);
  course_.correct(error);
  static_cast<void>(std::isfinite(error) ? judge(error, memory) : fail("the residual is not finite"));
  return true;
}

template <class T>
auto ConjugateGradientBase<T>::look_at_recurrence() -> Verdict {
  if (!iterate::is_to_be_asked(course_.errors().size())) return Verdict::goes_on;
  std::vector<T> r = agreed_vector<T>(context_, r_.size());
  const double error = true_error(r);
  constexpr double lost = 2;
  if (error <= lost * course_.state().error) return Verdict::goes_on;
  std::ranges::copy(r, r_.begin());
  course_.correct(error);
  return judge(error, r_);
}

template <class T>
auto ConjugateGradientBase<T>::fail(std::string reason) -> Verdict {
  course_.end(iterate::End::numbers, std::move(reason));
  return Verdict::is_over;
}

template <class T>
auto ConjugateGradientBase<T>::lose(std::string reason) -> Verdict {
  if (estimate_) estimate_->know(course_.state().step, INFINITY);
  return fail(std::move(reason));
}

template <class T>
void ConjugateGradientBase<T>::save(iterate::Checkpoint& checkpoint) const {
  course_.save(checkpoint);
  for (const auto& [name, value] : kept_.numbers) checkpoint.numbers[name] = *value;
  if (estimate_) estimate_->save(checkpoint);
  for (const auto& [name, values] : kept_.vectors) checkpoint.by_rank[name].assign(values.begin(), values.end());
}

template <class T>
void ConjugateGradientBase<T>::resume(const iterate::Checkpoint& checkpoint) {
  mpi::agreed(context_, [&](mpi::Alike& alike) {
    iterate::name_arguments(checkpoint, alike);
    course_.resume(checkpoint);
    for (const auto& [name, values] : kept_.vectors) {
      const auto found = checkpoint.by_rank.find(name);
      if (found == checkpoint.by_rank.end() || found->second.size() != values.size()) {
        throw ArgumentError(fmt::format("the state has {} elements of {}, expected {}",
                                        found == checkpoint.by_rank.end() ? 0 : found->second.size(), name,
                                        values.size()));
      }
      std::ranges::transform(found->second, values.begin(), [](double value) { return static_cast<T>(value); });
    }
    for (const auto& [name, value] : kept_.numbers) {
      const auto found = checkpoint.numbers.find(name);
      if (found == checkpoint.numbers.end()) throw ArgumentError(fmt::format("the state has no {}", name));
      *value = found->second;
    }
    if (estimate_) estimate_->resume(checkpoint);
  });
  has_begun_ = true;
  const iterate::State& last = state();
  if (!estimate_ && last.step > 0 && last.error <= limits_.tolerance) static_cast<void>(converged(last.error));
}

template <class T>
ConjugateGradient<T>::ConjugateGradient(mpi::Context& context, System<T> system, const Options& options,
                                        Operator<T> preconditioner)
    : Base(context, std::move(system), options),
      preconditioner_(std::move(preconditioner)),
      p_(agreed_vector<T>(context, this->r_.size())),
      q_(agreed_vector<T>(context, this->r_.size())),
      z_(agreed_vector<T>(context, preconditioner_ ? this->r_.size() : 0)) {
  this->kept_.vectors.emplace_back("p", p_);
  this->kept_.numbers.emplace_back("r·z", &rz_);
}

// z = M·r
template <class T>
std::span<const T> ConjugateGradient<T>::preconditioned() {
  if (!preconditioner_) return this->r_;
  preconditioner_(this->r_, z_);
  return z_;
}

template <class T>
bool ConjugateGradient<T>::begin_again() {
  const std::span<const T> z = preconditioned();
  rz_ = this->dots_.template dot<T>(this->r_, z);
  std::ranges::copy(z, p_.begin());
  return true;
}

template <class T>
bool ConjugateGradient<T>::advance() {
  if (this->state().end != iterate::End::none) return false;
  if (!this->has_begun_) {
    if (this->begin() == Verdict::is_over) return false;
    begin_again();
  }
  if (this->is_over_at_limit(q_)) return false;
  // q = A·p; α = r·z / p·q
  this->system_.a(p_, q_);
  const double pq = this->dots_.template dot<T>(p_, q_);
  if (!(pq > 0) || !(rz_ > 0)) {
    (void)this->lose(
        fmt::format("the direction p has p·A·p = {:.3g} and r·M·r = {:.3g}, expected more than 0: {} is not "
                    "positive definite, or a number is out of range",
                    pq, rz_, pq > 0 ? "M" : "A"));
    return false;
  }
  const double alpha = rz_ / pq;
  // x += α·p; r -= α·q; z = M·r
  add_scaled<T>(alpha, p_, this->system_.x);
  add_scaled<T>(-alpha, q_, this->r_);
  const std::span<const T> z = preconditioned();
  this->add_square(0, this->r_);
  const bool has_rz = preconditioner_ || this->weighs_;
  if (has_rz) this->dots_.template add<T>(1, this->r_, z);
  if (preconditioner_) this->dots_.template add<T>(2, q_, z);
  this->dots_.begin();
  this->dots_.finish();
  const double rr = this->dots_[0];
  const double rz = has_rz ? this->dots_[1] : rr;
  // r' - r = -α·q
  const double beta = preconditioner_ ? -alpha * this->dots_[2] / rz_ : rz / rz_;
  rz_ = rz;
  switch (this->took(rr)) {
    case Verdict::is_over: return false;
    case Verdict::begins_again: return begin_again();
    case Verdict::goes_on: break;
  }
  // p = z + β·p
  scale_and_add<T>(z, beta, p_);
  return true;
}

template <class T>
PipelinedConjugateGradient<T>::PipelinedConjugateGradient(mpi::Context& context, System<T> system,
                                                          const Options& options)
    : Base(context, std::move(system), options) {
  this->why_it_stays_ =
      "which is what rounding leaves of recurrences over an iteration: they stagnate, where those of conjugate "
      "gradients "
      "that are not pipelined may go on";
  for (std::vector<T>* vector : {&w_, &n_, &z_, &s_, &p_}) *vector = agreed_vector<T>(context, this->r_.size());
  this->kept_.vectors.insert(this->kept_.vectors.end(), {{"w", w_}, {"z", z_}, {"s", s_}, {"p", p_}});
  this->kept_.numbers.insert(this->kept_.numbers.end(), {{"γ", &gamma_}, {"α", &alpha_}, {"directions", &directions_}});
}

// w = A·r
template <class T>
bool PipelinedConjugateGradient<T>::begin_again() {
  this->system_.a(this->r_, w_);
  alpha_ = 0;
  return true;
}

template <class T>
bool PipelinedConjugateGradient<T>::advance() {
  if (this->state().end != iterate::End::none) return false;
  if (!this->has_begun_) {
    if (this->begin() == Verdict::is_over) return false;
    begin_again();
  }
  // γ = r·r, δ = w·r and meanwhile n = A·w
  this->dots_.template add<T>(0, this->r_, this->r_);
  this->dots_.template add<T>(1, w_, this->r_);
  if (this->weighs_) this->add_square(2, this->r_);
  this->dots_.begin();
  this->system_.a(w_, n_);
  ++reductions_;
  hidden_ += this->dots_.progress() ? 1 : 0;
  this->dots_.finish();
  const double gamma = this->dots_[0], delta = this->dots_[1];
  const bool has_direction = alpha_ != 0;
  if (directions_ > static_cast<double>(this->state().step)) {  // but for those that a limit had looked at
    Verdict verdict = this->took(this->weighs_ ? this->dots_[2] : gamma);
    if (verdict == Verdict::goes_on) verdict = this->look_at_recurrence();
    if (verdict == Verdict::begins_again) return begin_again();
    if (verdict == Verdict::is_over || this->is_over_at_limit(n_)) return false;
  }
  const double beta = has_direction ? gamma / gamma_ : 0;
  const double curvature = has_direction ? delta - beta * gamma / alpha_ : delta;
  if (!(curvature > 0) && has_direction) {  // as rounding has it, or A; which one, the next beginning tells
    return this->judge(this->true_error(this->r_), this->r_) == Verdict::begins_again && begin_again();
  }
  if (!(curvature > 0)) {
    (void)this->lose(
        fmt::format("the residual has r·A·r = {:.3g}, expected more than 0: A is not positive definite, or a number is "
                    "out of range",
                    curvature));
    return false;
  }
  alpha_ = gamma / curvature;
  gamma_ = gamma;
  scale_and_add<T>(n_, beta, z_);
  scale_and_add<T>(w_, beta, s_);
  scale_and_add<T>(this->r_, beta, p_);
  add_scaled<T>(alpha_, p_, this->system_.x);
  add_scaled<T>(-alpha_, s_, this->r_);
  add_scaled<T>(-alpha_, z_, w_);
  ++directions_;
  return true;
}

template class ConjugateGradientBase<float>;
template class ConjugateGradientBase<double>;
template class ConjugateGradient<float>;
template class ConjugateGradient<double>;
template class PipelinedConjugateGradient<float>;
template class PipelinedConjugateGradient<double>;

}  // namespace plait::krylov
