// How long it takes to plan: the packages of one rank of many, and the relabeling of all of them. Against the times
// that the project promises.
//
//   ./dev bench plan

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/graph/assignment/assignment.hpp"
#include "plait/layout/layout.hpp"
#include "plait/redistribute/communication_volume.hpp"
#include "plait/redistribute/packages/packages.hpp"
#include "plait/redistribute/relabel/relabel.hpp"

#include "bench/harness/benchmark.hpp"

namespace {

using namespace plait;
using layout::GridOrder;
using layout::Layout;
using layout::Owners;

struct Grid {
  Index rows;
  Index columns;
  [[nodiscard]] Index ranks() const noexcept { return rows * columns; }
};

/// From a grid numbered by rows to one numbered by columns.
struct Setting {
  Grid grid;
  Index extent;
  Index from_block;
  Index to_block;

  [[nodiscard]] Layout layout(Index block, GridOrder order) const {
    return Layout::block_cyclic({extent, extent}, block, block, Owners::grid(grid.rows, grid.columns, order));
  }
  [[nodiscard]] Layout from() const { return layout(from_block, GridOrder::row); }
  [[nodiscard]] Layout to() const { return layout(to_block, GridOrder::column); }
};

/// Every run plans for another rank, so that the median is one of many ranks.
class PackagesOfRanks {
 public:
  explicit PackagesOfRanks(const Setting& setting)
      : from_(setting.from()), to_(setting.to()), ranks_(setting.grid.ranks()) {}

  void next() {
    constexpr Index stride = 7919;  // a prime, so that ranks all over the grid are met
    packages_.reset();
    rank_ = (rank_ + stride) % ranks_;
  }
  void plan() { packages_.emplace(from_, to_, static_cast<int>(rank_)); }
  [[nodiscard]] Index wrong_elements() const {
    const auto elements = [&](std::span<const redistribute::Package> packages) {
      Index sum = packages_->own().elements;
      for (const auto& package : packages) sum += package.elements;
      return sum;
    };
    const auto rank = static_cast<int>(rank_);
    return std::abs(elements(packages_->outgoing()) - from_.elements_of(rank)) +
           std::abs(elements(packages_->incoming()) - to_.elements_of(rank));
  }

 private:
  Layout from_;
  Layout to_;
  Index ranks_;
  Index rank_ = 0;
  std::optional<redistribute::Packages> packages_;
};

bench::Job plan_packages(const Setting& setting) {
  const auto packages = std::make_shared<PackagesOfRanks>(setting);
  bench::Job job;
  job.rewrite = [=] { packages->next(); };
  job.run = [=] { packages->plan(); };
  job.wrong_elements = [=] { return packages->wrong_elements(); };
  return job;
}

/// How many ranks are missing.
Index missing_from(std::vector<int> permutation, Index ranks) {
  std::ranges::sort(permutation);
  return ranks - (std::unique(permutation.begin(), permutation.end()) - permutation.begin());
}

bench::Job relabel(const Setting& setting) {
  const auto found = std::make_shared<redistribute::Relabeling>();
  const redistribute::SizedPair pair{{setting.from(), setting.to()}, Index{sizeof(double)}};
  const Index ranks = setting.grid.ranks();
  bench::Job job;
  job.rewrite = [=] { *found = {}; };
  job.run = [=] { *found = redistribute::relabel({&pair, 1}, static_cast<int>(ranks)); };
  job.wrong_elements = [=] {
    redistribute::Incoming incoming({&pair, 1});
    const bool cost_is_true = communication_volume(incoming, found->rank_of).bytes == found->cost_after;
    return missing_from(found->rank_of, ranks) + (cost_is_true ? 0 : 1);
  };
  return job;
}

/// Savings of any role and rank, all alike likely.
bench::Job assign_dense(Index ranks) {
  const auto savings = std::make_shared<std::vector<Index>>(static_cast<std::size_t>(ranks * ranks));
  std::mt19937_64 random(1);
  for (Index& saving : *savings) saving = static_cast<Index>(random() % 1'000'000);
  const auto found = std::make_shared<std::vector<int>>();
  bench::Job job;
  job.rewrite = [=] { found->clear(); };
  job.run = [=] { *found = graph::assign_dense({savings->data(), ranks, ranks, ranks}); };
  job.wrong_elements = [=] { return missing_from(*found, ranks); };
  return job;
}

/// Each role has savings with a few ranks, which are anywhere.
bench::Job assign_sparse(Index ranks) {
  constexpr Index ranks_of_role = 32;
  std::vector<graph::Saving> entries;
  std::mt19937_64 random(1);
  for (Index i = 0; i < ranks * ranks_of_role; ++i) {
    const auto rank = static_cast<int>(random() % static_cast<std::uint64_t>(ranks));
    entries.push_back({static_cast<int>(i / ranks_of_role), rank, static_cast<Index>(1 + random() % 1'000'000)});
  }
  const auto savings = std::make_shared<const graph::SparseSavings>(graph::SparseSavings::from_entries(ranks, entries));
  const auto found = std::make_shared<graph::PricedAssignment>();
  bench::Job job;
  job.rewrite = [=] { *found = {}; };
  job.run = [=] { *found = graph::assign_with_prices(*savings); };
  job.wrong_elements = [=] {
    Index gap = 0;  // between the sum and its upper bound
    for (Index role = 0; role < ranks; ++role) {
      const auto i = static_cast<std::size_t>(role);
      gap += found->role_prices[i] + found->rank_prices[i] - (*savings)(role, found->rank_of[i]);
    }
    return missing_from(found->rank_of, ranks) + std::abs(gap);
  };
  return job;
}

struct Promise {
  std::string name;
  double seconds;
  std::function<bench::Job()> set_up;
};

bench::Case make_case(const Promise& promise) {
  bench::Case result;
  result.name = promise.name + " ranks=1";
  result.gate.fraction_of_limit = 1.0;
  result.set_up = [promise] {
    bench::Job job = promise.set_up();
    job.limits = {bench::known_time("target", promise.seconds)};
    return job;
  };
  return result;
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  if (context.size() != 1) throw ArgumentError(fmt::format("started on {} ranks, expected 1", context.size()));
  // Ranks, extents and blocks are divided by this.
  const Index scale = quick ? 8 : 1;
  const auto grid = [&](Index rows, Index columns) { return Grid{rows / scale, columns / scale}; };
  std::vector<Promise> promises;

  const auto add_plan = [&](Index extent, Grid on, double seconds) {
    promises.push_back({fmt::format("packages {0}x{0} on {1}x{2}", extent, on.rows, on.columns), seconds,
                        [=] { return plan_packages({on, extent, 32, 128}); }});
  };
  add_plan(200'000 / scale, grid(32, 32), 0.3e-3);
  add_plan(1'000'000 / scale, grid(128, 128), 2e-3);

  // Small blocks meet those of every rank, and those of which each rank has one only a few.
  const auto add_relabel = [&](const char* kind, Grid on, Index from_block, Index to_block, double seconds) {
    const Setting setting{on, 1'000'000 / scale, from_block, to_block};
    promises.push_back({fmt::format("relabel {} {}>{} on {}x{}", kind, from_block, to_block, on.rows, on.columns),
                        seconds, [=] { return relabel(setting); }});
  };
  const auto one_each = [&](Grid on) { return (1'000'000 / scale + on.rows - 1) / on.rows; };
  add_relabel("dense", grid(32, 32), 700, 1000, 0.1);
  add_relabel("sparse", grid(32, 64), one_each(grid(32, 64)) * 9 / 10, one_each(grid(32, 64)), 1);
  add_relabel("sparse", grid(128, 128), one_each(grid(128, 128)) * 9 / 10, one_each(grid(128, 128)), 3);

  const auto add_assignment = [&](const char* kind, Index ranks, double seconds, bench::Job (*make)(Index)) {
    promises.push_back({fmt::format("assign {} {} roles", kind, ranks), seconds, [=] { return make(ranks); }});
  };
  add_assignment("dense", 1024 / scale, 0.1, assign_dense);
  add_assignment("sparse", 2048 / scale, 1, assign_sparse);
  add_assignment("sparse", 16'384 / scale, 3, assign_sparse);

  std::vector<bench::Case> result;
  for (const Promise& promise : promises) result.push_back(make_case(promise));
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"plan",
       "Plans on one rank for many, between grids numbered by rows and by columns: the packages of one of these ranks "
       "from 32 x 32 into 128 x 128 blocks, the relabeling of all of them (blocks from>to, of a matrix of a million "
       "squared), and the assignment problem in it alone, with savings at random. The limit is the time that we "
       "promise",
       {1},
       cases});
}
