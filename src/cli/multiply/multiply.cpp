#include "cli/multiply/multiply.hpp"

#include "plait/mpi/agreed.hpp"

#include "cli/job/memory_estimate.hpp"
#include "cli/job/traced_job.hpp"
#include "cli/multiply/multiply_report.hpp"
#include "cli/multiply/multiply_run.hpp"
#include "cli/multiply/multiply_task.hpp"
#include "cli/output/meter.hpp"
#include "cli/output/print.hpp"

namespace plait::cli {

void run_multiply(mpi::Context& context, const MultiplyOptions& options) {
  const MultiplyTask task = prepare(context, options);
  const MemoryEstimate memory =
      estimate_memory(context, mpi::agreed(context, [&] { return memory_of_phases(context, options, task); }));
  if (context.rank() == 0 && !memory.warning.empty()) print_warning(memory.warning);

  Meter meter(context, options.report.meter());
  TracedJob traced(context, options.trace);
  const MultiplyOutcome outcome = run(context, options, task, meter);
  traced.write();
  if (context.rank() != 0) return;
  if (options.report.json) {
    print_result(json_report(context, options, task, memory, outcome));
  } else if (!options.report.quiet) {
    print_result(summary(context, options, task, outcome));
  }
}

}  // namespace plait::cli
