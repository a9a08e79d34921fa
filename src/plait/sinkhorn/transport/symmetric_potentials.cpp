#include "plait/sinkhorn/transport/symmetric_potentials.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/sweep/update.hpp"

namespace plait::sinkhorn {

namespace {

/// The iteration with one epsilon, in units of which the potentials are.
template <class A>
class Averages {
 public:
  Averages(mpi::Context& context, CostOperand<A>& costs, std::span<const double> masses)
      : context_(context), costs_(costs), masses_(masses), counts_(mpi::all_gather(context.comm(), costs.rows())) {
    mpi::agreed(context, [&] {
      of_rows.assign(static_cast<std::size_t>(costs.rows()), A{0});
      of_all.assign(static_cast<std::size_t>(costs.columns()), A{0});
      moved_.resize(of_rows.size());
      sums_.resize(of_all.size());
      for (std::size_t i = 0; i < masses.size(); ++i) {
        if (masses[i] == 0) of_rows[i] = -std::numeric_limits<A>::infinity();
      }
    });
    share();
  }

  /// What sums were off by before, relative to the sum of all; no number where some can't be had.
  [[nodiscard]] double iterate(const LogUpdate& update) {
    moved_ = of_rows;
    std::ranges::fill(sums_, A{0});
    const LogVectors<A> problem{masses_, moved_, of_all, sums_};
    RowsSwept swept;
    costs_.sweep({&problem, 1}, update, {&swept, 1});
    std::array<double, 3> told{0, 0, static_cast<double>(swept.unreached)};
    for (std::size_t i = 0; i < masses_.size(); ++i) {
      if (masses_[i] == 0) continue;
      const double change = static_cast<double>(of_rows[i]) - static_cast<double>(moved_[i]);
      told[0] += masses_[i] * std::abs(std::expm1(change));
      told[1] += masses_[i];
      of_rows[i] = static_cast<A>(static_cast<double>(moved_[i]) + change / 2);
    }
    mpi::all_reduce(context_.comm(), told, mpi::Operation::sum());
    share();
    if (told[2] > 0) return std::numeric_limits<double>::quiet_NaN();
    return told[1] > 0 ? told[0] / told[1] : 0;
  }

  void multiply(double factor) {
    for (std::vector<A>* potentials : {&of_rows, &of_all}) {
      for (A& potential : *potentials) potential = static_cast<A>(static_cast<double>(potential) * factor);
    }
  }

  std::vector<A> of_rows;  // this rank's
  std::vector<A> of_all;

 private:
  void share() { collective::all_gather(context_, std::span<const A>(of_rows), std::span<A>(of_all), counts_); }

  mpi::Context& context_;
  CostOperand<A>& costs_;
  std::span<const double> masses_;
  std::vector<Index> counts_;
  std::vector<A> moved_;
  std::vector<A> sums_;
};

}  // namespace

template <class A>
std::vector<A> symmetric_potentials(mpi::Context& context, CostOperand<A>& costs, std::span<const double> masses,
                                    const TransportOptions& options, std::vector<TransportStage>& stages) {
  Averages<A> averages(context, costs, masses);
  double epsilon = std::max(options.epsilon, options.first_epsilon);
  while (true) {
    constexpr double rough = 1e-2;
    constexpr Index few = 30;
    constexpr Index most = 1000;
    const bool is_last = epsilon <= options.epsilon;
    const double tolerance = is_last ? options.limits.tolerance / 4 : std::max(rough, options.limits.tolerance);
    const Index limit = std::min(is_last ? most : few, options.limits.most_iterations);
    mpi::agreed(context, [&] { costs.set_epsilon(epsilon, 1); });
    averages.multiply(1 / epsilon);
    const double rho = options.rho.rows;
    const LogUpdate update(rho == std::numeric_limits<double>::infinity() ? 1 : rho / (rho + epsilon), 1);
    Index iteration = 0;
    double least = std::numeric_limits<double>::infinity();
    Index since_least = 0;
    for (double error = least; iteration < limit && error > tolerance;) {
      error = averages.iterate(update);
      if (!std::isfinite(error)) return {};
      ++iteration;
      if (options.limits.listener) options.limits.listener(iteration, error);
      // Rounding leaves what it leaves; `transport` knows what to do about it.
      constexpr Index patience = 20;
      since_least = error < 0.9 * least ? 0 : since_least + 1;
      least = std::min(least, error);
      if (since_least > patience) break;
    }
    if (iteration > 0) stages.push_back({epsilon, iteration, Domain::logarithmic});
    averages.multiply(epsilon);
    if (is_last) return std::move(averages.of_all);
    epsilon = std::max(options.epsilon, epsilon / 4);
  }
}

template std::vector<double> symmetric_potentials(mpi::Context&, CostOperand<double>&, std::span<const double>,
                                                  const TransportOptions&, std::vector<TransportStage>&);
template std::vector<float> symmetric_potentials(mpi::Context&, CostOperand<float>&, std::span<const double>,
                                                 const TransportOptions&, std::vector<TransportStage>&);

}  // namespace plait::sinkhorn
