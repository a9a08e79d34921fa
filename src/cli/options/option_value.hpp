#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"
#include "plait/io/hdf5/hdf5_name.hpp"

#include "cli/options/help.hpp"
#include "cli/options/usage_error.hpp"

namespace plait::cli {

/// Adds an option whose text `read` turns into a value: what it throws becomes a UsageError that begins with the
/// option's name.
template <class F>
CLI::Option* add_value(CLI::App& command, const std::string& name, F read, const std::string& placeholder,
                       const std::string& help) {
  const std::string shown = name.substr(name.find(',') + 1);
  return command
      .add_option_function<std::string>(
          name,
          [read = std::move(read), shown](const std::string& text) {
            try {
              read(text);
            } catch (const Error& error) {
              throw UsageError(fmt::format("{}: {}", shown, error.what()));
            }
          },
          help)
      ->option_text(placeholder);
}

/// Adds an option whose value is what `parse` makes of its text.
template <class T, class Parse>
CLI::Option* add_value(CLI::App& command, const std::string& name, T& target, Parse parse,
                       const std::string& placeholder, const std::string& help) {
  return add_value(
      command, name, [&target, parse = std::move(parse)](const std::string& text) { target = parse(text); },
      placeholder, help);
}

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
[[nodiscard]] inline std::string either(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words[0];
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

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

/// Adds an option that takes one of some words.
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

/// The name of a file or folder. One that begins with "--" is another option whose value is missing, and "-" is no
/// standard stream: all ranks read and write at any place of a file.
inline std::string parse_path(const std::string& text) {
  if (text.empty()) throw ArgumentError("is empty, expected a name");
  if (text == "-" || text.starts_with("--")) {
    throw ArgumentError(fmt::format("is {}, expected a name; a file of that name is written ./{}", text, text));
  }
  return text;
}

/// Adds an option for the name of a file or folder.
inline CLI::Option* add_path(CLI::App& command, const std::string& name, std::string& path,
                             const std::string& placeholder, const std::string& help) {
  return add_value(command, name, [&path](const std::string& text) { path = parse_path(text); }, placeholder, help);
}

/// Whether a name ends so, in letters of either case. `ending` is in lower case.
inline bool ends_like(std::string_view name, std::string_view ending) {
  const auto is_lower_or_upper = [](char letter, char lower) {
    return letter == lower || (lower >= 'a' && lower <= 'z' && letter == lower - 'a' + 'A');
  };
  return std::ranges::equal(name.substr(name.size() - std::min(name.size(), ending.size())), ending, is_lower_or_upper);
}

/// A name of a matrix file to write, of kinds that end in `endings`. Any other name will do, too, but one that would
/// say that the file is of a kind which is not written there.
/// \throws ArgumentError
inline std::string parse_written_path(const std::string& text, std::initializer_list<std::string_view> endings) {
  constexpr std::array<std::string_view, 13> kinds{".mtx", ".h5",   ".hdf5", ".npz",  ".csv",  ".tsv", ".txt",
                                                   ".mat", ".json", ".svg",  ".html", ".xlsx", ".png"};
  const std::string file = io::is_hdf5_name(text) ? io::parse_hdf5_name(text).file : text;
  const auto ends_in = [&](std::string_view ending) { return ends_like(file, ending); };
  const auto kind = std::ranges::find_if(kinds, ends_in);
  if (kind != kinds.end() && std::ranges::none_of(endings, ends_in)) {
    throw ArgumentError(fmt::format("{} would be a file of another kind, expected a name that ends in {}", text,
                                    fmt::join(endings, " or ")));
  }
  return parse_path(text);
}

/// Adds an option for the name of a file to write, .npy or HDF5 (see io/matrix_output.hpp).
inline CLI::Option* add_matrix_path(CLI::App& command, const std::string& name, std::string& path,
                                    const std::string& placeholder, const std::string& help) {
  const auto read = [&path](const std::string& text) {
    static_cast<void>(io::parse_hdf5_name(text));
    path = parse_written_path(text, {".npy", ".h5", ".hdf5"});
  };
  return add_value(command, name, read, placeholder, help);
}

/// Adds an option for the name of a file to write, .npy or, of a sparse matrix, Matrix Market.
inline CLI::Option* add_plan_path(CLI::App& command, const std::string& name, std::string& path,
                                  const std::string& placeholder, const std::string& help) {
  const auto read = [&path](const std::string& text) { path = parse_written_path(text, {".npy", ".mtx"}); };
  return add_value(command, name, read, placeholder, help);
}

/// Adds an option for the name of a .npy file to write.
inline CLI::Option* add_npy_path(CLI::App& command, const std::string& name, std::string& path,
                                 const std::string& placeholder, const std::string& help) {
  const auto read = [&path](const std::string& text) { path = parse_written_path(text, {".npy"}); };
  return add_value(command, name, read, placeholder, help);
}

/// Adds an option for the name of a file to write that has to say what it is, as viewers go by the name: `kind` is "an
/// SVG file", which ends in `ending`.
inline CLI::Option* add_typed_path(CLI::App& command, const std::string& name, std::string& path,
                                   const std::string& placeholder, const std::string& help, const std::string& kind,
                                   const std::string& ending) {
  const auto read = [&path, kind, ending](const std::string& text) {
    path = parse_path(text);
    if (!ends_like(text, ending)) {
      throw ArgumentError(fmt::format("{} is not the name of {}, expected one that ends in {}", text, kind, ending));
    }
  };
  return add_value(command, name, read, placeholder, help);
}

}  // namespace plait::cli
