// out ← the sum of all ranks' arrays, on all of them, within a node: by plait's reducer, and by MPI_Allreduce as
// programs get it from plait, against the MPI library, over sizes; MPI's other reductions likewise, those that are
// waited for later also with computing in between. Reproducible sums against plain ones.
//
//   ./dev bench allreduce                                              on 2 and 4 ranks
//   mpirun -n 2 build/openmpi/bin/bench_allreduce --quick              by hand

#include <mpi.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/collective/node/reducer.hpp"
#include "plait/collective/reproducible_sum.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/harness/mpi_name.hpp"
#include "bench/harness/size_text.hpp"
#include "bench/reduce/allreduce_operands.hpp"
#include "bench/reduce/reduce_deliveries.hpp"

namespace {

using namespace plait;
using bench::Addends;
using bench::AllreduceOperands;
using bench::Place;
using simd::Element;

constexpr Index kibi = 1024, mebi = 1024 * kibi;
constexpr std::array sizes{Index{8},   Index{64}, kibi,     4 * kibi,  16 * kibi, 64 * kibi,
                           256 * kibi, 1 * mebi,  4 * mebi, 16 * mebi, 64 * mebi};
constexpr Index first_large = 16 * kibi;  // from here on the means are taken
constexpr Index last_small = kibi;        // up to here nothing may be lost

/// The one that plait's interface is measured by as well.
const bench::MpiReduction* const allreduce = bench::mpi_reductions().data();

/// How the sums are computed.
enum class Way : unsigned char {
  node,    // by plait's interface
  preload  // by MPI's, which plait has taken over
};

/// What calls are measured.
struct Setting {
  const bench::MpiReduction* reduction;  // by plait's interface: allreduce
  Element element;
  Index bytes;
  Place place;
  Way way;

  [[nodiscard]] std::string name(const std::string& size, int ranks) const {
    return fmt::format("{} SUM {} {} {} ranks={} {}", reduction->name, simd::name(element), size,
                       place == Place::private_memory ? "private" : "shared", ranks,
                       way == Way::node ? "node" : "preload");
  }
};

/// The geometric mean of speedups that is promised over an MPI library on 2 ranks.
struct Promise {
  double gate;
  double aim;
};

Promise promise(Place place) {
#if defined(OPEN_MPI)
  return place == Place::private_memory ? Promise{1.3, 1.8} : Promise{3.5, 5};
#else
  return place == Place::private_memory ? Promise{2.4, 3} : Promise{4, 6};
#endif
}

/// Null for numbers that MPI does not know.
MPI_Datatype mpi_type(Element element) {
  if (element == Element::float64) return MPI_DOUBLE;
  return element == Element::float32 ? MPI_FLOAT : MPI_DATATYPE_NULL;
}

bench::Job set_up(mpi::Context& context, const std::shared_ptr<collective::NodeReducer>& reducer,
                  const Setting& setting) {
  const auto operands =
      std::make_shared<const AllreduceOperands>(context, setting.element, setting.bytes, setting.place);
  const auto n = operands->n();
  const auto type = mpi_type(setting.element);
  const auto comm = context.comm().handle();
  const auto by_mpi = [=](bench::MpiReduction::Call call) {
    return [=] { operands->run([=](const void* in, void* out) { call(in, out, static_cast<int>(n), type, comm); }); };
  };
  bench::Job job;
  job.rewrite = [=] { operands->rewrite(); };
  if (setting.way == Way::node) {
    const schedule::Combine sum(simd::ReduceOperation::sum, setting.element);
    job.run = [=] { operands->run([&](const void* in, void* out) { reducer->allreduce(in, out, n, sum); }); };
  } else {
    job.run = by_mpi(setting.reduction->call);
  }
  job.limits = operands->limits();
  if (type != MPI_DATATYPE_NULL) job.peer = bench::Contender{bench::mpi_name(), by_mpi(setting.reduction->library)};
  const auto result = setting.reduction->result(context.rank(), context.size(), n);
  job.wrong_elements = [=] { return operands->wrong_elements(result); };
  job.instances = static_cast<int>(operands->calls());
  return job;
}

/// A reproducible sum of addends that cancel, against the plain sum of them, which is wrong but as fast as can be.
bench::Job set_up_reproducible(mpi::Context& context, const std::shared_ptr<collective::NodeReducer>& reducer,
                               Index bytes) {
  const auto operands = std::make_shared<const AllreduceOperands>(context, Element::float64, bytes,
                                                                  Place::private_memory, Addends::cancelling);
  const auto sum = std::make_shared<collective::ReproducibleSum>(context);
  const auto plain_was_last = std::make_shared<bool>(false);
  const schedule::Combine plain(simd::ReduceOperation::sum, Element::float64);
  bench::Job job;
  job.rewrite = [=] { operands->rewrite(); };
  job.run = [=, n = operands->n()] {
    *plain_was_last = false;
    operands->run([&](const void* in, void* out) { sum->allreduce(in, out, n, Element::float64); });
  };
  job.limits = operands->limits();
  job.peer =
      bench::Contender{"plain sum", [=, n = operands->n()] {
                         *plain_was_last = true;
                         operands->run([&](const void* in, void* out) { reducer->allreduce(in, out, n, plain); });
                       }};
  const bench::Reduced all{context.size(), 0, operands->n()};
  job.wrong_elements = [=] { return *plain_was_last ? Index{0} : operands->wrong_elements(all); };
  job.instances = static_cast<int>(operands->calls());
  return job;
}

class Cases {
 public:
  Cases(mpi::Context& context, bool quick)
      : context_(&context), reducer_(std::make_shared<collective::NodeReducer>(context)), quick_(quick) {}

  void add(const Setting& setting) {
    bench::Case one{
        .name = setting.name(bench::size_text(setting.bytes), context_->size()),
        .gate = {},
        .aim = {},
        .set_up = [context = context_, reducer = reducer_, setting] { return ::set_up(*context, reducer, setting); },
        .repetitions = {10, 100, 0.5}};
    // Three in a hundred are what "not slower" can be told from. What is gained by large sums is promised of their
    // mean.
    if (setting.bytes <= last_small || setting.reduction != allreduce) one.gate.speedup_over_peer = 1 / 1.03;
    all_.push_back(std::move(one));
  }

  /// From 64 KiB on it may take no more than a few times as long as a plain sum.
  void add_reproducible(Index bytes) {
    bench::Case one{.name = fmt::format("allreduce reproducible SUM float64 {} private ranks={} node",
                                        bench::size_text(bytes), context_->size()),
                    .gate = {},
                    .aim = {},
                    .set_up = [context = context_, reducer = reducer_,
                               bytes] { return set_up_reproducible(*context, reducer, bytes); },
                    .repetitions = {10, 100, 0.5}};
    if (bytes >= 64 * kibi) {
      one.gate.speedup_over_peer = 1.0 / 6;
      one.aim.speedup_over_peer = 1.0 / 3;
    }
    all_.push_back(std::move(one));
  }

  /// Over the sizes, and the mean of the large ones.
  void add_all_sizes(Setting setting) {
    bench::Case mean{
        .name = setting.name(bench::size_text(first_large) + "-" + bench::size_text(sizes.back()) + " mean",
                             context_->size()),
        .gate = {},
        .aim = {},
        .set_up = {}};
    mean.gate.speedup_over_peer = promise(setting.place).gate;
    mean.aim.speedup_over_peer = promise(setting.place).aim;
    for (const Index bytes : sizes) {
      if (quick_ && bytes > first_large) break;
      setting.bytes = bytes;
      add(setting);
      if (bytes >= first_large) mean.mean_of.push_back(all_.back().name);
    }
    all_.push_back(std::move(mean));
  }

  [[nodiscard]] std::vector<bench::Case> take() { return std::move(all_); }

 private:
  mpi::Context* context_;
  std::shared_ptr<collective::NodeReducer> reducer_;
  bool quick_;
  std::vector<bench::Case> all_;
};

/// As much as a program has to reduce before plait takes shared memory for its communicator.
void pass_first_calls(mpi::Context& context) {
  constexpr Index calls = 8;
  const Array<double> in(4 * mebi / Index{sizeof(double)}), out(in.size());
  std::ranges::fill(in.span(), 1);
  for (Index call = 0; call < calls; ++call) {
    MPI_Allreduce(in.data(), out.data(), static_cast<int>(in.size()), MPI_DOUBLE, MPI_SUM, context.comm().handle());
  }
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  if (context.size() < 2) throw ArgumentError("started on 1 rank, expected 2 or 4");
  Cases all(context, quick);
  all.add_all_sizes({allreduce, Element::float64, 0, Place::private_memory, Way::node});
  all.add_all_sizes({allreduce, Element::float64, 0, Place::shared_memory, Way::node});
  if (bench::is_preloaded()) {
    pass_first_calls(context);
    all.add_all_sizes({allreduce, Element::float64, 0, Place::private_memory, Way::preload});
    for (const bench::MpiReduction& other : bench::mpi_reductions().subspan(1)) {
      const Index least = other.blocks ? Index{64} : 16 * kibi;  // from where plait serves it
      for (const Index bytes : {Index{64}, kibi, 16 * kibi, 256 * kibi, 4 * mebi}) {
        if (bytes >= least && (!quick || bytes == std::max(least, kibi)))
          all.add({&other, Element::float64, bytes, Place::private_memory, Way::preload});
      }
    }
  }
  for (const Element element : {Element::float32, Element::bfloat16}) {
    for (const Index bytes : {16 * kibi, mebi, 16 * mebi}) {
      if (!quick || bytes == 16 * kibi) all.add({allreduce, element, bytes, Place::private_memory, Way::node});
    }
  }
  for (const Index bytes : {kibi, 64 * kibi, mebi, 16 * mebi}) {
    if (!quick || bytes == kibi) all.add_reproducible(bytes);
  }
  return all.take();
}

constexpr const char* description =
    "Sums up an array of every rank, on all of them, within a node: by plait's interface (node) and by "
    "MPI_Allreduce of a program that plait is linked into (preload), in ordinary memory (private) or in memory "
    "that the ranks share (shared), against the MPI library's own; then by MPI's other reductions, of which the last "
    "ones are waited for later, with computing of about as long in between or not. Short ones are called many times "
    "in a row, each on an array of its own. A mean is the geometric one of the cases before it. "
    "Reproducible sums are of doubles that cancel, against a plain sum of them by plait";

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {.name = "allreduce", .description = description, .ranks = {2, 4}, .cases = cases, .starts_mpi_plainly = true});
}
