// Solving Poisson's equation to ‖b - A·u‖ ≤ 1e-8 ‖b‖ by F-cycles, against FFTW's sine transform of the same grid, which
// is exact where k = 1 (the "limit"; elsewhere a yardstick), and hypre's multigrid (the peer). On one rank; on two, the
// same problems without them.
//
//   ./dev bench poisson
//   ./dev bench poisson --filter "k=1 2047"
//
// 1 / "of limit" is how many transforms a solution takes. Neither counts what is set up before.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "plait/base/random.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/node/shared_window.hpp"
#include "plait/poisson/solver.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/poisson/peers.hpp"
#include "bench/sinkhorn/streaming_read.hpp"

namespace {

using namespace plait;
using bench::PoissonProblem;
using poisson::Method;

struct Setting {
  int dimensions;
  Index extent;
  double contrast = 1;  // of a smooth k
  Method method = Method::f_cycles;
  std::optional<double> gate = {}, aim = {};  // sine transforms
  std::optional<double> speedup = {};         // over hypre
};

// f is smooth and rough in equal parts.
PoissonProblem problem_of(const Setting& setting) {
  PoissonProblem problem{setting.dimensions, setting.extent, {}, {}};
  const Index n = setting.extent, planes = setting.dimensions == 3 ? n : 1;
  for (Index i = 0; i < planes; ++i) {
    for (Index j = 0; j < n; ++j) {
      for (Index x = 0; x < n; ++x) {
        const auto angle = [&](Index at) {
          return 2 * std::numbers::pi * static_cast<double>(at + 1) * problem.spacing();
        };
        const double wave = std::sin(angle(x)) * std::sin(angle(j));
        if (setting.contrast > 1) problem.k.push_back(std::exp(std::log(setting.contrast) * 0.5 * (1 + wave)));
        problem.f.push_back(0.5 + random_uniform(1, static_cast<std::uint64_t>(problem.f.size())));
      }
    }
  }
  return problem;
}

class Solution {
 public:
  Solution(mpi::Context& context, const Setting& setting)
      : context_(context),
        setting_(setting),
        problem_(problem_of(setting)),
        grid_{.extents = std::vector<Index>(static_cast<std::size_t>(setting.dimensions), setting.extent),
              .spacing = std::vector<double>(static_cast<std::size_t>(setting.dimensions), problem_.spacing()),
              .points = poisson::Points::nodes},
        partition_(layout::BoxPartition::for_ranks(grid_.box(), context.size())),
        whole_(problem_.f.size()) {
    const layout::Box own = partition_.box(context.rank()), whole = grid_.box();
    for (Index i = own.low[0]; i < own.high[0]; ++i) {
      for (Index j = own.low[1]; j < own.high[1]; ++j) {
        for (Index x = own.low[2]; x < own.high[2]; ++x) {
          const auto p = static_cast<std::size_t>(whole.offset_of({i, j, x}));
          f_.push_back(problem_.f[p]);
          if (!problem_.k.empty()) k_.push_back(problem_.k[p]);
        }
      }
    }
    u_.resize(f_.size());
  }

  void rewrite() {
    std::ranges::fill(whole_, 0.0);
    if (is_fresh_) return;
    const Index most = setting_.method == Method::full_multigrid ? 1 : 200;
    solver_.emplace(
        context_, grid_, partition_, k_, f_, std::span<const double>{},
        poisson::Options{.method = setting_.method, .limits = {.tolerance = tolerance, .most_iterations = most}});
    is_fresh_ = true;
  }
  void solve() {
    is_fresh_ = false;
    iterate::run(*solver_);
  }
  // Of the peer, which writes all of u, or else of plait.
  [[nodiscard]] Index wrong_elements() {
    if (setting_.method == Method::full_multigrid) return 0;
    if (context_.size() > 1) return solver_->state().end == iterate::End::converged ? 0 : 1;
    if (std::ranges::all_of(whole_, [](double value) { return value == 0; })) solver_->copy_solution(whole_);
    return residual() <= 1.01 * tolerance ? 0 : 1;
  }

  [[nodiscard]] const PoissonProblem& problem() const { return problem_; }
  [[nodiscard]] std::span<double> whole() { return whole_; }
  [[nodiscard]] std::span<const std::byte> right_side() const { return std::as_bytes(std::span(problem_.f)); }

  static constexpr double tolerance = 1e-8;

 private:
  // ‖b - A·u‖ / ‖b‖, point by point.
  [[nodiscard]] double residual() const {
    double sum = 0, all = 0;
    const Index n = problem_.extent;
    for (Index p = 0; p < problem_.points(); ++p) {
      const auto at = [&](Index q) { return whole_[static_cast<std::size_t>(q)]; };
      double r = problem_.f[static_cast<std::size_t>(p)];
      all += r * r;
      Index step = 1;
      for (int a = 0; a < problem_.dimensions; ++a, step *= n) {
        const Index place = p / step % n;
        r -=
            place > 0 ? problem_.conductance(p, p - step) * (at(p) - at(p - step)) : problem_.conductance(p, p) * at(p);
        r -= place + 1 < n ? problem_.conductance(p, p + step) * (at(p) - at(p + step))
                           : problem_.conductance(p, p) * at(p);
      }
      sum += r * r;
    }
    return std::sqrt(sum / all);
  }

  mpi::Context& context_;
  Setting setting_;
  PoissonProblem problem_;
  poisson::Grid grid_;
  layout::BoxPartition partition_;
  std::vector<double> k_, f_, u_, whole_;
  std::optional<poisson::Solver> solver_;
  bool is_fresh_ = false;
};

bench::Case make_case(mpi::Context& context, const Setting& setting) {
  bench::Case result;
  std::string size = fmt::format("{}", setting.extent);
  for (int a = 1; a < setting.dimensions; ++a) size += fmt::format("x{}", setting.extent);
  result.name = fmt::format("{} k={} {} ranks={}", setting.method == Method::f_cycles ? "solve" : "full",
                            setting.contrast == 1 ? "1" : fmt::format("1..{}", setting.contrast), size, context.size());
  result.repetitions = {.least = 5, .most = 20, .seconds = 10};
  result.set_up = [&context, setting] {
    const auto solution = std::make_shared<Solution>(context, setting);
    bench::Job job;
    job.rewrite = [=] { solution->rewrite(); };
    job.run = [=] { solution->solve(); };
    job.wrong_elements = [=] { return solution->wrong_elements(); };
    const bench::Contender read = bench::streaming_read(solution->right_side());
    const auto owned = [&](const bench::Contender& contender) {
      return bench::Contender{contender.name, [solution, run = contender.run] { run(); }};
    };
    job.limits = {owned(read)};
    if (context.size() > 1 || setting.method != Method::f_cycles) return job;
    if (const auto transform = bench::sine_transform(solution->problem(), solution->whole())) {
      job.limits = {owned(*transform)};
      job.others = {owned(read)};
    }
    if (const auto peer = bench::hypre(solution->problem(), Solution::tolerance, solution->whole())) {
      job.peer = owned(*peer);
    }
    return job;
  };
  if (context.size() > 1) return result;
#ifdef PLAIT_HAS_FFTW
  if (setting.gate) result.gate.fraction_of_limit = 1 / *setting.gate;
  if (setting.aim) result.aim.fraction_of_limit = 1 / *setting.aim;
#endif
#ifdef PLAIT_HAS_HYPRE
  if (setting.speedup) result.gate.speedup_over_peer = *setting.speedup;
#endif
  return result;
}

// A cube of 64 points a side on each rank, one above the other, with a layer of ghosts.
struct Halo {
  static constexpr Index edge = 64;

  explicit Halo(mpi::Context& context)
      : partition(layout::Box{{}, {context.size() * edge, edge, edge}}, {context.size(), 1, 1}, context.size()),
        own(partition.box(context.rank())),
        memory(own.grown({1, 0, 0})),
        u(at(memory.points())),
        exchange(context, halo::Filling::ghosts(partition, {1, 0, 0}, {}, halo::Reach::faces), Index{sizeof(double)}) {}
  /// Calls f(u, the point's number in the whole box, point) for all points and ghosts.
  template <class F>
  void for_each(const F& f) {
    layout::for_each_point(memory.intersection(partition.whole()), [&](const layout::Point& point) {
      f(u[at(memory.offset_of(point))], static_cast<double>(partition.whole().offset_of(point)), point);
    });
  }

  layout::BoxPartition partition;
  layout::Box own, memory;
  std::vector<double> u;
  halo::Exchange exchange;
};

// As little as two ranks of a node can do: each writes a face into memory that they share, by turns into two slots,
// tells the other one, and reads the other's.
class FacesByHand {
 public:
  explicit FacesByHand(mpi::Context& context)
      : window_(context.topology().node(), line + 2 * bytes), rank_(context.rank()) {
    mpi::barrier(context.comm());
  }
  void exchange(const double* sent, double* received) {
    ++number_;
    std::memcpy(slot(rank_), sent, bytes);
    told(rank_).store(number_, std::memory_order_release);
    while (told(1 - rank_).load(std::memory_order_acquire) < number_) {
    }
    std::memcpy(received, slot(1 - rank_), bytes);
  }

 private:
  static constexpr Index line = 64, bytes = Halo::edge * Halo::edge * Index{sizeof(double)};

  std::atomic_ref<Index> told(int rank) {
    return std::atomic_ref(*reinterpret_cast<Index*>(window_.segment(rank).data()));
  }
  std::byte* slot(int rank) { return window_.segment(rank).data() + line + number_ % 2 * bytes; }

  mpi::SharedWindow window_;
  int rank_;
  Index number_ = 0;
};

// The ghosts beyond one face of 64 x 64, sent and received by each of two ranks.
bench::Case make_halo_case(mpi::Context& context) {
  constexpr int exchanges = 100;
  bench::Case result;
  result.name = fmt::format("halo 64x64 ranks={}", context.size());
  result.set_up = [&context] {
    const auto halo = std::make_shared<Halo>(context);
    bench::Job job;
    job.instances = exchanges;
    job.rewrite = [=] {
      halo->for_each(
          [&](double& u, double number, const layout::Point& point) { u = halo->own.contains(point) ? number : -1; });
    };
    job.run = [=] {
      for (int i = 0; i < exchanges; ++i) halo->exchange(halo->u.data());
    };
    job.wrong_elements = [=] {
      Index wrong = 0;
      halo->for_each([&](double u, double number, const layout::Point&) { wrong += u == number ? 0 : 1; });
      return wrong;
    };
    if (context.size() == 2 && context.topology().node().size() == 2) {
      const auto faces = std::make_shared<FacesByHand>(context);
      job.limits = {{"faces by hand", [halo, faces] {
                       for (int i = 0; i < exchanges; ++i) faces->exchange(halo->u.data(), halo->u.data());
                     }}};
    }
    return job;
  };
  return result;
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  std::vector<Setting> settings{{2, 63}, {2, 63, 10}, {3, 15}, {2, 63, 1, Method::full_multigrid}};
  if (!quick) {
    settings = {{2, 2047, 1, Method::f_cycles, 1.3, 1.1, 8.},
                {2, 2047, 10, Method::f_cycles, 3.2, 2.},
                {2, 2047, 100, Method::f_cycles, 4.2, 2.5},
                {3, 127, 1, Method::f_cycles, 2., 1.3},
                {2, 2047, 1, Method::full_multigrid}};
  }
  std::vector<bench::Case> result;
  for (const Setting& setting : settings) result.push_back(make_case(context, setting));
  if (context.size() > 1) result.push_back(make_halo_case(context));
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"poisson",
       "Solving -div(k grad u) = f on N x N (x N) nodes, u = 0 on all sides, to a residual of 1e-8 of f by F-cycles, "
       "against FFTW's sine transforms of as many values, and hypre's conjugate gradients with PFMG. k is 1, or smooth "
       "with a contrast. One pass of full multigrid (full), which reaches the error of discretisation, against a "
       "streaming read of f. Setting up is not timed. On two ranks also the exchange of a face of 64 x 64 (halo)",
       {1, 2},
       cases});
}
