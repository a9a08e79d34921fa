// k-means on 10^6 points of 10 coordinates: plain iterations against scikit-learn's, and what bounds save.
//
//   ./dev bench kmeans                      on one rank and on two
//   ./dev bench kmeans --filter plain       only these
//   ./dev bench kmeans --ranks 1 --filter run
//
// plain: an iteration without bounds, from centres that were drawn. run: up to 60 iterations, with bounds as they are
// chosen, against those without. iteration: one of the later ones of a run, against what was promised.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/random.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/kmeans/solver.hpp"
#include "plait/kmeans/start.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/kmeans/scikit_learn.hpp"

namespace {

using namespace plait;
using kmeans::Bounds;

constexpr Index dimension = 10;
constexpr int plain_iterations = 10;

enum class Blobs : unsigned char { overlapping, separated };
constexpr std::string_view name(Blobs blobs) { return blobs == Blobs::separated ? "separated" : "overlapping"; }

/// Points around as many centres as there are clusters, those of a rank.
class Problem {
 public:
  Problem(mpi::Context& context, Blobs blobs, Index all, Index clusters)
      : begin_(all * context.rank() / context.size()),
        rows_(all * (context.rank() + 1) / context.size() - begin_),
        x_(at(rows_ * dimension)) {
    const double side = blobs == Blobs::separated ? 20 : 3;
    for (Index i = 0; i < rows_; ++i) {
      const auto row = static_cast<std::uint64_t>(begin_ + i);
      const std::uint64_t blob = random_bits(1, row) % static_cast<std::uint64_t>(clusters);
      for (Index c = 0; c < dimension; ++c) {
        const auto column = static_cast<std::uint64_t>(c);
        const double middle = side * random_uniform(2, blob * dimension + column);
        const double radius = std::sqrt(-2 * std::log(1 - random_uniform(3, row * dimension + column)));
        x_[at(i * dimension + c)] =
            middle + radius * std::cos(6.283185307179586 * random_uniform(4, row * dimension + column));
      }
    }
    points_.emplace(context, simd::RowBlock<const double>{x_.data(), rows_, dimension, dimension});
    start_ = blobs == Blobs::separated ? kmeans::spread_centres(*points_, clusters, 1)
                                       : kmeans::random_centres(*points_, clusters, 1);
  }

  void begin(Bounds bounds, Index steps = 0) {
    constexpr Index most = 60;  // as overlapping blobs take hundreds
    solver_.emplace(*points_, start_,
                    kmeans::Options{.limits = {.tolerance = 0, .most_iterations = most}, .bounds = bounds});
    for (Index i = 0; i < steps; ++i) solver_->advance();
  }
  [[nodiscard]] kmeans::Solver<double>& solver() { return *solver_; }
  void run(Bounds bounds) {
    begin(bounds);
    iterate::run(*solver_);
  }
  [[nodiscard]] bench::Contender read(int times) const {
    return {fmt::format("{} reads of the points", times), [this, times] {
              for (int i = 0; i < times; ++i) {
                double sum = 0;
#pragma omp simd reduction(+ : sum)
                for (std::size_t k = 0; k < x_.size(); ++k) sum += x_[k];
                sum_ = sum;
              }
            }};
  }
  [[nodiscard]] std::unique_ptr<bench::ScikitLearn> scikit_learn() const {
    const auto view = [](const std::vector<double>& values) {
      return matrix_view<const double>(values.data(), static_cast<Index>(values.size()) / dimension, dimension,
                                       dimension, StorageOrder::row_major);
    };
    return bench::ScikitLearn::start(view(x_), view(start_));
  }

 private:
  Index begin_;
  Index rows_;
  std::vector<double> x_;
  std::optional<kmeans::Points<double>> points_;
  std::vector<double> start_;
  std::optional<kmeans::Solver<double>> solver_;
  mutable double sum_ = 0;
};

bench::Job plain(mpi::Context& context, Index all, Index clusters) {
  const auto problem = std::make_shared<Problem>(context, Blobs::overlapping, all, clusters);
  bench::Job job;
  job.rewrite = [=] { problem->begin(Bounds::never); };
  job.run = [=] {
    for (int i = 0; i < plain_iterations; ++i) problem->solver().advance();
  };
  job.instances = plain_iterations;
  job.limits = {problem->read(plain_iterations)};
  if (context.size() == 1) {
    if (std::shared_ptr<bench::ScikitLearn> peer = problem->scikit_learn()) {
      job.peer = {"scikit-learn", [=] { peer->iterate(plain_iterations); }};
    }
  }
  job.wrong_elements = [=] {
    const auto& objectives = problem->solver().objectives();
    Index wrong = objectives.empty() || objectives.size() == plain_iterations ? 0 : 1;  // none where the peer ran
    for (std::size_t i = 1; i < objectives.size(); ++i) wrong += objectives[i] <= objectives[i - 1] ? 0 : 1;
    return wrong;
  };
  return job;
}

/// A whole run with bounds against one without.
bench::Job whole(mpi::Context& context, Blobs blobs, Index all, Index clusters) {
  const auto problem = std::make_shared<Problem>(context, blobs, all, clusters);
  problem->run(Bounds::never);
  const std::vector<double> objectives = problem->solver().objectives();
  bench::Job job;
  job.rewrite = [] {};
  job.run = [=] { problem->run(Bounds::automatic); };
  job.instances = static_cast<int>(objectives.size());
  job.limits = {problem->read(job.instances)};
  job.peer = {"without bounds", [=] { problem->run(Bounds::never); }};
  job.wrong_elements = [=] { return problem->solver().objectives() == objectives ? Index{0} : Index{1}; };
  return job;
}

/// The last iterations of a run, where bounds of separated blobs save nearly all.
bench::Job late(mpi::Context& context, Index all, Index clusters) {
  const auto problem = std::make_shared<Problem>(context, Blobs::separated, all, clusters);
  problem->run(Bounds::always);
  const Index steps = problem->solver().state().step;
  const Index last = std::min<Index>(5, steps - 1);
  bench::Job job;
  job.rewrite = [=] { problem->begin(Bounds::always, steps - last); };
  job.run = [=] {
    while (problem->solver().advance()) {
    }
  };
  job.instances = static_cast<int>(last);
  job.limits = {bench::known_time("3 ms an iteration", 0.003)};
  job.wrong_elements = [=] { return problem->solver().state().step == steps ? Index{0} : Index{1}; };
  return job;
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  const Index all = quick ? 3000 : 1'000'000;
  std::vector<bench::Case> result;
  const auto add = [&](const std::string& what, Index clusters, bench::Goal gate, const auto& set_up) {
    bench::Case added;
    added.name = fmt::format("{} k={} {}x{} ranks={}", what, clusters, all, dimension, context.size());
    if (context.size() == 1) added.gate = gate;
    added.set_up = [set_up, clusters] { return set_up(clusters); };
    added.repetitions = {3, 20, 5};
    result.push_back(std::move(added));
  };
  for (const auto& [clusters, speedup] : {std::pair<Index, double>{10, 2.5}, {100, 4.0}}) {
    add("plain", clusters, {.fraction_of_limit = {}, .speedup_over_peer = speedup},
        [&context, all](Index k) { return plain(context, all, k); });
    for (const Blobs blobs : {Blobs::overlapping, Blobs::separated}) {
      const double least = blobs == Blobs::separated ? 1 / 1.1 : 1 / 0.6;  // the former come to their end at once
      add(fmt::format("run {}", name(blobs)), clusters, {.fraction_of_limit = {}, .speedup_over_peer = least},
          [&context, all, blobs](Index k) { return whole(context, blobs, all, k); });
    }
    add("iteration separated", clusters, {.fraction_of_limit = 1, .speedup_over_peer = {}},
        [&context, all](Index k) { return late(context, all, k); });
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"kmeans",
       "k-means on points of 10 coordinates around k centres. plain: an iteration without bounds of distances, against "
       "scikit-learn's Lloyd on one core. run: an iteration of a whole run with bounds where they are of use, against "
       "one without. iteration: one of the last five of such a run",
       {1, 2},
       cases});
}
