#include "bench/kmeans/scikit_learn.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "plait/io/npy/npy.hpp"

namespace plait::bench {

std::unique_ptr<ScikitLearn> ScikitLearn::start(matrix_view<const double> points, matrix_view<const double> centres) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / fmt::format("bench_kmeans-{}", ::getpid());
  fs::create_directories(folder);
  std::string of_points = folder / "points.npy";
  std::string of_centres = folder / "centres.npy";
  io::write_npy_local(of_points, points);
  io::write_npy_local(of_centres, centres);

  std::array<int, 2> to{};
  std::array<int, 2> from{};
  if (::pipe(to.data()) != 0 || ::pipe(from.data()) != 0) throw std::runtime_error("no pipe for scikit-learn");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  for (const int end : {to[0], to[1], from[0], from[1]}) posix_spawn_file_actions_addclose(&actions, end);
  std::string python = "/usr/bin/python3";
  std::string script = PLAIT_SCIKIT_LEARN;
  std::array<char*, 5> words{python.data(), script.data(), of_points.data(), of_centres.data(), nullptr};
  pid_t process = 0;
  const bool is_started = ::posix_spawn(&process, python.c_str(), &actions, nullptr, words.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  ::close(to[0]);
  ::close(from[1]);
  std::unique_ptr<ScikitLearn> peer(
      new ScikitLearn(is_started ? process : 0, ::fdopen(to[1], "w"), ::fdopen(from[0], "r")));
  const bool is_there = is_started && peer->is_told();
  fs::remove_all(folder);
  if (!is_there) peer.reset();
  return peer;
}

ScikitLearn::~ScikitLearn() {
  std::fclose(to_);
  std::fclose(from_);
  if (process_ != 0) ::waitpid(process_, nullptr, 0);
}

bool ScikitLearn::is_told() const {
  std::array<char, 16> line{};
  return std::fgets(line.data(), static_cast<int>(line.size()), from_) != nullptr;
}

void ScikitLearn::iterate(int iterations) {
  std::fputs(fmt::format("{}\n", iterations).c_str(), to_);
  std::fflush(to_);
  if (!is_told()) throw std::runtime_error("scikit-learn ended");
}

}  // namespace plait::bench
