#include <omp.h>

#include <cstdlib>

#include "plait/dense/blas/blas_kernels.hpp"
#include "plait/io/hdf5/hdf5.hpp"
#include "plait/mpi/environment.hpp"
#include "plait/simd/isa.hpp"

#include "cli/exec/libraries.hpp"
#include "cli/host/job.hpp"

namespace plait::cli {

namespace {

// All that users set and plait reads. What launchers tell their ranks is not among them.
constexpr std::array variables{
    "PLAIT_ISA",          "PLAIT_LOG",       "PLAIT_MACHINE",    "PLAIT_REPRODUCIBLE", "PLAIT_GEMM_FROM",
    "PLAIT_CLUSTER_RATE", "OMP_NUM_THREADS", "OMP_WAIT_POLICY",  "GOMP_SPINCOUNT",     "OPENBLAS_NUM_THREADS",
    "BLIS_NUM_THREADS",   "MKL_NUM_THREADS", "OPENBLAS_CORETYPE"};

/// What rank 0 finds of itself and of its node.
class Info : public Job {
 public:
  void options(Options& options) override {
    options.describe("Print what plait finds here: MPI, processor, memory, settings",
                     "Example:\n  mpirun -n 4 plait info");
    options.host({.quiet = false, .progress = false});
  }

  void run(Work& work) override {
    mpi::agreed(work.context, [&] {
      isa_ = simd::name(simd::selected_isa());
      libraries_ = reduction_libraries();
    });
  }

  void report(Report& report, Work& work) override {
    report.label(22, 0);
    report.line("plait", PLAIT_VERSION);
    report.line("MPI", "{}, {} on {}", mpi::library_version(), counted(work.context.size(), "rank"),
                counted(work.context.topology().nodes(), "node"));
    report.line("processor", report.fact("processor", processor_name()));
    std::vector<std::string> isas;
    for (const simd::Isa isa : simd::supported_isas()) isas.emplace_back(simd::name(isa));
    report.line("instruction sets", "{}; in use: {}", fmt::join(report.fact("isas", isas), ", "),
                report.fact("isa", isa_));
    // The libraries serve programs that know nothing of plait. This one has loaded them, too, where they are switched
    // on.
    report_library(report, "reductions", "reductions.component", libraries_.component);
    report_library(report, "reductions", "reductions.preload", libraries_.preload);
    report_library(report, "ScaLAPACK", "scalapack", libraries_.scalapack);
    const std::string hdf5 = report.fact_or_null("hdf5", io::hdf5_version());
    report.line("HDF5", hdf5.empty() ? "not in this build" : hdf5);
    const std::string kernels = report.fact_or_null("blas_kernels", dense::blas_kernels());
    report.line("BLAS", kernels.empty() ? "not OpenBLAS" : fmt::format("OpenBLAS, with kernels for {}", kernels));
    report.line("threads", "{} per rank", report.fact("threads_per_rank", omp_get_max_threads()));
    const NodeMemory memory = node_memory();
    report.line("memory", "{}, {} available", bytes_text(report.fact("memory.total_bytes", memory.total)),
                bytes_text(report.fact("memory.available_bytes", memory.available)));
    report.line("machine", report.fact("machine", work.context.machine().description));
    for (const char* const variable : variables) {
      const char* const set = std::getenv(variable);
      const std::optional<std::string> value = set == nullptr ? std::nullopt : std::optional<std::string>(set);
      report.line(variable, report.fact(fmt::format("environment.{}", variable), value).value_or("not set"));
    }
    const redistribute::Options defaults;
    report.line("--memory", "{} bytes by default, in messages of {}",
                report.fact("defaults.memory_bytes", defaults.memory_budget),
                report.fact("defaults.chunk_bytes", defaults.chunk_bytes));
  }

 private:
  static void report_library(Report& report, const char* what, const std::string& key,
                             const std::optional<std::filesystem::path>& path) {
    if (!path) {
      report.fact_or_null(key, "");
      return;
    }
    const bool is_active = report.fact(key + ".active", is_loaded(*path));
    report.line(what, "{}, {}", report.fact(key + ".path", path->native()),
                is_active ? "in use" : "not in use: see plait exec --help");
  }

  std::string isa_;
  ReductionLibraries libraries_;
};

}  // namespace

PLAIT_JOB(info, Info)

}  // namespace plait::cli
