#include "cli/options/checkpoint_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options/help.hpp"
#include "cli/options/number_argument.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

void add_checkpoint_options(CLI::App& command, CheckpointOptions& options, Index usual) {
  add_path(command, "--checkpoint", options.checkpoint, "FILE",
           "Save the state there, and its data in FILE.a.npy and FILE.b.npy by turns; removed after a good end")
      ->group(group::checkpoints);
  add_value(command, "--checkpoint-every", options.checkpoint_every, parse_positive_count, "COUNT",
            fmt::format("Iterations between checkpoints; {} by default", usual))
      ->group(group::checkpoints);
  command.add_flag("--resume", options.resume, "Go on from the checkpoint, if there is one")
      ->disable_flag_override()
      ->group(group::checkpoints);
}

void expect_checkpoint(const CheckpointOptions& options) {
  if (options.resume && options.checkpoint.empty()) {
    throw UsageError("--resume is given, but --checkpoint is missing: the file to go on from");
  }
  if (options.checkpoint_every && options.checkpoint.empty()) {
    throw UsageError("--checkpoint-every is given, but --checkpoint is missing: the file to write");
  }
}

}  // namespace plait::cli
