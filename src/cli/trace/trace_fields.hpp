#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "plait/base/timeline.hpp"

namespace plait::cli {

/// An object in the file of a trace. What it should have and has not is a FileError that tells where. What it is made
/// from outlives it.
class TraceFields {
 public:
  TraceFields(const nlohmann::json& object, const std::string& path, std::string where);

  /// \throws FileError  "PATH: WHERE what"
  [[noreturn]] void fail(std::string_view what) const;

  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }
  [[nodiscard]] const nlohmann::json& value(const char* key) const;
  [[nodiscard]] TraceFields inner(const char* key) const { return {value(key), path_, where_ + " " + key}; }
  [[nodiscard]] std::string text(const char* key) const;
  /// Whole numbers from 0 to `most`.
  [[nodiscard]] Index whole(const char* key, Index most = most_whole) const;
  [[nodiscard]] std::vector<Index> wholes(const char* key, Index most = most_whole) const;
  /// [stage, strand, segment]
  [[nodiscard]] std::array<Index, 3> position() const;
  /// A number that is not negative.
  [[nodiscard]] double number(const char* key) const;
  /// A time that is written in microseconds.
  [[nodiscard]] Nanoseconds time(const char* key) const;

 private:
  static constexpr Index most_whole = Index{1} << 62;

  [[nodiscard]] Index whole(const nlohmann::json& number, const char* key, Index most) const;

  const nlohmann::json& object_;
  const std::string& path_;
  std::string where_;
};

}  // namespace plait::cli
