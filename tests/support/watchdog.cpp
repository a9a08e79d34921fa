#include "support/watchdog.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "support/job_clock.hpp"
#include "support/prefixed.hpp"

namespace plait::test {
namespace {

constexpr int exit_status_of_a_hang = 3;
constexpr std::chrono::milliseconds between_looks{100};

struct Describers {
  std::mutex mutex;
  std::list<std::function<std::string()>> list;
};

Describers& describers() {
  static Describers all;
  return all;
}

std::string descriptions() {
  std::string text;
  const std::lock_guard lock(describers().mutex);
  for (const auto& describe : describers().list) {
    try {
      text += describe() + "\n";
    } catch (const std::exception& error) {
      text += std::string("(no description: ") + error.what() + ")\n";
    }
  }
  return text;
}

}  // namespace

Described::Described(std::function<std::string()> describe) {
  const std::lock_guard lock(describers().mutex);
  place_ = describers().list.insert(describers().list.end(), std::move(describe));
}

Described::~Described() {
  const std::lock_guard lock(describers().mutex);
  describers().list.erase(place_);
}

std::chrono::seconds Watchdog::limit_from_environment() {
  constexpr std::chrono::seconds usual{120};
  const char* text = std::getenv("PLAIT_TEST_WATCHDOG_SECONDS");
  if (text == nullptr) return usual;
  const long seconds = std::strtol(text, nullptr, 10);
  return seconds > 0 ? std::chrono::seconds{seconds} : usual;
}

Watchdog::Watchdog(int rank, std::chrono::seconds limit)
    : rank_(rank), limit_(limit), deadline_(job_time() + limit), thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::watch(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  deadline_ = job_time() + limit_;
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!done_) {
    if (job_time() >= deadline_) expire();
    changed_.wait_for(lock, between_looks);
  }
}

void Watchdog::expire() const {
  print_prefixed(rank_,
                 "watchdog: " + what_ + " has run for " + std::to_string(limit_.count()) + " s\n" + descriptions());
  // mpiexec ends all ranks as soon as one has gone: let the others, whose time is up as well, tell what they know.
  for (const auto end = job_time() + std::chrono::milliseconds{500}; job_time() < end;) {
    std::this_thread::sleep_for(between_looks);
  }
  _exit(exit_status_of_a_hang);
}

}  // namespace plait::test
