#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <vector>

namespace plait::test {

/// The time in which a job did not wait for cores. It goes as fast as a clock on the wall where the job computes on as
/// many cores as it wants, and where it waits for itself, as it does when it hangs. It is slower where others want the
/// cores, too, and where there are more ranks than cores.
///
/// The job's processes find it by a variable of the environment: see `job_time`.
class JobClock {
 public:
  JobClock();
  JobClock(const JobClock&) = delete;
  JobClock& operator=(const JobClock&) = delete;

  [[nodiscard]] std::chrono::nanoseconds time() const noexcept { return time_; }

  /// When `look_at` is to be called again, with the processes of the job, for the time to go on.
  [[nodiscard]] std::chrono::nanoseconds until_next_look() const;
  void look_at(const std::vector<pid_t>& processes);

 private:
  struct Times {
    std::chrono::nanoseconds computed{};
    std::chrono::nanoseconds waited{};  // for a core
  };
  /// Of all threads together.
  [[nodiscard]] Times since_last(const std::vector<pid_t>& processes);
  void publish() const;

  int file_;
  std::map<pid_t, Times> threads_;
  std::chrono::nanoseconds time_{};
  std::chrono::nanoseconds interval_;
  std::chrono::steady_clock::time_point last_;
};

/// The time of the job that this process is part of; that of the system's steady clock where it is part of none.
[[nodiscard]] std::chrono::nanoseconds job_time();

}  // namespace plait::test
