#pragma once

namespace plait::cli {

/// What the launcher told this process through its environment: known without MPI, also under the launcher of an MPI
/// that plait was not built for.
struct Launch {
  int rank = 0;
  int size = 1;
  bool is_own = true;  // else another MPI's, or merely what one left in the environment
};

[[nodiscard]] Launch launch_from_environment();

}  // namespace plait::cli
