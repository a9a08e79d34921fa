#pragma once

#include <nlohmann/json.hpp>

#include "plait/mpi/context.hpp"

#include "cli/job/json_values.hpp"
#include "cli/scaling/scaled_job.hpp"
#include "cli/sinkhorn/sinkhorn_options.hpp"

namespace plait::cli {

/// What is told of `plait sinkhorn`, of dense and of sparse matrices.
[[nodiscard]] inline nlohmann::ordered_json sinkhorn_json(const mpi::Context& context, const SinkhornOptions& options,
                                                          const ScaledJob& job, const ScaledOutcome& outcome) {
  using nlohmann::ordered_json;
  auto json = scaled_json(context, "sinkhorn", options, job.file, job.memory, outcome);
  json["method"] = name(options.method);
  json["row_factors"] = name_or_null(options.of_rows);
  json["column_factors"] = name_or_null(options.of_columns);
  return json;
}

}  // namespace plait::cli
