#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace plait::test {

/// All that this process has started, what that has started, and so on.
[[nodiscard]] std::vector<pid_t> descendants();

/// The threads of a process; none where it has ended.
[[nodiscard]] std::vector<pid_t> threads_of(pid_t process);

/// A file of /proc about a process; empty where it has ended.
[[nodiscard]] std::string told_of(pid_t process, const std::string& file);

/// What it runs and waits for, for people.
[[nodiscard]] std::string description(pid_t process);

/// The files in /dev/shm that it has mapped.
[[nodiscard]] std::vector<std::filesystem::path> shared_memory_of(pid_t process);

}  // namespace plait::test
