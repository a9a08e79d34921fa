#include "cli/trace/trace_fields.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::cli {

using nlohmann::json;

TraceFields::TraceFields(const json& object, const std::string& path, std::string where)
    : object_(object), path_(path), where_(std::move(where)) {
  if (!object_.is_object()) fail("is no object");
}

void TraceFields::fail(std::string_view what) const { throw FileError(fmt::format("{}: {} {}", path_, where_, what)); }

const json& TraceFields::value(const char* key) const {
  if (!has(key)) fail(fmt::format("has no {}", key));
  return object_[key];
}

std::string TraceFields::text(const char* key) const {
  if (!value(key).is_string()) fail(fmt::format("has a {} that is no text", key));
  return value(key).get<std::string>();
}

Index TraceFields::whole(const char* key, Index most) const { return whole(value(key), key, most); }

std::vector<Index> TraceFields::wholes(const char* key, Index most) const {
  if (!value(key).is_array()) fail(fmt::format("has a {} that is no array", key));
  std::vector<Index> numbers;
  for (const json& number : value(key)) numbers.push_back(whole(number, key, most));
  return numbers;
}

std::array<Index, 3> TraceFields::position() const {
  const json& numbers = value("position");
  const bool is_fit = numbers.is_array() && numbers.size() == 3 &&
                      std::ranges::all_of(numbers, [](const json& each) { return each.is_number_integer(); });
  if (!is_fit) fail("has a position that is not [stage, strand, segment]");
  return {numbers[0].get<Index>(), numbers[1].get<Index>(), numbers[2].get<Index>()};
}

double TraceFields::number(const char* key) const {
  constexpr double most = 1e15;
  const json& number = value(key);
  const bool is_fit = number.is_number() && number.get<double>() >= 0 && number.get<double>() <= most;
  if (!is_fit) fail(fmt::format("has a {} that is no number from 0 to {}", key, most));
  return number.get<double>();
}

Nanoseconds TraceFields::time(const char* key) const { return std::llround(number(key) * 1e3); }

Index TraceFields::whole(const json& number, const char* key, Index most) const {
  if (!number.is_number_unsigned() || number.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
    fail(fmt::format("has a {} that is no whole number from 0 to {}", key, most));
  }
  return number.get<Index>();
}

}  // namespace plait::cli
