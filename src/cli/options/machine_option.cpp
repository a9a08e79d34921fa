#include "cli/options/machine_option.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/log_setting.hpp"
#include "plait/io/machine_file.hpp"
#include "plait/io/rank_zero.hpp"

#include "cli/options/option_value.hpp"
#include "cli/output/print.hpp"

namespace plait::cli {

namespace {

std::string default_machine_path() {
  const char* const setting = std::getenv("PLAIT_MACHINE");
  return setting == nullptr ? "" : setting;
}

}  // namespace

void add_machine_option(CLI::App& command, std::string& path) {
  add_path(command, "--machine", path, "FILE",
           "Machine description by 'plait machine'; by default that of PLAIT_MACHINE")
      ->group(group::run);
}

void use_machine(mpi::Context& context, const std::string& path) {
  if (!path.empty()) return context.use_machine(io::read_machine(context, path));
  const std::string default_path = io::text_of_rank_zero(context, default_machine_path());
  if (default_path.empty()) return;
  try {
    context.use_machine(io::read_machine(context, default_path));
  } catch (const FileError& error) {
    throw FileError(fmt::format("environment variable PLAIT_MACHINE: {}", error.what()));
  }
}

std::vector<NamedFile> machine_file(const std::string& path) {
  if (!path.empty()) return {{path, "the file of --machine"}};
  const std::string default_path = default_machine_path();
  if (default_path.empty()) return {};
  return {{default_path, "the file that PLAIT_MACHINE names"}};
}

void tell_choices_if_wanted(mpi::Context& context) {
  if (context.rank() != 0) return;
  const LogSetting setting = log_setting();
  if (!setting.complaint.empty()) print_warning(setting.complaint);
  if (!setting.choices) return;
  context.choices().tell([](const std::string& line) { print_aside(fmt::format("plait: {}\n", line)); });
}

}  // namespace plait::cli
