#include "cli/host/command_line.hpp"

#include <csignal>

#include "plait/base/contract.hpp"

#include "cli/host/job.hpp"
#include "cli/host/node.hpp"

namespace plait::cli {

namespace {

// How many letters to insert, remove, replace or exchange with their neighbour.
// Source: Damerau, "A technique for computer detection and correction of spelling errors", 1964.
std::size_t distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * width + j]; };
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    at(i, 0) = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> names_of_commands(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::string or_nearest(const std::string& complaint, std::string_view word, const std::vector<std::string>& known) {
  const auto meant = nearest(word.substr(0, word.find('=')), known);
  return meant ? fmt::format("{}; did you mean {}?", complaint, *meant) : complaint;
}

// What other programs call an option, where that is spelt otherwise.
constexpr std::pair<const char*, const char*> other_names[] = {{"--most-steps", "--max-iterations"},
                                                               {"--max-steps", "--max-iterations"},
                                                               {"--maxiter", "--max-iterations"},
                                                               {"--form", "--method"},
                                                               {"--algorithm", "--method"},
                                                               {"--domain", "--method"},
                                                               {"--type", "--dtype"},
                                                               {"--cols", "--columns"},
                                                               {"--overlap", "--pipelined"},
                                                               {"--reg", "--epsilon"},
                                                               {"--verbose", "--progress"},
                                                               {"--out", "--output"}};

std::string unknown_option(const CLI::App& command, const std::string& word) {
  const std::string complaint = fmt::format("{} has no option {}", command.get_name(), word);
  const std::vector<std::string> known = names_of_options(command);
  const std::string name = word.substr(0, word.find('='));
  for (const auto& [other, own] : other_names) {
    if (name == other && std::ranges::find(known, own) != known.end()) {
      return fmt::format("{}; did you mean {}?", complaint, own);
    }
  }
  return or_nearest(complaint, word, known);
}

/// "--parts", or "-k and --parts, which are one option,", as they are given.
std::string given_names(const CLI::Option& option, std::span<const std::string> words) {
  std::vector<std::string> given;
  for (const std::string& word : words) {
    const std::string name = word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
    if (option.check_name(name) && std::ranges::find(given, name) == given.end()) given.push_back(name);
  }
  return given.size() > 1 ? fmt::format("{}, which are one option,", fmt::join(given, " and ")) : option.get_name();
}

// CLI11's own words tell neither which words there are nor which was meant.
std::string complaint_about(const CLI::App& program, const CLI::ParseError& error, std::span<const std::string> words) {
  const auto chosen = program.get_subcommands();
  const std::vector<std::string> left = program.remaining(true);
  const auto option = std::ranges::find_if(left, [](const std::string& word) { return word.starts_with('-'); });
  if (option != left.end() && *option == "--") {
    return "-- is not needed: a file whose name begins with - is written ./-...";
  }
  if (chosen.empty()) {
    const auto commands = names_of_commands(program);
    if (left.empty()) return fmt::format("no command is given, expected {}", either(commands));
    if (option == left.begin()) return or_nearest("there is no option " + left[0], left[0], names_of_options(program));
    return or_nearest("there is no command " + left[0], left[0], commands);
  }
  const CLI::App& command = *chosen[0];
  if (option != left.end()) return unknown_option(command, *option);
  if (!left.empty()) return fmt::format("{} takes no further argument, but '{}' is given", command.get_name(), left[0]);
  const std::string what = error.what();
  if (error.get_name() == "RequiredError") {
    const CLI::Option* const missing = command.get_option(what.substr(0, what.find(' ')));
    return fmt::format("{} is missing, expected {}", to_give(*missing), usage(command));
  }
  if (error.get_name() != "ArgumentMismatch") return what;
  for (const CLI::Option* of_command : command.get_options()) {  // which has no value, or too many
    const std::string name = of_command->get_name();
    const bool is_meant = what.find(name + ":") != std::string::npos || what.find(name + " ") != std::string::npos ||
                          what.starts_with(name.substr(name.find_first_not_of('-')) + " was");
    if (!is_meant) continue;
    const std::string& value = of_command->get_option_text();
    const bool is_repeated = of_command->count() > 1 && of_command->get_expected_min() < 2;
    if (is_repeated) {
      const std::string given = given_names(*of_command, words);
      return fmt::format("{} {} given more than once", given, given == name ? "is" : "are");
    }
    return value.empty() ? fmt::format("{} takes no value", name)
                         : fmt::format("{} has no value, expected {} {}", name, name, value);
  }
  return what;
}

// What follows "--" belongs to the program that a command with a prefix is to run; CLI11 would look for options in it.
struct Cut {
  std::vector<std::string> words;
  std::vector<std::string> after_mark;
};

Cut cut(const CLI::App& program, int argc, const char* const* argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const auto takes_program = [&](const CLI::App* command) {
    return !words.empty() && command->get_name() == words[0] && command->get_prefix_command();
  };
  if (program.get_subcommands(takes_program).empty()) return {words, {}};
  const auto mark = std::ranges::find(words, "--");
  return {{words.begin(), mark}, {mark == words.end() ? mark : mark + 1, words.end()}};
}

// All ranks write at any place of a file, and stdout has one reader: not of two things at once.
void expect_json_alone_on_stdout(const CLI::App& command) {
  const CLI::Option* const json = command.get_option_no_throw("--json");
  if (json == nullptr || json->count() == 0) return;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& value : option->results()) {
      if (value != "/dev/stdout" && value != "/dev/fd/1" && value != "/proc/self/fd/1") continue;
      throw UsageError("{} is {}, where --json prints its object; expected another name, or no --json",
                       option->get_name(), value);
    }
  }
}

void expect_different_files(Command& job) {
  if (job.settings.takes_machine) {
    for (const NamedFile& file : machine_file(job.settings.machine)) job.files.also_read.push_back(file);
  }
  for (const char* turn : {"a", "b"}) {
    if (job.settings.checkpoint.empty()) break;
    job.files.also_written.push_back({contents_path(job.settings.checkpoint, turn), "a state of --checkpoint"});
  }
  job.files.expect_different();
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known) {
  const std::size_t most = std::max<std::size_t>(1, word.size() / 3);
  std::optional<std::string> best;
  std::size_t best_distance = most + 1;
  for (const std::string& candidate : known) {
    const bool begins_so = word.size() >= 3 && candidate.starts_with(word);
    const std::size_t d = begins_so ? 1 : distance(word, candidate);
    if (d >= best_distance) continue;
    best = candidate;
    best_distance = d;
  }
  return best;
}

Parsed parse_command_line(std::span<const JobRow> jobs, int argc, const char* const* argv) {
  CLI::App program(
      "plait moves distributed matrices at the least cost and computes with them, alone or under mpirun -n P.",
      "plait");
  program.formatter(std::make_shared<HelpFormatter>());
  program.set_help_flag("-h,--help", "Print this text");
  program.set_version_flag("-V,--version", "plait " PLAIT_VERSION, "Print the version");
  program.require_subcommand(1);
  program.footer("Options of a command: plait COMMAND --help, or plait help COMMAND");
  std::vector<std::unique_ptr<Command>> commands;
  for (const JobRow& job : jobs) {
    Command& command = *commands.emplace_back(job.make());
    command.settings.name = job.name;
    Options options(program, job.name, command.settings, command.files);
    command.options(options);
  }

  const auto with_help = [&program](const std::string& complaint) {
    const auto chosen = program.get_subcommands();
    return fmt::format("{}{} plait{} --help", complaint, complaint.ends_with('?') ? " See" : "; see",
                       chosen.empty() ? "" : " " + chosen[0]->get_name());
  };
  auto [words, after_mark] = cut(program, argc, argv);
  std::string explained;
  if (!words.empty() && words[0] == "help") {  // plait help COMMAND
    words.erase(words.begin());
    if (!words.empty()) explained = words[0];
    words.emplace_back("--help");
  }
  try {
    program.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // as CLI11 takes them
  } catch (const CLI::CallForHelp&) {
    if (!explained.empty() && program.get_subcommands().empty()) {
      throw UsageError(
          with_help(or_nearest("there is no command " + explained, explained, names_of_commands(program))));
    }
    return {program.help(), nullptr};
  } catch (const CLI::CallForVersion&) {
    return {program.version() + "\n", nullptr};
  } catch (const CLI::ParseError& error) {
    throw UsageError(with_help(complaint_about(program, error, words)));
  }

  const CLI::App& chosen = *program.get_subcommands()[0];
  const auto row = std::ranges::find(commands, chosen.get_name(), [](const auto& each) { return each->settings.name; });
  PLAIT_ASSERT(row != commands.end(), "the line has a command");
  Settings& settings = (*row)->settings;
  settings.line = "plait " + shell_text({argv + std::min(argc, 1), argv + argc});
  if (chosen.get_prefix_command()) {
    settings.words = chosen.remaining();
    if (!settings.words.empty() && settings.words[0].starts_with('-')) {
      throw UsageError(with_help(unknown_option(chosen, settings.words[0])));
    }
    if (!settings.words.empty() && !after_mark.empty()) settings.words.emplace_back("--");  // it belongs to the program
    settings.words.insert(settings.words.end(), after_mark.begin(), after_mark.end());
  }
  expect_one_of(chosen);
  settings.expect_checkpoint();
  expect_json_alone_on_stdout(chosen);
  (*row)->check();
  expect_different_files(**row);
  return {{}, std::move(*row)};
}

int run_program(std::span<const JobRow> jobs, int argc, char** argv) {
  std::optional<HeldStopSignals> held(std::in_place);  // until it is known how to end
  const std::string_view first = argc > 1 ? argv[1] : "";
  const auto job = std::ranges::find(jobs, first, [](const JobRow& row) { return std::string_view(row.name); });
  const bool becomes_program = job != jobs.end() && job->make()->becomes_program();
  if (!becomes_program) start_with_early_settings(argv);
  make_standard_streams_safe();
  const Start start{argc, argv, launch_from_environment()};
  const Launch& launch = start.launch;
  if (!becomes_program) {
    if (std::find(argv + std::min(argc, 1), argv + argc, std::string_view("--json")) != argv + argc) {
      print_failures_as_json(argv[1]);
    }
    catch_stop_signals(launch.rank == 0);
  }
  std::exception_ptr misuse;
  Parsed parsed;
  try {
    parsed = parse_command_line(jobs, argc, argv);
    if (parsed.command && parsed.command->settings.finds_checkpoint()) set_resumable(true);
    held.reset();
    if (parsed.command) return parsed.command->start(start);
    if (launch.rank != 0 && launch.is_own) return 0;
    std::signal(SIGPIPE, SIG_DFL);  // who reads a help text may have read enough
    print_result(parsed.text);
    return 0;
  } catch (...) {
    held.reset();
    misuse = std::current_exception();
    if (launch.size == 1 || !parsed.text.empty()) return print_failure(misuse);
  }
  return run_under_mpi(start, misuse, {});
}

}  // namespace plait::cli
