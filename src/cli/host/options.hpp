#pragma once

#include <array>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include "cli/host/files.hpp"
#include "cli/host/meter.hpp"
#include "cli/host/values.hpp"

/// How jobs declare their options. Each `add_...` adds one to a command; what its text is turned into throws becomes a
/// UsageError that begins with the option's name.
namespace plait::cli {

/// The groups in which a help text lists options. One of those of the first has to be given, and those that CLI11 knows
/// to be required come before all.
namespace group {
inline constexpr const char* one_of = "One of these (required)";
inline constexpr const char* iteration = "Iteration";
inline constexpr const char* checkpoints = "Checkpoints";
inline constexpr const char* run = "Run and report";
}  // namespace group

/// As few letters as will do: "IN", "-o FILE", "--electrons NUMBER".
[[nodiscard]] std::string to_give(const CLI::Option& option);

/// What has to be given to a command: "plait purify IN --electrons NUMBER [OPTIONS]".
[[nodiscard]] std::string usage(const CLI::App& command);

/// \throws UsageError  there is a group of options of which one has to be given, and none is
void expect_one_of(const CLI::App& command);

/// How all help texts look: usage, arguments, required options, the others by groups, then the footer.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

/// An option whose text `read` turns into a value.
CLI::Option* add_value(CLI::App& command, const std::string& name, std::function<void(const std::string&)> read,
                       const std::string& placeholder, const std::string& help);

/// An option whose value is what `parse` makes of its text.
template <class T, class Parse>
CLI::Option* add_value(CLI::App& command, const std::string& name, T& target, Parse parse,
                       const std::string& placeholder, const std::string& help) {
  return add_value(
      command, name, [&target, parse = std::move(parse)](const std::string& text) { target = parse(text); },
      placeholder, help);
}

/// An option without a value.
CLI::Option* add_flag(CLI::App& command, const std::string& name, bool& target, const std::string& help);

/// What an option can be, and the word for it.
template <class T>
struct Choice {
  std::string_view word;
  T value;
};

/// The values with their names.
template <class T>
[[nodiscard]] std::vector<Choice<T>> named(std::initializer_list<T> values) {
  std::vector<Choice<T>> choices;
  for (const T& value : values) choices.push_back({name(value), value});
  return choices;
}

/// "lanczos", "lanczos or gershgorin", "f64, f32 or mixed"
[[nodiscard]] std::string either(const std::vector<std::string>& words);

/// \throws ArgumentError  naming all that it could be
template <class T>
[[nodiscard]] T parse_choice(std::string_view text, const std::vector<Choice<T>>& choices) {
  std::vector<std::string> words;
  for (const auto& [word, value] : choices) {
    if (text == word) return value;
    words.emplace_back(word);
  }
  throw ArgumentError(fmt::format("'{}' is unknown; expected {}", text, either(words)));
}

/// An option that takes one of some words.
///
/// \param target  what it is by default, and then what was chosen
/// \param help    with {} where the words are to stand, in which the default is marked
template <class T>
CLI::Option* add_choice(CLI::App& command, const std::string& name, T& target,
                        const std::type_identity_t<std::vector<Choice<T>>>& choices, const std::string& placeholder,
                        const std::string& help) {
  std::vector<std::string> words;
  for (const auto& [word, value] : choices) {
    words.push_back(fmt::format("{}{}", word, value == target ? " (default)" : ""));
  }
  const auto parse = [choices](const std::string& text) { return parse_choice(text, choices); };
  return add_value(command, name, target, parse, placeholder, fmt::format(fmt::runtime(help), either(words)));
}

/// Whether a name ends so, in letters of either case. `ending` is in lower case.
[[nodiscard]] bool ends_like(std::string_view name, std::string_view ending);

/// The name of a file or folder. One that begins with "--" is another option whose value is missing, and "-" is no
/// standard stream: all ranks read and write at any place of a file.
/// \throws ArgumentError
[[nodiscard]] std::string parse_path(const std::string& text);

/// The same of a file with a matrix.
[[nodiscard]] inline InputFile parse_input(const std::string& text) { return {{}, parse_path(text)}; }

/// An option for the name of a file or folder.
CLI::Option* add_path(CLI::App& command, const std::string& name, std::string& path, const std::string& placeholder,
                      const std::string& help);

/// What the host reads from the command line for a job.
struct Settings {
  std::string name;                // of the command
  std::string line;                // the whole command line, as a shell takes it
  std::vector<std::string> words;  // of the program that a command with `prefix_command` is to run

  std::string checkpoint;                 // empty: none
  std::optional<Index> checkpoint_every;  // iterations
  Index usual_checkpoint_every = 0;       // where none is given
  bool resume = false;

  bool takes_machine = false;    // whether the job has --machine
  std::string machine;           // empty: as PLAIT_MACHINE says
  bool takes_page = false;       // likewise --report
  std::string page;              // empty: none
  bool takes_trace = false;      // likewise --trace
  std::string trace;             // empty: none
  bool reports_overlap = false;  // schedules are recorded even without --trace

  bool json = false;
  bool quiet = false;
  bool progress = false;

  /// \throws UsageError  --resume or --checkpoint-every without --checkpoint
  void expect_checkpoint() const;
  /// Whether there is a file for --resume.
  [[nodiscard]] bool finds_checkpoint() const noexcept;
  [[nodiscard]] Meter::When meter() const noexcept {
    if (quiet) return Meter::When::never;
    return progress ? Meter::When::from_the_start : Meter::When::if_long;
  }
};

/// Files that are written are of a kind that plait can write there, which their names tell by how they end.
namespace kind {
inline constexpr std::array<std::string_view, 3> matrix{".npy", ".h5", ".hdf5"};
inline constexpr std::array<std::string_view, 4> field{".npy", ".h5", ".hdf5", ".vti"};
inline constexpr std::array<std::string_view, 1> npy{".npy"};
inline constexpr std::array<std::string_view, 2> sparse{".npy", ".mtx"};
inline constexpr std::array<std::string_view, 2> list{".npy", ".txt"};
}  // namespace kind

/// Which of its options the host adds to a command, in this order.
struct HostOptions {
  Index checkpoint_every = 0;  // usually; 0: the job has no checkpoints
  bool machine = true;
  std::string page = {};  // what is on it; empty: there is none
  bool trace = false;
  bool json = true;
  bool quiet = true;
  bool progress = true;
  bool reports_overlap = false;  // no option: see Settings
};

/// The options of a command as its job declares them: after `describe` a CLI::App to all `add_...` above.
class Options {
 public:
  Options(CLI::App& program, std::string name, Settings& settings, JobFiles& files)
      : program_(program), name_(std::move(name)), settings_(settings), files_(files) {}

  /// What the command does, in a line, and what its help ends with.
  void describe(const std::string& what, const std::string& footer);

  operator CLI::App&() noexcept { return *command_; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] CLI::App& program() noexcept { return program_; }

  /// A file that the job reads.
  CLI::Option* reads(const std::string& name, std::string& path, const std::string& help,
                     const std::string& placeholder = "FILE");
  /// The same of a matrix, or an array of these dimensions, which the host describes before the job prepares.
  CLI::Option* reads(const std::string& name, InputFile& file, const std::string& help,
                     io::Dimensions wanted = io::matrices);
  /// A file that it writes, of one of the kinds that end in `endings`, or of any where there are none: any name will do
  /// but one that tells another kind. The host sees to it that the file replaces none but those of the options in
  /// `may_replace`, and before the work that it can be written.
  CLI::Option* writes(const std::string& name, std::string& path, std::span<const std::string_view> endings,
                      const std::string& help, std::vector<std::string> may_replace = {});
  /// One that has to say what it is, as viewers go by the name: `kind` is "an SVG file", which ends in `ending`.
  CLI::Option* writes_named(const std::string& name, std::string& path, const std::string& help,
                            const std::string& kind, const std::string& ending);

  /// In which group of the help those are that follow.
  void group(const std::string& title) { command_->option_defaults()->group(title); }

  /// Those of the host, after the job's own.
  void host(const HostOptions& which);

 private:
  CLI::App& program_;
  CLI::App* command_ = nullptr;
  std::string name_;
  Settings& settings_;
  JobFiles& files_;
};

}  // namespace plait::cli
