#include "plait/poisson/two_levels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "plait/collective/reproducible_sum.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::poisson {

TwoLevels::TwoLevels(mpi::Context& context, const Axes& axes, const layout::BoxPartition& partition,
                     const Coefficient& k, std::span<const double> f, Options options)
    : context_(context),
      level_(context, axes, partition),
      coarse_(axes, can_be_halved(axes)),
      coarse_partition_(partition.coarsened(coarse_.how)) {
  const Index has_outside =
      mpi::all_reduce(context.comm(), Index{options.outside.points.empty() ? 0 : 1}, mpi::Operation::maximum());
  if (has_outside == 1 || !k.faces.empty() ||
      std::ranges::none_of(coarse_.how.halves, [](bool is_halved) { return is_halved; })) {
    return;
  }
  constexpr Index enough = 100;  // of cycles
  options.limits.most_iterations = enough;
  options.limits.tolerance = std::max(options.limits.tolerance, 1e-8);
  const bool varies = mpi::all_reduce(context.comm(), Index{k.points.empty() ? 0 : 1}, mpi::Operation::maximum()) == 1;
  if (options.method != Method::multigrid_conjugate_gradients) {
    options.method = varies ? Method::f_cycles : Method::v_cycles;
  }
  options.omega = {};
  options.project = true;  // what the means of cells have lost of their sum by rounding
  const std::vector<double> coarse_k = varies ? on_coarse(k.points) : std::vector<double>();
  const std::vector<double> coarse_f = on_coarse(f);
  Solver solver(context, coarse_.axes, coarse_partition_, coarse_k, coarse_f, {}, options);
  iterate::run(solver);
  constexpr double good = 1e-5;  // what is left of the right side, where the iteration did not come to its end
  is_known_ = solver.state().end == iterate::End::converged || solver.state().error < good;
  mpi::agreed(context, [&] { coarse_u_.resize(coarse_f.size()); });
  solver.copy_solution(coarse_u_);
}

std::vector<double> TwoLevels::on_coarse(std::span<const double> fine) {
  const layout::Box box = coarse_partition_.box(context_.rank());
  Values values = mpi::agreed(context_, [&] { return level_.values(fine); });
  std::vector<double> result = mpi::agreed(context_, [&] { return std::vector<double>(at(box.points())); });
  level_.exchange(values, halo::Reach::corners);
  // Of coarse point i: fine points `first(i)` to the one before `first(i) + taps`, with their weights.
  const auto taps_of = [&](std::size_t a) {
    return coarse_.how.halves[a] && coarse_.how.first[a] == 0 ? Index{2} : Index{1};
  };
  const auto first = [&](std::size_t a, Index i) { return coarse_.how.halves[a] ? 2 * i + coarse_.how.first[a] : i; };
  const auto weight = [&](std::size_t a, Index i, Index tap) {
    return taps_of(a) == 1 ? 1 : level_.axes()[a].restriction(coarse_.axes[a], i)[at(tap)];
  };
  std::size_t place = 0;
  layout::for_each_point(box, [&](const layout::Point& p) {
    double sum = 0;
    layout::for_each_point({{}, {taps_of(0), taps_of(1), taps_of(2)}}, [&](const layout::Point& tap) {
      const double factor = weight(0, p[0], tap[0]) * weight(1, p[1], tap[1]) * weight(2, p[2], tap[2]);
      if (factor == 0) return;  // beyond the last point of an axis
      const layout::Point from{first(0, p[0]) + tap[0], first(1, p[1]) + tap[1], first(2, p[2]) + tap[2]};
      sum += factor * values[at(level_.offset_of(from))];
    });
    result[place++] = sum;
  });
  return result;
}

std::optional<Discretisation> TwoLevels::error(std::span<const double> u) {
  if (!is_known_) return std::nullopt;
  const std::vector<double> coarse = on_coarse(u);
  Discretisation found;
  std::array<simd::ExactSum, 1> squares;
  for (std::size_t i = 0; i < coarse.size(); ++i) {
    const double off = std::abs(coarse[i] - coarse_u_[i]) / 3;
    found.largest = std::max(found.largest, off);
    squares[0].add(off * off);
  }
  collective::merge(context_, squares);
  found.largest = mpi::all_reduce(context_.comm(), found.largest, mpi::Operation::maximum());
  found.mean_square = std::sqrt(squares[0].rounded<double>() / static_cast<double>(coarse_partition_.whole().points()));
  return found;
}

}  // namespace plait::poisson
