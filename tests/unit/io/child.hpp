#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>

#include <gtest/gtest.h>

#include "unit/io/scratch.hpp"

/// Runs parts of a test in a child process, whose rights and file systems may be changed without harm to the others.
/// GoogleTest's expectations work there as usual.
namespace plait::test {

enum class ChildResult { success, failure, impossible };

/// Runs `f` in a child process after `prepare`, which tells whether it could.
template <class Prepare, class F>
ChildResult in_child(Prepare prepare, F f) {
  std::cout.flush();
  const pid_t child = ::fork();
  if (child == 0) {
    ChildResult result = ChildResult::impossible;
    if (prepare()) {
      f();
      result = ::testing::Test::HasFailure() ? ChildResult::failure : ChildResult::success;
    }
    std::cout.flush();
    ::_exit(static_cast<int>(result));
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return ChildResult::failure;
  return static_cast<ChildResult>(WEXITSTATUS(status));
}

/// Whether the expectations in `f` hold for a user who is not root. Such a one may write into `folder`.
template <class F>
bool succeeds_for_ordinary_user(const ScratchFolder& folder, F f) {
  constexpr uid_t nobody = 65534;
  const auto become_ordinary = [&] {
    return ::chmod(folder.path().c_str(), 0777) == 0 && (::geteuid() != 0 || ::setuid(nobody) == 0);
  };
  return in_child(become_ordinary, f) == ChildResult::success;
}

/// Runs `f` where `folder` is a file system of one mebibyte.
template <class F>
ChildResult on_small_file_system(const ScratchFolder& folder, F f) {
  const auto mount = [&] {
    return (::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
           ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") == 0;
  };
  return in_child(mount, f);
}

}  // namespace plait::test
