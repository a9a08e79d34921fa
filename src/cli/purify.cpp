#include "cli/purify.hpp"

#include "plait/mpi/agreed.hpp"

#include "cli/meter.hpp"
#include "cli/print.hpp"
#include "cli/purify_page.hpp"
#include "cli/purify_report.hpp"
#include "cli/purify_run.hpp"
#include "cli/purify_task.hpp"
#include "cli/text_aside.hpp"

namespace plait::cli {

void run_purify(mpi::Context& context, const PurifyOptions& options) {
  const PurifyTask task = prepare(context, options);
  Meter meter(context, options.report.meter());
  const PurifyOutcome outcome = run(context, options, task, meter);
  mpi::agreed(context, [&] {
    if (context.rank() == 0 && !options.page.empty()) {
      text_aside(options.page, purify_page(options, task, outcome)).publish();
    }
  });
  if (context.rank() != 0) return;
  if (options.report.json) {
    print_result(json_report(context, options, task, outcome));
  } else if (!options.report.quiet) {
    print_result(summary(options, task, outcome));
  }
}

}  // namespace plait::cli
