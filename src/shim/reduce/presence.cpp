#include "shim/reduce/presence.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "shim/summary.hpp"

namespace plait::shim::reduce {

namespace {

// The process that the launcher has on each node made the socket by which it speaks to a rank of MPICH.
std::string job_of_mpich() {
  const std::string descriptor(environment("PMI_FD"));
  ucred maker{};
  socklen_t length = sizeof maker;
  if (descriptor.empty() || getsockopt(std::atoi(descriptor.c_str()), SOL_SOCKET, SO_PEERCRED, &maker, &length) != 0) {
    return "";
  }
  return fmt::format("hydra.{}", maker.pid);
}

/// What all processes of this job have in common on a node, and no other job has; empty where nothing tells.
std::string job() {
  if (const auto name = environment("PMIX_NAMESPACE"); !name.empty()) return std::string(name);
  if (std::string name = job_of_mpich(); !name.empty()) return name;
  const auto slurm = environment("SLURM_JOB_ID");
  return slurm.empty() ? "" : fmt::format("slurm.{}.{}", slurm, environment("SLURM_STEP_ID"));
}

constexpr std::string_view has_library = "plait-reduce";
constexpr std::string_view has_wish = "plait-reduce.reproducible";

// A name of sockets that is in no file system, and so is gone with its process however that ends.
bool name_socket(std::string_view what, int world_rank, sockaddr_un& address, socklen_t& length) {
  // Never destroyed: a program may reduce in what it runs at its end.
  static const std::string& of_job = *new std::string(job());  // NOLINT(cppcoreguidelines-owning-memory)
  if (of_job.empty()) return false;
  const std::string name = fmt::format("{}.{}.{}.{}", what, getuid(), of_job, world_rank);
  if (name.size() + 1 > sizeof address.sun_path) return false;
  address = {};
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path + 1);  // after a zero, by which the system knows such names
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return true;
}

/// A socket with this name, or -1. It stays open as long as the process lives.
int announce(std::string_view what, int world_rank) noexcept {
  try {
    sockaddr_un address{};
    socklen_t length = 0;
    if (!name_socket(what, world_rank, address, length)) return -1;
    const int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (made >= 0 && bind(made, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
      close(made);
      return -1;
    }
    return made;
  } catch (const std::exception&) {
    return -1;
  }
}

/// Looks for the sockets of others. It is there before this process announces itself: one that could not look any more,
/// as it has no descriptors left, would decide otherwise than the others do.
int looking_socket() noexcept {
  static const int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return made;
}

bool has_announced(std::string_view what, int world_rank) noexcept {
  try {
    sockaddr_un address{};
    socklen_t length = 0;
    if (!name_socket(what, world_rank, address, length)) return false;
    return connect(looking_socket(), reinterpret_cast<const sockaddr*>(&address), length) == 0;
  } catch (const std::exception&) {
    return false;
  }
}

bool have_announced(std::string_view what, const std::vector<int>& world_ranks) noexcept {
  return std::ranges::all_of(world_ranks, [what](int rank) { return has_announced(what, rank); });
}

}  // namespace

void announce_presence(int world_rank, bool wants_reproducible) noexcept {
  if (looking_socket() < 0) return;
  // The wish first, so that whoever finds the process knows it.
  if (wants_reproducible && announce(has_wish, world_rank) < 0) return;
  static_cast<void>(announce(has_library, world_rank));
}

bool are_present(const std::vector<int>& world_ranks) noexcept { return have_announced(has_library, world_ranks); }

bool want_reproducible(const std::vector<int>& world_ranks) noexcept { return have_announced(has_wish, world_ranks); }

bool wants_reproducible(int world_rank) noexcept { return has_announced(has_wish, world_rank); }

bool is_job_on_one_node() noexcept {
  const auto is_same = [](const char* here, const char* everywhere) {
    return !environment(here).empty() && environment(here) == environment(everywhere);
  };
  return is_same("OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE") || is_same("MPI_LOCALNRANKS", "PMI_SIZE");
}

std::vector<int> world_ranks_of(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  int size = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> translated(ranks.size(), -1);
  MPI_Group_translate_ranks(group, size, ranks.data(), world, translated.data());
  std::ranges::replace(translated, MPI_UNDEFINED, -1);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return translated;
}

}  // namespace plait::shim::reduce
