#pragma once

#include <optional>
#include <string>

#include "plait/base/index.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// Checkpoints of a job that iterates.
struct CheckpointOptions {
  std::string checkpoint;                 // empty: none
  std::optional<Index> checkpoint_every;  // iterations; the job's own number where none is given
  bool resume = false;
};

/// \param usual  how many iterations lie between checkpoints where nothing is said
void add_checkpoint_options(CLI::App& command, CheckpointOptions& options, Index usual);

/// \throws UsageError  --resume or --checkpoint-every without --checkpoint
void expect_checkpoint(const CheckpointOptions& options);

}  // namespace plait::cli
