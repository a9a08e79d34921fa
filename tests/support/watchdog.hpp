#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace plait::test {

/// While it lives, the watchdog prints the text of `describe` when a test hangs: what this rank was waiting for.
///
/// `describe` is called on the watchdog's thread while the test's own thread hangs or still runs. It may read what that
/// thread writes, at the price of a torn value in a report that nobody would have otherwise; it must not call MPI nor
/// take a lock that the test may hold. When the destructor returns, it is not running and will not be called.
class Described {
 public:
  explicit Described(std::function<std::string()> describe);
  ~Described();
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;

 private:
  std::list<std::function<std::string()>>::iterator place_;
};

/// Ends a rank that stays for too long in one test, so that a deadlock is a failure with a report and not a job that
/// hangs. The time is that of the job, so that a rank is not taken to hang on a busy machine: see `JobClock`. On expiry
/// it prints which test it was and what the `Described` objects tell, and exits with status 3, upon which mpiexec ends
/// the other ranks.
class Watchdog {
 public:
  /// `PLAIT_TEST_WATCHDOG_SECONDS`, or 120 seconds.
  [[nodiscard]] static std::chrono::seconds limit_from_environment();

  Watchdog(int rank, std::chrono::seconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// From now on the time counts for `what`.
  void watch(std::string what);

 private:
  void run();
  [[noreturn]] void expire() const;

  int rank_;
  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_ = "start-up";
  std::chrono::nanoseconds deadline_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace plait::test
