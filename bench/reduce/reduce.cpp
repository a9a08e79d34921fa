// inout[i] ← in[i] op inout[i] in one rank's memory, over all operations, types and sizes: plait's kernels, and
// MPI_Reduce_local as programs get it from plait, against a loop that only loads and stores, and against the MPI
// library.
//
//   ./dev bench reduce                                                    all of it: 15 minutes
//   ./dev bench reduce --filter 'SUM .*16K warm .*kernel'                 some
//   mpirun -n 1 build/openmpi/bin/bench_reduce --quick                    by hand

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/harness/mpi_name.hpp"
#include "bench/reduce/instruction_bound.hpp"
#include "bench/reduce/op_avx.hpp"
#include "bench/reduce/reduce_cases.hpp"
#include "bench/reduce/reduce_deliveries.hpp"
#include "bench/reduce/reduce_operands.hpp"
#include "bench/reduce/reduced_types.hpp"
#include "bench/reduce/scalar_sum.hpp"
#include "bench/reduce/vector_loops.hpp"

namespace {

using namespace plait;
using bench::Caches;
using bench::ReduceOperands;
using bench::ReduceSetting;
using simd::Element;
using simd::ReduceOperation;

using ReduceLocal = int(const void*, void*, int, MPI_Datatype, MPI_Op);

constexpr int ranks_with_component = 2;
constexpr Index small_bytes = 1024;  // up to here it is the calls that cost

/// What all cases share.
struct Common {
  std::shared_ptr<const bench::OperandMemory> memory;
  std::shared_ptr<bench::InstructionBound> bound;
  bool quick;
};

/// Times reductions of one setting, and remembers which was run last.
class Timed {
 public:
  Timed(const Common& common, const ReduceSetting& setting)
      : operands_(common.memory, setting.operation, setting.element, setting.bytes, setting.caches) {}

  template <class Reduce>
  [[nodiscard]] static bench::Contender contender(const std::shared_ptr<Timed>& timed, std::string name,
                                                  const Reduce& reduce) {
    return {std::move(name), [=] {
              timed->operands_.run(reduce);
              timed->last_ = reduce;
            }};
  }

  /// How many elements are wrong after what was run last is done once more, on new operands.
  [[nodiscard]] Index wrong_elements() const { return last_ ? operands_.wrong_after(last_) : 0; }
  [[nodiscard]] const ReduceOperands& operands() const noexcept { return operands_; }

 private:
  ReduceOperands operands_;
  ReduceOperands::Call last_;
};

/// Everything but plait and the peer.
bench::Job job_of(const Common& common, const ReduceSetting& setting, const std::shared_ptr<Timed>& timed) {
  bench::Job job;
  job.rewrite = [=] { timed->operands().prepare(); };
  constexpr Index line_bytes = 64;
  const Index lines = (setting.bytes + line_bytes - 1) / line_bytes;
  job.limits = {{"two loads and a store", [=] {
                   timed->operands().run([=](Index /*n*/, const void* in, void* inout) {
                     bench::two_loads_and_a_store(lines * line_bytes, static_cast<const std::byte*>(in),
                                                  static_cast<std::byte*>(inout));
                   });
                 }}};
  job.others = {{"memcpy", [=, bytes = setting.bytes] {
                   timed->operands().run([=](Index /*n*/, const void* in, void* inout) {
                     std::memcpy(inout, in, static_cast<std::size_t>(bytes));
                   });
                 }}};
  // Counted in the first case of each operation and type, which takes too long for quick runs of them all.
  if (setting.computes_longer() && (!common.quick || setting.element == Element::int8)) {
    const Index n = setting.bytes / simd::size_in_bytes(setting.element);
    const Index all = n * timed->operands().calls();
    job.floor = setting.converts_halves() ? bench::conversions(all)
                                          : common.bound->contender(setting.operation, setting.element, all);
  }
  job.wrong_elements = [=] { return timed->wrong_elements(); };
  job.instances = static_cast<int>(timed->operands().calls());
  return job;
}

/// A way in which programs that know nothing of plait get its kernels. Ranks that one of both leaves empty only wait.
struct Delivery {
  std::string name;
  int ranks;
  ReduceLocal* plait;
  ReduceLocal* library;  // as it is without plait
};

/// What is linked in takes the place of MPI's own function, which is called by its profiling name.
Delivery preload_delivery() { return {"preload", 1, MPI_Reduce_local, PMPI_Reduce_local}; }

/// The component is loaded on the first rank only.
Delivery component_delivery(int rank) {
  return {"openmpi", ranks_with_component, rank == 0 ? PMPI_Reduce_local : nullptr,
          rank == 0 ? nullptr : PMPI_Reduce_local};
}

bench::Contender delivered(const std::shared_ptr<Timed>& timed, const std::string& name, ReduceLocal* reduce_local,
                           MPI_Datatype type, MPI_Op operation) {
  if (reduce_local == nullptr) return {name, [] {}};
  return Timed::contender(timed, name, [=](Index n, const void* in, void* inout) {
    reduce_local(in, inout, static_cast<int>(n), type, operation);
  });
}

bool is_16_bit_float(Element element) { return element == Element::float16 || element == Element::bfloat16; }

bench::Job kernel_job(const Common& common, const ReduceSetting& setting) {
  const auto timed = std::make_shared<Timed>(common, setting);
  bench::Job job = job_of(common, setting, timed);
  simd::ReduceKernel* const kernel = simd::reduce_kernel(setting.operation, setting.element);
  job.run = Timed::contender(timed, "plait", kernel).run;
  if (auto* const other = bench::op_avx_kernel(setting.operation, setting.element)) {
    job.peer = Timed::contender(timed, "op/avx", [=](Index n, const void* in, void* inout) {
      auto count = static_cast<int>(n);
      other(in, inout, &count, nullptr, nullptr);
    });
  } else if (setting.element == Element::bfloat16 && setting.operation == ReduceOperation::sum) {
    job.peer = Timed::contender(timed, "scalar loop", bench::scalar_bfloat16_sum);
  } else if (is_16_bit_float(setting.element)) {
    job.peer = Timed::contender(timed, "scalar loop",
                                simd::reduce_kernel(setting.operation, setting.element, simd::Isa::scalar));
  }
  return job;
}

bench::Case kernel_case(const Common& common, const ReduceSetting& setting) {
  bench::Case result{.name = setting.name(1, "kernel"),
                     .gate = setting.gate(),
                     .aim = setting.aim(),
                     .set_up = [=] { return kernel_job(common, setting); },
                     .repetitions = setting.repetitions()};
  if (is_16_bit_float(setting.element)) {
    if (setting.operation == ReduceOperation::sum && result.gate.fraction_of_limit && setting.caches == Caches::warm) {
      result.gate.speedup_over_peer = 10;
      result.aim.speedup_over_peer = 20;
    }
  } else if (setting.bytes <= small_bytes && setting.caches == Caches::warm &&
             bench::op_avx_kernel(setting.operation, setting.element) != nullptr) {
    result.gate.speedup_over_peer = 1.5;
    result.aim.speedup_over_peer = 2;
  }
  return result;
}

bench::Case delivery_case(const Common& common, const ReduceSetting& setting, MPI_Datatype type,
                          const Delivery& delivery) {
  const auto set_up = [=] {
    const auto timed = std::make_shared<Timed>(common, setting);
    const MPI_Op operation = bench::mpi_operation(setting.operation);
    bench::Job job = job_of(common, setting, timed);
    if (delivery.plait == nullptr) job.limits[0].run = job.others[0].run = [] {};
    job.run = delivered(timed, "plait", delivery.plait, type, operation).run;
    job.peer = delivered(timed, bench::mpi_name(), delivery.library, type, operation);
    return job;
  };
  return {.name = setting.name(delivery.ranks, delivery.name),
          .gate = setting.gate(),
          .aim = setting.aim(),
          .set_up = set_up,
          .repetitions = setting.repetitions()};
}

std::vector<bench::Case> delivery_cases(const Common& common, const Delivery& delivery) {
  std::vector<bench::Case> cases;
  for (const ReduceOperation operation : bench::reducing_operations()) {
    for (const bench::ReducedType& type : bench::reduced_types()) {
      if (!type.allows(operation)) continue;
      for (const ReduceSetting& setting : bench::reduce_settings(operation, type.element, type.name, common.quick)) {
        cases.push_back(delivery_case(common, setting, type.type, delivery));
      }
    }
  }
  return cases;
}

std::vector<bench::Case> kernel_cases(const Common& common) {
  std::vector<bench::Case> cases;
  for (const ReduceOperation operation : bench::reducing_operations()) {
    for (const Element element : simd::elements()) {
      if (simd::reduce_kernel(operation, element) == nullptr) continue;
      for (const ReduceSetting& setting :
           bench::reduce_settings(operation, element, std::string(simd::name(element)), common.quick)) {
        cases.push_back(kernel_case(common, setting));
      }
      if (common.quick || bench::op_avx_kernel(operation, element) == nullptr) continue;
      for (const ReduceSetting& setting :
           bench::uneven_reduce_settings(operation, element, std::string(simd::name(element)))) {
        cases.push_back(kernel_case(common, setting));
      }
    }
  }
  return cases;
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  const Common common{std::make_shared<const bench::OperandMemory>(bench::largest_reduced_bytes(quick)),
                      std::make_shared<bench::InstructionBound>(), quick};
  if (context.size() == ranks_with_component) {
    bench::expect_component(context.rank());
    return delivery_cases(common, component_delivery(context.rank()));
  }
  if (context.size() != 1) throw ArgumentError(fmt::format("started on {} ranks, expected 1 or 2", context.size()));
  std::vector<bench::Case> all = kernel_cases(common);
  if (bench::is_preloaded()) std::ranges::move(delivery_cases(common, preload_delivery()), std::back_inserter(all));
  return all;
}

constexpr const char* description =
    "Reduces an array into another one of as many bytes, once they are in the caches (warm) or have been flushed "
    "from them (cold): by plait's kernel for an operation on elements of a kind (kernel), by MPI_Reduce_local of "
    "a program that plait is linked into (preload), and by Open MPI's with plait's component on one rank, next to "
    "one without it (openmpi). Short ones are called many times in a row. The limit is a loop in the longest "
    "vectors that loads both and stores the result. Where more has to be computed for an element than one "
    "instruction does (products of 8-bit, 64-bit and complex numbers, 16-bit floats, pairs, long double), it is "
    "the time of as many instructions as the kernel has, if that is longer, in a loop of vector instructions that "
    "don't depend on each other; of sums and products of float16, where the processor converts it, that of the "
    "conversions, which are slower than other instructions. Peers are the MPI library's own MPI_Reduce_local; of "
    "kernels, those of Open "
    "MPI's op/avx where there are any, called without MPI too, and a scalar loop for 16-bit floats";

}  // namespace

int main(int argc, char** argv) {
  bench::load_component_on_first_rank(ranks_with_component);
  return bench::run_benchmark(argc, argv,
                              {.name = "reduce",
                               .description = description,
                               .ranks = bench::has_component() ? std::vector{1, ranks_with_component} : std::vector{1},
                               .cases = cases,
                               .starts_mpi_plainly = true});
}
