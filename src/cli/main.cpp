// The command `plait`: alone or as one of the ranks that a launcher starts.
#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string_view>
#include <thread>
#include <variant>

#include "plait/mpi/environment.hpp"

#include "cli/command_line.hpp"
#include "cli/exec/exec.hpp"
#include "cli/exec/info.hpp"
#include "cli/exec/launch.hpp"
#include "cli/generate/generate.hpp"
#include "cli/guard.hpp"
#include "cli/job/node.hpp"
#include "cli/job/stop.hpp"
#include "cli/machine/machine.hpp"
#include "cli/multiply/multiply.hpp"
#include "cli/options/machine_option.hpp"
#include "cli/output/print.hpp"
#include "cli/purify/purify.hpp"
#include "cli/redistribute/plan.hpp"
#include "cli/redistribute/redistribute.hpp"
#include "cli/same_arguments.hpp"
#include "cli/sinkhorn/balance.hpp"
#include "cli/sinkhorn/sinkhorn.hpp"
#include "cli/standard_streams.hpp"
#include "cli/trace/trace.hpp"
#include "cli/transport/barycentre.hpp"
#include "cli/transport/divergence.hpp"
#include "cli/transport/transport.hpp"

namespace {

using namespace plait;
using namespace plait::cli;

template <class Options>
void run_on_machine(mpi::Context& context, const Options& options, void (*job)(mpi::Context&, const Options&)) {
  use_machine(context, options.machine);
  job(context, options);
}

void run(mpi::Context&, const Text&) {}
void run(mpi::Context&, const PlanOptions&) {}
void run(mpi::Context&, const ExecOptions&) {}
void run(mpi::Context&, const TraceOptions&) {}
void run(mpi::Context& context, const RedistributeOptions& options) {
  run_on_machine(context, options, run_redistribute);
}
void run(mpi::Context& context, const MultiplyOptions& options) { run_on_machine(context, options, run_multiply); }
void run(mpi::Context& context, const PurifyOptions& options) { run_on_machine(context, options, run_purify); }
void run(mpi::Context& context, const SinkhornOptions& options) { run_on_machine(context, options, run_sinkhorn); }
void run(mpi::Context& context, const TransportJobOptions& options) { run_on_machine(context, options, run_transport); }
void run(mpi::Context& context, const BalanceOptions& options) { run_on_machine(context, options, run_balance); }
void run(mpi::Context& context, const BarycentreOptions& options) { run_on_machine(context, options, run_barycentre); }
void run(mpi::Context& context, const DivergenceOptions& options) { run_on_machine(context, options, run_divergence); }
void run(mpi::Context& context, const GenerateOptions& options) { run_on_machine(context, options, run_generate); }
void run(mpi::Context& context, const InfoOptions& options) { run_on_machine(context, options, run_info); }
void run(mpi::Context& context, const MachineOptions& options) { run_machine(context, options); }

// Launchers end the other processes when the first one fails, and the one that tells why is not to be cut short.
int after_rank_zero(const Launch& launch, int status) {
  if (launch.rank != 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  return status;
}

// The other ranks have ended by then: what goes wrong is not for `run_under_mpi`, which would wait for them.
int print_text(const Launch& launch, const Text& text) {
  if (launch.rank != 0 && launch.is_own) return 0;
  try {
    print_result(text.text);
    return 0;
  } catch (...) {
    return print_failure(std::current_exception());
  }
}

// What needs neither MPI nor other ranks, where there are any.
template <class Options>
int run_alone(const Launch& launch, void (*job)(const Options&), const Options& options) {
  if (launch.rank != 0) return 0;
  try {
    job(options);
    return 0;
  } catch (...) {
    return print_failure(std::current_exception());
  }
}

// Each process becomes a command of its own; what stops one of them stops all.
int run_exec_on(const Launch& launch, const ExecOptions& options) {
  try {
    return run_exec(options, launch);
  } catch (...) {
    const auto failure = std::current_exception();
    return after_rank_zero(launch, launch.rank == 0 ? print_failure(failure) : status_failed);
  }
}

int run_under_mpi(const Launch& launch, int argc, char** argv, const std::optional<Command>& command,
                  const std::exception_ptr& misuse) {
  const mpi::Environment environment(argc, argv, MPI_COMM_WORLD);
  catch_stop_signals(launch.rank == 0);
  return run_guarded([&](mpi::Context& context) {
    expect_same_arguments(context, argc, argv);
    if (misuse) std::rethrow_exception(misuse);
    share_cores(context);
    tell_choices_if_wanted(context);
    std::visit([&](const auto& options) { run(context, options); }, *command);
  });
}

}  // namespace

int main(int argc, char** argv) {
  make_standard_streams_safe();
  const Launch launch = launch_from_environment();
  std::optional<Command> command;
  std::exception_ptr misuse;
  const bool is_exec = argc > 1 && std::string_view(argv[1]) == "exec";  // whose words are those of another command
  if (!is_exec && std::find(argv + std::min(argc, 1), argv + argc, std::string_view("--json")) != argv + argc) {
    print_failures_as_json(argv[1]);
  }
  try {
    command = parse_command_line(argc, argv);
    if (const auto* text = std::get_if<Text>(&*command)) return print_text(launch, *text);
    if (const auto* plan = std::get_if<PlanOptions>(&*command)) return run_alone(launch, run_plan, *plan);
    if (const auto* trace = std::get_if<TraceOptions>(&*command)) return run_alone(launch, run_trace, *trace);
    if (const auto* exec = std::get_if<ExecOptions>(&*command)) return run_exec_on(launch, *exec);
  } catch (...) {
    misuse = std::current_exception();
    if (launch.size == 1) return print_failure(misuse);
  }
  try {
    return run_under_mpi(launch, argc, argv, command, misuse);
  } catch (...) {
    const auto failure = std::current_exception();
    return after_rank_zero(launch, launch.rank == 0 ? print_failure(failure) : status_failed);
  }
}
