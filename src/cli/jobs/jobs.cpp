#include "cli/jobs/jobs.hpp"

#include <array>

namespace plait::cli {

// One row a job. Its name is that of its file in this folder, which ends with PLAIT_JOB; there is no other list of
// them.
#define PLAIT_JOBS(JOB) \
  JOB(redistribute)     \
  JOB(multiply)         \
  JOB(purify)           \
  JOB(sinkhorn)         \
  JOB(transport)        \
  JOB(balance)          \
  JOB(barycentre)       \
  JOB(divergence)       \
  JOB(poisson)          \
  JOB(kmeans)           \
  JOB(fit)              \
  JOB(train)            \
  JOB(partition)        \
  JOB(repartition)      \
  JOB(order)            \
  JOB(plan)             \
  JOB(generate)         \
  JOB(info)             \
  JOB(machine)          \
  JOB(trace)            \
  JOB(exec)

#define PLAIT_DECLARE(name) std::unique_ptr<Command> make_##name();
PLAIT_JOBS(PLAIT_DECLARE)
#undef PLAIT_DECLARE

std::span<const JobRow> jobs() {
#define PLAIT_ROW(name) JobRow{#name, make_##name},
  static constexpr std::array rows{PLAIT_JOBS(PLAIT_ROW)};
#undef PLAIT_ROW
  return rows;
}

#undef PLAIT_JOBS

}  // namespace plait::cli
