#include "cli/command_line.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/contract.hpp"

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
    if (left.empty()) return fmt::format("no command is given, expected {}", fmt::join(commands, ", "));
    if (option == left.begin()) return or_nearest("there is no option " + left[0], left[0], names_of_options(program));
    return or_nearest("there is no command " + left[0], left[0], commands);
  }
  if (option != left.end()) {
    return or_nearest(fmt::format("{} has no option {}", chosen[0]->get_name(), *option), *option,
                      names_of_options(*chosen[0]));
  }
  if (!left.empty())
    return fmt::format("{} takes no further argument, but '{}' is given", chosen[0]->get_name(), left[0]);
  return error.what();
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
  CLI::App program("Moves and multiplies distributed matrices at the least cost. Alone or under mpirun -n P.", "plait");
  program.set_version_flag("-V,--version", "plait " PLAIT_VERSION);
  program.require_subcommand(1);
  program.footer("'plait COMMAND --help', or 'plait help COMMAND', tells about a command.");
  program.get_formatter()->column_width(30);
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
    throw UsageError(with_help(or_nearest("exec has no option " + left[0], left[0], names_of_options(*exec_app))));
  }
  exec.command = exec_command(left, line.after_mark);
  if (exec.command.empty() && !exec.print) {
    throw UsageError(with_help("no command is given, expected plait exec [OPTIONS] -- COMMAND..."));
  }
  return exec;
}

}  // namespace plait::cli
