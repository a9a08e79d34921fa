#include "plait/base/restart.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace plait {

namespace {

constexpr const char* names_of_settings = "PLAIT_RESTARTED_WITH";  // this process's number, then the names

}  // namespace

void restart_with(const std::vector<Setting>& settings, char** arguments) {
  if (const char* const set = std::getenv(names_of_settings)) {
    std::istringstream words(set);
    unsetenv(names_of_settings);
    pid_t process = 0;
    if (words >> process && process == getpid()) {  // not what somebody else has set
      for (std::string name; words >> name;) unsetenv(name.c_str());
      return;
    }
  }
  std::error_code failure;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failure);
  const bool is_loader = program.filename().string().starts_with("ld-");  // which was told to start this
  if (failure || is_loader || settings.empty()) return;
  std::string set = std::to_string(getpid());  // the same after the start
  for (const auto& [name, value] : settings) {
    setenv(name.c_str(), value.c_str(), 1);
    set += ' ' + name;
  }
  setenv(names_of_settings, set.c_str(), 1);
  execv(program.c_str(), arguments);
  for (const auto& [name, value] : settings) unsetenv(name.c_str());
  unsetenv(names_of_settings);
}

}  // namespace plait
