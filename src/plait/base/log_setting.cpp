#include "plait/base/log_setting.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace plait {

LogSetting parse_log_setting(std::string_view text) {
  LogSetting setting;
  for (std::string_view left = text; !left.empty();) {
    const auto comma = left.find(',');
    const std::string_view word = left.substr(0, comma);
    left = comma == std::string_view::npos ? std::string_view() : left.substr(comma + 1);
    if (word == "summary") {
      setting.summary = true;
    } else if (word == "choices") {
      setting.choices = true;
    } else {
      return {.complaint = fmt::format("environment variable PLAIT_LOG is '{}', expected 'summary', 'choices', both "
                                       "with a comma between them, or nothing",
                                       text)};
    }
  }
  return setting;
}

LogSetting log_setting() {
  const char* const text = std::getenv("PLAIT_LOG");
  return text == nullptr ? LogSetting() : parse_log_setting(text);
}

}  // namespace plait
