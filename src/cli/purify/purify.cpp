#include "cli/purify/purify.hpp"

#include "cli/output/meter.hpp"
#include "cli/output/print.hpp"
#include "cli/output/text_aside.hpp"
#include "cli/purify/purify_page.hpp"
#include "cli/purify/purify_report.hpp"
#include "cli/purify/purify_run.hpp"
#include "cli/purify/purify_task.hpp"

namespace plait::cli {

void run_purify(mpi::Context& context, const PurifyOptions& options) {
  const PurifyTask task = prepare(context, options);
  Meter meter(context, options.report.meter());
  const PurifyOutcome outcome = run(context, options, task, meter);
  if (context.rank() != 0) return;
  if (!options.page.empty()) {
    write_beside_result(options.page, [&] { return purify_page(options, task, outcome); });
  }
  if (options.report.json) {
    print_result(json_report(context, options, task, outcome));
  } else if (!options.report.quiet) {
    print_result(summary(options, task, outcome));
  }
}

}  // namespace plait::cli
