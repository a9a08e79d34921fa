#pragma once

#include <string>
#include <string_view>

namespace plait {

/// What `PLAIT_LOG` in the environment asks for: words with commas between them. The library itself prints nothing;
/// the command, and the libraries that serve unmodified programs, do.
struct LogSetting {
  bool summary = false;   // "summary": at its end, rank 0 tells on stderr what was served
  bool choices = false;   // "choices": rank 0 tells on stderr how operations are carried out, and why
  std::string complaint;  // what is wrong with the variable, which then asks for nothing; or else empty
};

[[nodiscard]] LogSetting parse_log_setting(std::string_view text);

/// That of this process.
[[nodiscard]] LogSetting log_setting();

}  // namespace plait
