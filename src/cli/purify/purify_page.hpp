#pragma once

#include <string>

#include "cli/purify/purify_options.hpp"
#include "cli/purify/purify_run.hpp"
#include "cli/purify/purify_task.hpp"

namespace plait::cli {

/// A purification as one HTML page that needs nothing else: how it converged, the density matrix as a picture, and the
/// timeline of each rank in the steps.
[[nodiscard]] std::string purify_page(const PurifyOptions& options, const PurifyTask& task,
                                      const PurifyOutcome& outcome);

}  // namespace plait::cli
