#include "support/descendants.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <system_error>

namespace plait::test {
namespace {

namespace fs = std::filesystem;

std::vector<pid_t> numbers_in(const fs::path& folder) {
  std::vector<pid_t> numbers;
  std::error_code gone;
  for (fs::directory_iterator at(folder, gone), end; !gone && at != end; at.increment(gone)) {
    const std::string name = at->path().filename();
    pid_t number = 0;
    const char* end_of_name = name.data() + name.size();
    if (std::from_chars(name.data(), end_of_name, number).ptr == end_of_name) numbers.push_back(number);
  }
  return numbers;
}

fs::path folder_of(pid_t process) { return fs::path("/proc") / std::to_string(process); }

}  // namespace

std::vector<pid_t> descendants() {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t process : numbers_in("/proc")) {
    const std::string stat = told_of(process, "stat");
    const auto end_of_name = stat.rfind(") ");  // names may have blanks and parentheses
    pid_t parent = 0;
    if (end_of_name != std::string::npos && std::sscanf(stat.c_str() + end_of_name, ") %*c %d", &parent) == 1) {
      children.emplace(parent, process);
    }
  }
  std::vector<pid_t> found{getpid()};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    std::transform(begin, end, std::back_inserter(found), [](const auto& child) { return child.second; });
  }
  found.erase(found.begin());
  return found;
}

std::vector<pid_t> threads_of(pid_t process) { return numbers_in(folder_of(process) / "task"); }

std::string told_of(pid_t process, const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(folder_of(process) / file).rdbuf();  // what can't be read of one that has ended is nothing
  return text.str();
}

std::string description(pid_t process) {
  constexpr std::size_t longest = 200;
  std::string words = told_of(process, "cmdline");
  std::replace(words.begin(), words.end(), '\0', ' ');
  const std::string waits_in = told_of(process, "wchan");
  const std::string state = waits_in.size() < 2 ? "running" : "waiting in " + waits_in;
  return std::to_string(process) + ", " + state + ": " + words.substr(0, longest);
}

std::vector<fs::path> shared_memory_of(pid_t process) {
  std::vector<fs::path> found;
  std::istringstream maps(told_of(process, "maps"));
  for (std::string line; std::getline(maps, line);) {
    const auto path = line.find("/dev/shm/");
    if (path != std::string::npos) found.emplace_back(line.substr(path));
  }
  return found;
}

}  // namespace plait::test
