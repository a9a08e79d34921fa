// C ← A·B of doubles, against each rank's share of it by BLAS alone, and ScaLAPACK's pdgemm.
//
//   ./dev bench multiply                                          on 2 and 4 ranks that share memory
//   ./dev bench multiply --ranks 4 --rate 1gbit                   on 4 nodes of the emulated cluster
//   mpirun -n 2 build/openmpi/bin/bench_multiply --quick          by hand: only checks that all is right

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/stopwatch.hpp"
#include "plait/dense/blas/blas.hpp"
#include "plait/dense/blas/blas_threads.hpp"
#include "plait/dense/multiplication.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/harness/mpi_name.hpp"
#include "bench/peers/scalapack.hpp"

namespace {

using namespace plait;
using dense::ProductShape;
using layout::Layout;
using layout::Owners;
using Matrix = layout::DistributedMatrix<double>;

constexpr Index block = 64;  // of ScaLAPACK's matrices

/// How the matrices lie: in one block a rank, or as ScaLAPACK has them.
enum class Place : unsigned char { blocks, cyclic };

/// Ranks in rows × columns.
struct Grid {
  Index rows;
  Index columns;
};

struct Setting {
  ProductShape shape;
  Place place;
  Grid grid;
};

Layout layout_of(layout::Shape shape, Place place, const Grid& grid) {
  if (place == Place::blocks) return Layout::blocks(shape, grid.rows, grid.columns);
  return Layout::block_cyclic(shape, block, block, Owners::grid(grid.rows, grid.columns));
}

/// A(i, t) = u(i)·v(t) and B(t, j) = v(t)·u(j), of small whole numbers, so that C(i, j) = u(i)·u(j)·Σ v² exactly.
class Operands {
 public:
  Operands(const mpi::Context& context, const ProductShape& shape, Place place, const Grid& grid)
      : a(layout_of({shape.rows, shape.terms}, place, grid), context.rank()),
        b(layout_of({shape.terms, shape.columns}, place, grid), context.rank()),
        c(layout_of({shape.rows, shape.columns}, place, grid), context.rank()) {
    for (Index t = 0; t < shape.terms; ++t) squares_ += v(t) * v(t);
  }
  void rewrite() {
    a.for_each_element([](Index i, Index t, double& element) { element = u(i) * v(t); });
    b.for_each_element([](Index t, Index j, double& element) { element = v(t) * u(j); });
    c.for_each_element([](Index, Index, double& element) { element = -9.5; });
  }
  [[nodiscard]] Index wrong_elements() const {
    Index wrong = 0;
    c.for_each_element(
        [&](Index i, Index j, const double& element) { wrong += element == u(i) * u(j) * squares_ ? 0 : 1; });
    return wrong;
  }

  Matrix a, b, c;

 private:
  static double u(Index i) { return static_cast<double>(i % 7 - 3); }
  static double v(Index t) { return static_cast<double>(t % 5 - 2); }

  double squares_ = 0;
};

/// A rank's share of the multiplications, its longest extent divided by the ranks, by BLAS in memory of its own.
bench::Contender dgemm_share(ProductShape shape, int ranks) {
  Index& longest = shape.terms > std::max(shape.rows, shape.columns) ? shape.terms
                   : shape.rows >= shape.columns                     ? shape.rows
                                                                     : shape.columns;
  longest = (longest + ranks - 1) / ranks;
  const auto memory = [](Index elements) {
    const auto array = std::make_shared<Array<double>>(elements);
    std::ranges::fill(array->span(), 1.0);
    return array;
  };
  const auto a = memory(shape.rows * shape.terms);
  const auto b = memory(shape.terms * shape.columns);
  const auto c = memory(shape.rows * shape.columns);
  return {"dgemm share", [=] {
            dense::gemm<double>(dense::Op::identity, dense::Op::identity, 1.0,
                                matrix_view<const double>(a->data(), shape.rows, shape.terms, shape.rows),
                                matrix_view<const double>(b->data(), shape.terms, shape.columns, shape.terms), 0.0,
                                matrix_view<double>(c->data(), shape.rows, shape.columns, shape.rows));
          }};
}

/// Of the emulated cluster's links; 0 without one.
double link_bits_per_second() {
  const char* const rate = std::getenv("PLAIT_CLUSTER_RATE");
  return rate == nullptr ? 0 : std::strtod(rate, nullptr);
}

bench::Job set_up(mpi::Context& context, const Setting& setting) {
  const auto ours = std::make_shared<Operands>(context, setting.shape, setting.place, setting.grid);
  const auto theirs = std::make_shared<Operands>(context, setting.shape, Place::cyclic, setting.grid);
  const auto peer_was_last = std::make_shared<bool>(false);
  bench::Job job;
  const Stopwatch watch;
  const auto product = std::make_shared<dense::Multiplication<double>>(
      context, dense::Factors{ours->a.layout(), ours->b.layout()}, ours->c.layout());
  job.setup_seconds = watch.seconds();
  job.rewrite = [=] { ours->rewrite(), theirs->rewrite(); };
  job.run = [=] { *peer_was_last = false, product->execute(1, ours->a, ours->b, 0, ours->c); };
  job.peer = bench::scalapack_product(context.comm().handle(), theirs->a, theirs->b, theirs->c);
  if (job.peer) {
    job.peer->run = [=, multiply = job.peer->run] { *peer_was_last = true, multiply(); };
  }
  job.wrong_elements = [=] { return *peer_was_last ? theirs->wrong_elements() : ours->wrong_elements(); };

  bench::Contender share = dgemm_share(setting.shape, context.size());
  if (const double rate = link_bits_per_second(); rate > 0) {
    const double bytes = 8 * dense::least_elements_received(setting.shape, context.size());
    job.limits = {bench::known_time(fmt::format("link, {:g} Gb/s", rate / 1e9), 8 * bytes / rate)};
    job.floor = std::move(share);
  } else {
    job.limits = {std::move(share)};
  }
  return job;
}

bench::Case make_case(mpi::Context& context, const Setting& setting) {
  const ProductShape& shape = setting.shape;
  const double rate = link_bits_per_second();
  const std::string where =
      rate > 0 ? fmt::format(" nodes={} rate={:g}mbit", context.topology().nodes(), rate / 1e6) : "";
  bench::Case result;
  result.name = fmt::format("multiply f64 {}x{}x{} {} {}x{} ranks={}{} {}", shape.rows, shape.columns, shape.terms,
                            setting.place == Place::blocks ? "blocks" : "cyclic", setting.grid.rows,
                            setting.grid.columns, context.size(), where, bench::mpi_name());
  result.set_up = [&context, setting] { return set_up(context, setting); };
  result.repetitions = {5, 20, 5};
  if (setting.place == Place::cyclic) {
    if (rate > 0) result.aim = {.fraction_of_limit = 1 / 1.6, .speedup_over_peer = {}};
    return result;
  }
  if (rate > 0 && context.topology().nodes() == context.size()) {
    result.gate = {.fraction_of_limit = 1 / 1.6, .speedup_over_peer = {}};
    result.aim = {.fraction_of_limit = 1 / 1.25, .speedup_over_peer = {}};
  } else if (rate <= 0 && shape == ProductShape{4000, 4000, 4000}) {
    result.gate = {.fraction_of_limit = 1 / 1.15, .speedup_over_peer = 1.0};
    result.aim = {.fraction_of_limit = 1 / 1.05, .speedup_over_peer = {}};
  }
  return result;
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  const Index ranks = context.size();
  Index columns = 1;
  for (Index i = 2; i * i <= ranks; ++i) columns = ranks % i == 0 ? i : columns;
  const Grid square{ranks / columns, columns};
  const Grid tall{ranks, 1};
  const Grid flat{1, ranks};
  std::vector<Setting> settings;
  const auto add = [&](const ProductShape& shape, const Grid& grid) {
    settings.push_back({shape, Place::blocks, grid});
    settings.push_back({shape, Place::cyclic, grid});
  };
  if (quick) {
    add({150, 130, 170}, square);
    add({400, 20, 30}, tall);
    add({20, 30, 400}, flat);
  } else if (link_bits_per_second() > 0) {
    add({2000, 2000, 2000}, square);
  } else {
    add({1000, 1000, 1000}, square);
    add({4000, 4000, 4000}, square);
    add({400'000, 100, 100}, tall);
    add({100, 100, 400'000}, flat);
  }
  std::vector<bench::Case> result;
  for (const Setting& setting : settings) result.push_back(make_case(context, setting));
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const dense::BlasThreads one_thread(1);
  return bench::run_benchmark(
      argc, argv,
      {"multiply",
       "C = A B of doubles, where C is rows x columns and each element a sum of so many terms (rows x columns x "
       "terms). "
       "The matrices lie in one block a rank (blocks), or in blocks of 64 x 64 dealt to the grid (cyclic), in which "
       "they "
       "always lie for the peer, ScaLAPACK's pdgemm. The limit is a rank's share of the work by BLAS alone, all ranks "
       "at "
       "once; between nodes also the time in which what the busiest rank has to receive in any algorithm passes its "
       "link, if that is more. BLAS has one thread a rank",
       {2, 4},
       cases});
}
