#include "cli/host/options.hpp"

#include <unistd.h>

#include <sstream>

#include "plait/io/hdf5/hdf5_name.hpp"

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

std::string first_name(const std::string& name) { return name.substr(0, name.find(',')); }

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
  const auto is_given = [](const CLI::Option* option) { return option->count() > 0; };
  if (options.empty() || std::ranges::any_of(options, is_given)) return;
  throw UsageError("none of {} is given, expected {}", fmt::join(all_to_give(options), ", "), usage(command));
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string /*name*/, CLI::AppFormatMode /*mode*/) const {
  std::string text = fmt::format("{}\n\nUsage: {}\n", app->get_description(), usage(*app));
  const auto commands = app->get_subcommands([](const CLI::App*) { return true; });
  if (!commands.empty()) text += "\nCommands:\n";
  for (const CLI::App* command : commands) text += entry(command->get_name(), command->get_description());
  return text + groups(*app) + '\n' + app->get_footer() + '\n';
}

CLI::Option* add_value(CLI::App& command, const std::string& name, std::function<void(const std::string&)> read,
                       const std::string& placeholder, const std::string& help) {
  const auto read_or_complain = [read = std::move(read),
                                 shown = name.substr(name.find(',') + 1)](const std::string& text) {
    try {
      read(text);
    } catch (const Error& error) {
      throw UsageError("{}: {}", shown, error.what());
    }
  };
  return command.add_option_function<std::string>(name, read_or_complain, help)->option_text(placeholder);
}

CLI::Option* add_flag(CLI::App& command, const std::string& name, bool& target, const std::string& help) {
  return command.add_flag(name, target, help)->disable_flag_override();
}

std::string either(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words[0];
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

bool ends_like(std::string_view name, std::string_view ending) {
  const auto is_lower_or_upper = [](char letter, char lower) {
    return letter == lower || (lower >= 'a' && lower <= 'z' && letter == lower - 'a' + 'A');
  };
  return std::ranges::equal(name.substr(name.size() - std::min(name.size(), ending.size())), ending, is_lower_or_upper);
}

std::string parse_path(const std::string& text) {
  if (text.empty()) throw ArgumentError("is empty, expected a name");
  if (text.starts_with('-')) {
    throw ArgumentError(fmt::format("is {}, expected a name; a file of that name is written ./{}", text, text));
  }
  return text;
}

CLI::Option* add_path(CLI::App& command, const std::string& name, std::string& path, const std::string& placeholder,
                      const std::string& help) {
  return add_value(command, name, path, parse_path, placeholder, help);
}

void Settings::expect_checkpoint() const {
  const auto refuse_if = [&](bool given, const char* option, const char* what) {
    if (!given || !checkpoint.empty()) return;
    throw UsageError("{} is given, but --checkpoint is missing: the file to {}", option, what);
  };
  refuse_if(resume, "--resume", "go on from");
  refuse_if(checkpoint_every.has_value(), "--checkpoint-every", "write");
}

bool Settings::finds_checkpoint() const noexcept { return resume && ::access(checkpoint.c_str(), F_OK) == 0; }

void Options::describe(const std::string& what, const std::string& footer) {
  command_ = program_.add_subcommand(name_, what);
  command_->footer(footer);
}

CLI::Option* Options::reads(const std::string& name, std::string& path, const std::string& help,
                            const std::string& placeholder) {
  files_.reads.push_back({first_name(name), &path});
  return add_path(*this, name, path, placeholder, help);
}

CLI::Option* Options::reads(const std::string& name, InputFile& file, const std::string& help, io::Dimensions wanted) {
  files_.inputs.emplace_back(&file, wanted);
  return reads(name, file.path, help);
}

CLI::Option* Options::writes(const std::string& name, std::string& path, std::span<const std::string_view> endings,
                             const std::string& help, std::vector<std::string> may_replace) {
  const bool may_be_hdf5 = std::ranges::find(endings, ".h5") != endings.end();
  const auto parse = [=, &files = files_](const std::string& text) {
    constexpr std::array<std::string_view, 20> kinds{".npy",  ".mtx", ".h5",     ".hdf5", ".npz",  ".csv", ".tsv",
                                                     ".txt",  ".svm", ".vti",    ".vtu",  ".vtk",  ".vtr", ".mat",
                                                     ".json", ".svg", ".libsvm", ".html", ".xlsx", ".png"};
    const std::string file = may_be_hdf5 || io::is_hdf5_name(text) ? io::parse_hdf5_name(text).file : text;
    const auto ends_in = [&](std::string_view ending) { return ends_like(file, ending); };
    const bool is_of_other_kind = std::ranges::any_of(kinds, ends_in) && std::ranges::none_of(endings, ends_in);
    if (is_of_other_kind && !endings.empty()) {
      std::string others;  // options that write such files
      for (const JobFiles::Declared& each : files.writes) {
        if (!each.ending.empty() && ends_in(each.ending)) others += fmt::format("; {} writes such a file", each.option);
      }
      throw ArgumentError(fmt::format("{} would be a file of another kind, expected a name that ends in {}{}", text,
                                      fmt::join(endings, " or "), others));
    }
    return parse_path(text);
  };
  const bool is_matrix = may_be_hdf5 && std::ranges::find(endings, ".npy") != endings.end();
  files_.writes.push_back({first_name(name), &path, is_matrix, std::move(may_replace)});
  return add_value(*this, name, path, parse, "FILE", help);
}

CLI::Option* Options::writes_named(const std::string& name, std::string& path, const std::string& help,
                                   const std::string& kind, const std::string& ending) {
  const auto parse = [kind, ending](const std::string& text) {
    std::string name_of_file = parse_path(text);
    if (ends_like(text, ending)) return name_of_file;
    throw ArgumentError(fmt::format("{} is not the name of {}, expected one that ends in {}", text, kind, ending));
  };
  files_.writes.push_back({.option = first_name(name), .path = &path, .ending = ending});
  return add_value(*this, name, path, parse, "FILE" + ending, help);
}

void Options::host(const HostOptions& which) {
  settings_.takes_machine = which.machine;
  settings_.reports_overlap = which.reports_overlap;
  settings_.usual_checkpoint_every = which.checkpoint_every;
  if (which.checkpoint_every > 0) {
    files_.writes.push_back({"--checkpoint", &settings_.checkpoint});
    for (CLI::Option* option :
         {add_path(
              *this, "--checkpoint", settings_.checkpoint, "FILE",
              "Save the state there, and its data in FILE.a.npy and FILE.b.npy by turns; removed after a good end"),
          add_value(*this, "--checkpoint-every", settings_.checkpoint_every, parse_positive_count, "COUNT",
                    fmt::format("Iterations between checkpoints; {} by default", which.checkpoint_every)),
          add_flag(*this, "--resume", settings_.resume, "Go on from the checkpoint, if there is one")}) {
      option->group(group::checkpoints);
    }
  }
  const auto of_run = [](CLI::Option* option) { option->group(group::run); };
  if (which.machine) {
    of_run(add_path(*this, "--machine", settings_.machine, "FILE",
                    "Machine description by 'plait machine'; by default that of PLAIT_MACHINE"));
  }
  settings_.takes_page = !which.page.empty();
  if (settings_.takes_page) {
    of_run(writes_named("--report", settings_.page, "Write a page with " + which.page, "an HTML file", ".html"));
  }
  settings_.takes_trace = which.trace;
  if (which.trace) {
    of_run(writes_named("--trace", settings_.trace,
                        "Write what every rank did when, for 'plait trace' and ui.perfetto.dev", "a JSON file",
                        ".json"));
  }
  if (which.json) {
    of_run(add_flag(*this, "--json", settings_.json, "Print the result, or the error, as one JSON object"));
  }
  if (which.quiet) {
    of_run(add_flag(*this, "--quiet", settings_.quiet,
                    "Print no progress and no summary; what --json asks for is printed"));
  }
  if (which.progress) {
    of_run(add_flag(*this, "--progress", settings_.progress,
                    "Print every stage on stderr; without it, only jobs of 2 s or more do"));
  }
}

}  // namespace plait::cli
