#include "plait/sinkhorn/transport/symmetric_potentials.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/course/iterations.hpp"
#include "plait/sinkhorn/sweep/update.hpp"
#include "plait/sinkhorn/transport/stages.hpp"

namespace plait::sinkhorn {

namespace {

/// The iteration with one epsilon, in units of which the potentials are.
template <class A>
class Averages final : public Method {
 public:
  Averages(mpi::Context& context, CostOperand<A>& costs, const CheckedMarginals& marginals)
      : Method({&marginals, 1}),
        context_(context),
        costs_(costs),
        masses_(marginals.rows),
        counts_(mpi::all_gather(context.comm(), costs.rows())) {
    mpi::agreed(context, [&] {
      of_rows_.assign(masses_.size(), A{0});
      of_all_.assign(static_cast<std::size_t>(costs.columns()), A{0});
      moved_.resize(of_rows_.size());
      sums_.resize(of_all_.size());
      for (std::size_t i = 0; i < masses_.size(); ++i) {
        if (masses_[i] == 0) of_rows_[i] = -std::numeric_limits<A>::infinity();
      }
    });
    share();
  }

  void set_update(const LogUpdate& update) { update_ = update; }

  void multiply(double factor) {
    for (std::vector<A>* potentials : {&of_rows_, &of_all_}) {
      for (A& potential : *potentials) potential = static_cast<A>(static_cast<double>(potential) * factor);
    }
  }

  [[nodiscard]] std::vector<A> potentials() && { return std::move(of_all_); }

  /// The error is what sums were off by, relative to the sum of all.
  void rows(const Round& /*round*/, std::span<Found> found) override {
    std::ranges::copy(of_rows_, moved_.begin());
    std::ranges::fill(sums_, A{0});
    const LogVectors<A> problem{masses_, moved_, of_all_, sums_};
    RowsSwept swept;
    costs_.sweep({&problem, 1}, update_, {&swept, 1});
    std::array<double, 3> told{0, 0, static_cast<double>(swept.unreached)};
    for (std::size_t i = 0; i < masses_.size(); ++i) {
      if (masses_[i] == 0) continue;
      told[0] += masses_[i] * std::abs(std::expm1(static_cast<double>(of_rows_[i]) - static_cast<double>(moved_[i])));
      told[1] += masses_[i];
    }
    mpi::all_reduce(context_.comm(), told, mpi::Operation::sum());
    found.front() = {told[1] > 0 ? told[0] / told[1] : 0, told[2] > 0};
    average();
  }
  /// Columns are the rows.
  [[nodiscard]] std::vector<std::size_t> columns(std::span<const std::size_t> /*problems*/) override { return {}; }
  [[nodiscard]] Ending out_of_range(std::size_t /*problem*/, Index /*iteration*/) const override {
    return {iterate::End::numbers, "some sums can't be had"};
  }

 private:
  void average() {
    for (std::size_t i = 0; i < masses_.size(); ++i) {
      if (masses_[i] == 0) continue;
      const double change = static_cast<double>(of_rows_[i]) - static_cast<double>(moved_[i]);
      of_rows_[i] = static_cast<A>(static_cast<double>(moved_[i]) + change / 2);
    }
    share();
  }
  void share() { collective::all_gather(context_, std::span<const A>(of_rows_), std::span<A>(of_all_), counts_); }

  mpi::Context& context_;
  CostOperand<A>& costs_;
  std::span<const double> masses_;
  std::vector<Index> counts_;
  LogUpdate update_{1, 1};
  std::vector<A> of_rows_;  // this rank's
  std::vector<A> of_all_;
  std::vector<A> moved_;
  std::vector<A> sums_;
};

}  // namespace

template <class A>
std::vector<A> symmetric_potentials(mpi::Context& context, CostOperand<A>& costs, std::span<const double> masses,
                                    const TransportOptions& options, std::vector<TransportStage>& stages) {
  const auto marginals = mpi::agreed(context, [&] {
    CheckedMarginals made;
    made.rows.assign(masses.begin(), masses.end());
    return made;
  });
  Averages<A> averages(context, costs, marginals);
  double epsilon = std::max(options.epsilon, options.first_epsilon);
  while (true) {
    constexpr double rough = 1e-2;
    constexpr Index few = 30;
    constexpr Index most = 1000;
    const bool is_last = epsilon <= options.epsilon;
    Limits limits = options.limits;
    limits.tolerance = is_last ? options.limits.tolerance / 4 : std::max(rough, options.limits.tolerance);
    limits.most_iterations = std::min(is_last ? most : few, options.limits.most_iterations);
    mpi::agreed(context, [&] { costs.set_epsilon(epsilon, 1); });
    averages.multiply(1 / epsilon);
    averages.set_update(LogUpdate(relaxed_exponent(options.rho.rows, epsilon), 1));
    // Where errors come and go rounding leaves what it leaves; `transport` knows what to do about it.
    const auto outcome = iterated(context, averages, limits, {roundoff_of<A>(), 1 / roundoff_of<A>()}).front();
    if (outcome.is_out_of_range) return {};
    if (outcome.iterations > 0) stages.push_back({epsilon, outcome.iterations, Domain::logarithmic});
    averages.multiply(epsilon);
    if (is_last) return std::move(averages).potentials();
    epsilon = std::max(options.epsilon, epsilon / 4);
  }
}

template std::vector<double> symmetric_potentials(mpi::Context&, CostOperand<double>&, std::span<const double>,
                                                  const TransportOptions&, std::vector<TransportStage>&);
template std::vector<float> symmetric_potentials(mpi::Context&, CostOperand<float>&, std::span<const double>,
                                                 const TransportOptions&, std::vector<TransportStage>&);

}  // namespace plait::sinkhorn
