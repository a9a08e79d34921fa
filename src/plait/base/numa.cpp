#include "plait/base/numa.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace plait {

namespace {

// Of a file of the folder in which Linux tells of the domains.
std::vector<int> listed_in(const std::string& name) {
  std::ifstream file("/sys/devices/system/node/" + name);
  std::string list;
  std::getline(file, list);
  return listed_numbers(list);
}

}  // namespace

std::vector<int> listed_numbers(std::string_view list) {
  std::vector<int> numbers;
  while (!list.empty()) {
    const std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), range.size() + 1));
    const char* const end = range.data() + range.size();
    int first = 0;
    const auto [after_first, error] = std::from_chars(
        range.data(), end, first);  // NOLINT(bugprone-suspicious-stringview-data-usage): it is told the end
    if (error != std::errc{}) continue;
    int last = first;
    if (after_first != end && *after_first == '-') std::from_chars(after_first + 1, end, last);
    for (int number = first; number <= last; ++number) numbers.push_back(number);
  }
  return numbers;
}

int numa_domain() {
  cpu_set_t own;
  CPU_ZERO(&own);
  if (sched_getaffinity(0, sizeof own, &own) != 0) return -1;
  const auto is_own = [&](int core) { return core < CPU_SETSIZE && CPU_ISSET(static_cast<unsigned>(core), &own); };
  for (const int domain : listed_in("online")) {
    const std::vector<int> cores = listed_in("node" + std::to_string(domain) + "/cpulist");
    const auto here = std::ranges::count_if(cores, is_own);
    if (here > 0) return here == CPU_COUNT(&own) ? domain : -1;
  }
  return -1;
}

}  // namespace plait
