#include "cli/options/help.hpp"

#include <functional>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/options/usage_error.hpp"

namespace plait::cli {

namespace {

constexpr std::size_t text_column = 30;
constexpr std::size_t width = 110;

using OptionTest = std::function<bool(const CLI::Option&)>;

bool is_one_of(const CLI::Option& option) { return option.get_group() == group::one_of; }

std::vector<const CLI::Option*> options_where(const CLI::App& command, const OptionTest& test) {
  return command.get_options([&](const CLI::Option* option) { return test(*option); });
}

std::vector<std::string> all_to_give(const std::vector<const CLI::Option*>& options) {
  std::vector<std::string> texts;
  for (const CLI::Option* option : options) texts.push_back(to_give(*option));
  return texts;
}

// "-o, --output FILE"
std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const std::string& value = option.get_option_text();
  return fmt::format("{}{}{}", fmt::join(names, ", "), value.empty() ? "" : " ", value);
}

// A name, and beside it what it means.
std::string entry(const std::string& name, const std::string& meaning) {
  std::string line = fmt::format("  {:<{}}", name, text_column - 2);
  std::string text;
  if (name.size() > text_column - 4) {
    text = fmt::format("  {}\n", name);
    line = std::string(text_column, ' ');
  }
  std::istringstream words(meaning);
  for (std::string word; words >> word;) {
    if (line.size() > text_column && line.size() + 1 + word.size() > width) {
      text += line + '\n';
      line = std::string(text_column, ' ');
    }
    line += (line.size() > text_column ? " " : "") + word;
  }
  return text + line + '\n';
}

std::string listed(std::string_view title, const std::vector<const CLI::Option*>& options) {
  std::string text = options.empty() ? "" : fmt::format("\n{}:\n", title);
  for (const CLI::Option* option : options) text += entry(names_of(*option), option->get_description());
  return text;
}

std::string groups(const CLI::App& app) {
  const auto is_plain = [](const CLI::Option& option) {
    return option.nonpositional() && !option.get_required() && !is_one_of(option);
  };
  std::string text =
      listed("Arguments",
             options_where(app, [](const auto& option) { return option.get_positional() && !is_one_of(option); }));
  text += listed(group::one_of, options_where(app, is_one_of));
  text += listed("Required", options_where(app, [](const auto& option) {
                   return option.nonpositional() && option.get_required() && !is_one_of(option);
                 }));
  std::vector<std::string> titles{"Options"};
  for (const std::string& title : app.get_groups()) {
    if (title != titles[0] && title != group::one_of) titles.push_back(title);
  }
  for (const std::string& title : titles) {
    auto options = options_where(app, [&](const auto& option) {
      return is_plain(option) && option.get_group() == title && &option != app.get_help_ptr();
    });
    if (title == titles.back()) options.push_back(app.get_help_ptr());
    text += listed(title, options);
  }
  return text;
}

}  // namespace

std::string to_give(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  const auto& letters = option.get_snames();
  return fmt::format("{} {}", letters.empty() ? option.get_name() : "-" + letters[0], option.get_option_text());
}

std::string usage(const CLI::App& command) {
  if (command.get_parent() == nullptr) return "plait COMMAND [OPTIONS]";
  std::string text = "plait " + command.get_name();
  bool is_first_choice = true;
  for (const CLI::Option* option : command.get_options()) {
    if (is_one_of(*option)) {
      if (is_first_choice)
        text += fmt::format(" ({})", fmt::join(all_to_give(options_where(command, is_one_of)), " | "));
      is_first_choice = false;
    } else if (option->get_required()) {
      text += " " + to_give(*option);
    }
  }
  return text + (command.get_prefix_command() ? " [OPTIONS] -- COMMAND..." : " [OPTIONS]");
}

void expect_one_of(const CLI::App& command) {
  const auto options = options_where(command, is_one_of);
  for (const CLI::Option* option : options) {
    if (option->count() > 0) return;
  }
  throw UsageError(
      fmt::format("none of {} is given, expected {}", fmt::join(all_to_give(options), ", "), usage(command)));
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string /*name*/, CLI::AppFormatMode /*mode*/) const {
  std::string text = fmt::format("{}\n\nUsage: {}\n", app->get_description(), usage(*app));
  const auto commands = app->get_subcommands([](const CLI::App*) { return true; });
  if (!commands.empty()) text += "\nCommands:\n";
  for (const CLI::App* command : commands) text += entry(command->get_name(), command->get_description());
  return text + groups(*app) + '\n' + app->get_footer() + '\n';
}

}  // namespace plait::cli
