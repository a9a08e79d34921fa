#include "cli/command_line.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/contract.hpp"

#include "cli/options/help.hpp"
#include "cli/options/option_value.hpp"
#include "cli/options/usage_error.hpp"
#include "cli/output/shell_text.hpp"
#include "cli/spelling.hpp"

namespace plait::cli {

namespace {

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

// CLI11's own words tell neither which words there are nor which was meant.
std::string complaint_about(const CLI::App& program, const CLI::ParseError& error) {
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
    if (is_repeated) return fmt::format("{} is given more than once", name);
    return value.empty() ? fmt::format("{} takes no value", name)
                         : fmt::format("{} has no value, expected {} {}", name, name, value);
  }
  return what;
}

// What follows "--" belongs to the command that `plait exec` is to run; CLI11 would look for options in it.
struct Line {
  int argc;
  std::vector<std::string> after_mark;
};

Line cut(int argc, const char* const* argv) {
  const std::vector<std::string> words(argv, argv + argc);
  if (argc < 2 || words[1] != "exec") return {argc, {}};
  const auto mark = std::ranges::find(words, "--");
  return {static_cast<int>(mark - words.begin()), {mark == words.end() ? mark : mark + 1, words.end()}};
}

// The commands that a line may choose from, each with the options that it fills.
class Offers {
 public:
  explicit Offers(CLI::App& program) : program_(program) {}

  template <class Options>
  void add(void (*add_command)(CLI::App&, Options&)) {
    const auto options = std::make_shared<Options>();
    add_command(program_, *options);
    const CLI::App* const command = program_.get_subcommands([](const CLI::App*) { return true; }).back();
    offers_.push_back({command, [options](const std::string& line) {
                         if constexpr (requires { options->command = line; }) options->command = line;
                         return Command(*options);
                       }});
  }

  /// \pre  the line was parsed, and chose one of them
  /// \param line  for the pages that show it
  [[nodiscard]] Command chosen(const std::string& line) const {
    const auto offer = std::ranges::find_if(offers_, [](const Offer& each) { return each.command->parsed(); });
    PLAIT_ASSERT(offer != offers_.end(), "the line has a command");
    return offer->options(line);
  }

 private:
  struct Offer {
    const CLI::App* command;
    std::function<Command(const std::string&)> options;
  };
  CLI::App& program_;
  std::vector<Offer> offers_;
};

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  CLI::App program(
      "plait moves distributed matrices at the least cost and computes with them, alone or under mpirun -n P.",
      "plait");
  program.formatter(std::make_shared<HelpFormatter>());
  program.set_help_flag("-h,--help", "Print this text");
  program.set_version_flag("-V,--version", "plait " PLAIT_VERSION, "Print the version");
  program.require_subcommand(1);
  program.footer("Options of a command: plait COMMAND --help, or plait help COMMAND");
  Offers offers(program);
  offers.add(add_redistribute);
  offers.add(add_multiply);
  offers.add(add_purify);
  offers.add(add_sinkhorn);
  offers.add(add_transport);
  offers.add(add_balance);
  offers.add(add_barycentre);
  offers.add(add_divergence);
  offers.add(add_plan);
  offers.add(add_generate);
  offers.add(add_info);
  offers.add(add_machine);
  offers.add(add_trace);
  ExecOptions exec;
  const CLI::App* const exec_app = add_exec(program, exec);

  const auto with_help = [&program](const std::string& complaint) {
    const auto chosen = program.get_subcommands();
    return fmt::format("{}{} plait{} --help", complaint, complaint.ends_with('?') ? " See" : "; see",
                       chosen.empty() ? "" : " " + chosen[0]->get_name());
  };
  const Line line = cut(argc, argv);
  std::vector<std::string> words(argv + std::min(argc, 1), argv + line.argc);
  std::string explained;
  if (!words.empty() && words[0] == "help") {  // plait help COMMAND
    words.erase(words.begin());
    if (!words.empty()) explained = words[0];
    words.emplace_back("--help");
  }
  std::ranges::reverse(words);  // as CLI11 takes them
  try {
    program.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    if (!explained.empty() && program.get_subcommands().empty()) {
      throw UsageError(
          with_help(or_nearest("there is no command " + explained, explained, names_of_commands(program))));
    }
    return Text{program.help()};
  } catch (const CLI::CallForVersion&) {
    return Text{program.version() + "\n"};
  } catch (const CLI::ParseError& error) {
    throw UsageError(with_help(complaint_about(program, error)));
  }
  if (!exec_app->parsed()) return offers.chosen("plait " + shell_text({argv + std::min(argc, 1), argv + argc}));

  const std::vector<std::string> left = exec_app->remaining();
  if (!left.empty() && left[0].starts_with('-')) {
    throw UsageError(with_help(unknown_option(*exec_app, left[0])));
  }
  exec.command = exec_command(left, line.after_mark);
  if (exec.command.empty() && !exec.print) {
    throw UsageError(with_help("no command is given, expected " + usage(*exec_app)));
  }
  return exec;
}

}  // namespace plait::cli
