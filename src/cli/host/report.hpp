#pragma once

#include "plait/iterate/solver.hpp"

#include "cli/host/files.hpp"
#include "cli/host/node.hpp"
#include "cli/host/text.hpp"
#include "cli/host/values.hpp"

/// Results: facts, and how they stand in JSON.
namespace plait::cli {

/// Bytes of all ranks together, and the time that passed until the last one was done.
struct Moved {
  Index bytes = 0;
  double seconds = 0;
};

/// "1.23 GB in 4.56 s, 270 MB/s"
[[nodiscard]] std::string moved_text(const Moved& moved);

/// Of a file that was written: path; null where there is none.
[[nodiscard]] nlohmann::ordered_json output_json(const std::string& path);

/// "C" or "F", as NumPy has it.
[[nodiscard]] std::string_view order_name(StorageOrder order);

/// "converged", "finished", "iteration limit" or "numerical limit"
[[nodiscard]] std::string_view status_of(iterate::End end);

/// A name, such as a file's: null where none was given.
[[nodiscard]] inline nlohmann::ordered_json name_or_null(const std::string& name) {
  return name.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(name);
}

/// Null where it is infinite or no number, which JSON has no words for.
[[nodiscard]] inline nlohmann::ordered_json number_or_null(double number) {
  return std::isfinite(number) ? nlohmann::ordered_json(number) : nlohmann::ordered_json();
}

/// Whole numbers exactly, complex ones as [real, imaginary].
/// \pre  `dtype` can hold the number
[[nodiscard]] nlohmann::ordered_json scalar_json(const Scalar& scalar, io::DType dtype);

[[nodiscard]] nlohmann::ordered_json json_of(const Moved& moved);
[[nodiscard]] nlohmann::ordered_json json_of(const MemoryEstimate& memory);
/// Path, format, order.
[[nodiscard]] nlohmann::ordered_json json_of(const InputFile& file);
/// [rows, columns]
[[nodiscard]] inline nlohmann::ordered_json json_of(const layout::Shape& shape) { return {shape.rows, shape.columns}; }

/// How iterations went.
struct Iterated {
  iterate::State state = {};
  double seconds = 0;    // of all ranks together
  Index resumed_at = 0;  // iterations that a checkpoint had
};

/// The result of a job, as facts. Each is stated once: its key and value go to --json, and `fact` returns the value for
/// the words about it in the summary and on the page:
///
///     report.line("took", seconds_text(report.fact("seconds", seconds)));
class Report {
 public:
  /// \param line  the whole command line
  Report(const std::string& command, std::string line);
  /// With the ranks that the job runs on.
  Report(const mpi::Context& context, const std::string& command, std::string line);

  /// \param key  "a.b" is b of the object a
  template <class T>
  const T& fact(std::string_view key, const T& value) {
    if constexpr (requires { value.has_value(); }) {
      put(key, value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json());
    } else if constexpr (requires { json_of(value); }) {
      put(key, json_of(value));
    } else {
      put(key, value);
    }
    return value;
  }
  /// The name of a file, or of something else that may not be there: null where it is empty.
  const std::string& fact_or_null(std::string_view key, const std::string& name) {
    put(key, name_or_null(name));
    return name;
  }

  /// A fact that is also a row of the page; returns its words.
  template <class T>
  std::string fact_in_row(std::string_view key, std::string what, const T& value,
                          std::string_view format = std::is_floating_point_v<T> ? "{:.10g}" : "{}") {
    std::string words = fmt::format(fmt::runtime(format), fact(key, value));
    row(std::move(what), words);
    return words;
  }
  /// A fact and a line of a file that was written beside the result; empty: there is none.
  void file(std::string_view what, const std::string& path);
  /// How iterations ended, how many there were, how long they took, and `more` words about that.
  void iterations(const Iterated& iterated, std::string_view more = {});

  /// A line of the summary, as it is; and lines that have their ends. Here and below words may be a format and what
  /// goes into it.
  void head(const std::string& words) { summary_ += words + "\n"; }
  template <class... Args>
  void head(Format<Args...> format, Args&&... args) {
    head(fmt::format(format, std::forward<Args>(args)...));
  }
  void text(std::string_view lines) { summary_ += lines; }
  /// "  took      1.2 s"
  void line(std::string_view what, std::string_view words);
  template <class... Args>
  void line(std::string_view what, Format<Args...> format, Args&&... args) {
    line(what, fmt::format(format, std::forward<Args>(args)...));
  }
  /// How wide the first word of a line is.
  void label(int width, int indent = 2) noexcept {
    label_width_ = width;
    indent_ = indent;
  }

  /// The page: what it is about, in a line each; then large numbers, figures side by side, a table of results among
  /// them, and what stands below over the whole width. All but `subject` are HTML.
  void page_head(std::string subject, std::string summary);
  void tile(std::string_view number, std::string_view words);
  void figure(std::string html) { figures_.push_back(std::move(html)); }
  void row(std::string what, std::string value) { rows_.push_back({std::move(what), std::move(value)}); }
  template <class... Args>
  void row(std::string what, Format<Args...> format, Args&&... args) {
    row(std::move(what), fmt::format(format, std::forward<Args>(args)...));
  }
  void section(std::string_view html) { sections_ += html; }

  [[nodiscard]] std::string page() const;
  /// JSON or, unless `quiet`, the summary.
  void print(bool json, bool quiet) const;

 private:
  /// Objects of the same key become one, in whatever order their parts are stated.
  void put(std::string_view key, const nlohmann::ordered_json& value);

  nlohmann::ordered_json json_;
  std::string summary_;
  int label_width_ = 10;
  int indent_ = 2;
  std::string line_;
  std::string subject_;
  std::string page_summary_;
  std::string tiles_;
  std::vector<std::string> figures_;
  std::vector<std::vector<std::string>> rows_;
  std::string sections_;
};

}  // namespace plait::cli
