#include "support/job_clock.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "support/descendants.hpp"

namespace plait::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using Steady = std::chrono::steady_clock;

constexpr const char* variable = "PLAIT_TEST_CLOCK";
constexpr nanoseconds first_interval = 250ms;
constexpr nanoseconds longest_interval = 2s;

/// What the file has that the variable names.
struct Record {
  std::uint64_t mark;  // in another PID namespace the name may be that of another file
  std::int64_t nanoseconds;
};
constexpr std::uint64_t expected_mark = 0x706c6169742d636cU;

}  // namespace

JobClock::JobClock()
    : file_(memfd_create("plait-test-clock", MFD_CLOEXEC)), interval_(first_interval), last_(Steady::now()) {
  publish();
  const std::string name = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_);
  setenv(variable, name.c_str(), 1);
}

nanoseconds JobClock::until_next_look() const { return std::max<nanoseconds>(last_ + interval_ - Steady::now(), 0ns); }

void JobClock::look_at(const std::vector<pid_t>& processes) {
  const auto now = Steady::now();
  const Times job = since_last(processes);
  // A look that comes later than that is none of the job's doing.
  const nanoseconds passed = std::min<nanoseconds>(now - last_, 2 * interval_);
  // Processes wait for cores one after the other, as they do for each other's messages, or together.
  const double wanted = static_cast<double>((job.computed + job.waited).count());
  const double share = job.waited > 0ns ? static_cast<double>(job.computed.count()) / wanted : 1;
  const nanoseconds together(static_cast<std::int64_t>(share * static_cast<double>(passed.count())));
  time_ += std::max(passed - job.waited, together);
  last_ = now;
  interval_ = std::min(interval_ * 5 / 4, longest_interval);
  publish();
}

JobClock::Times JobClock::since_last(const std::vector<pid_t>& processes) {
  Times sum;
  std::map<pid_t, Times> threads;
  for (const pid_t process : processes) {
    for (const pid_t thread : threads_of(process)) {
      std::int64_t computed = 0;
      std::int64_t waited = 0;
      const std::string text = told_of(process, "task/" + std::to_string(thread) + "/schedstat");
      if (std::sscanf(text.c_str(), "%ld %ld", &computed, &waited) != 2) continue;  // it has ended, or all is unknown
      const Times before = threads_[thread];
      const Times now{nanoseconds(computed), nanoseconds(waited)};
      sum.computed += now.computed - before.computed;
      sum.waited += now.waited - before.waited;
      threads[thread] = now;
    }
  }
  threads_ = std::move(threads);
  return sum;
}

void JobClock::publish() const {
  const Record record{expected_mark, time_.count()};
  if (pwrite(file_, &record, sizeof record, 0) != sizeof record) {
    throw std::system_error(errno, std::generic_category(), "the clock of the job");
  }
}

nanoseconds job_time() {
  static const int file = [] {
    const char* name = std::getenv(variable);
    return name == nullptr ? -1 : open(name, O_RDONLY | O_CLOEXEC);
  }();
  Record record{};
  if (file >= 0 && pread(file, &record, sizeof record, 0) == sizeof record && record.mark == expected_mark) {
    return nanoseconds(record.nanoseconds);
  }
  return Steady::now().time_since_epoch();
}

}  // namespace plait::test
