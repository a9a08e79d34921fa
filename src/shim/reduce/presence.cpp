#include "shim/reduce/presence.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "shim/settings.hpp"

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
// One process alone can have a name: the first one that takes a rank's turn either announces it, being itself, or gives
// up on it.
constexpr std::string_view turn = "plait-reduce.turn";
constexpr std::string_view is_given_up = "plait-reduce.late";

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

int make_socket() noexcept { return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0); }

/// Sockets with names, each open as long as the process lives unless it is closed before. They are made before any of
/// them gets its name, so that those who run out of descriptors do so before others see anything.
class NamedSockets {
 public:
  explicit NamedSockets(std::size_t count) noexcept : count_(count) {
    for (std::size_t i = 0; i < count_; ++i) sockets_[i] = make_socket();
  }
  NamedSockets(const NamedSockets&) = delete;
  NamedSockets& operator=(const NamedSockets&) = delete;
  ~NamedSockets() {
    for (const int made : sockets_) {
      if (made >= 0) close(made);
    }
  }

  [[nodiscard]] bool are_made() const noexcept {
    return std::ranges::all_of(sockets_.begin(), sockets_.begin() + count_, [](int made) { return made >= 0; });
  }

  /// Whether socket `i` has the name now, which no other has then.
  [[nodiscard]] bool name(std::size_t i, std::string_view what, int world_rank) noexcept {
    try {
      sockaddr_un address{};
      socklen_t length = 0;
      return name_socket(what, world_rank, address, length) &&
             bind(sockets_[i], reinterpret_cast<const sockaddr*>(&address), length) == 0;
    } catch (const std::exception&) {
      return false;
    }
  }

  void keep() noexcept { sockets_.fill(-1); }

 private:
  std::array<int, 3> sockets_{-1, -1, -1};
  std::size_t count_;
};

/// Looks for the sockets of others. It is there before this process announces itself: one that could not look any more,
/// as it has no descriptors left, would decide otherwise than the others do.
int looking_socket() noexcept {
  static const int made = make_socket();
  return made;
}

bool has_announced(std::string_view what, int world_rank) noexcept {
  try {
    sockaddr_un address{};
    socklen_t length = 0;
    if (!name_socket(what, world_rank, address, length)) return false;
    const int looking = looking_socket();
    return looking >= 0 && connect(looking, reinterpret_cast<const sockaddr*>(&address), length) == 0;
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
  NamedSockets sockets(wants_reproducible ? 3 : 2);
  if (!sockets.are_made() || !sockets.name(0, turn, world_rank)) return;
  // The wish first, so that whoever finds the process knows it.
  if (wants_reproducible && !sockets.name(2, has_wish, world_rank)) return;
  if (sockets.name(1, has_library, world_rank)) sockets.keep();
}

bool give_up_on(int world_rank) noexcept {
  NamedSockets sockets(2);
  if (!sockets.are_made()) return true;  // without a word to the others, as there is no way to say it
  if (!sockets.name(0, turn, world_rank)) return !has_announced(turn, world_rank);
  if (sockets.name(1, is_given_up, world_rank)) sockets.keep();
  return true;
}

bool is_any_given_up(const std::vector<int>& world_ranks) noexcept {
  return std::ranges::any_of(world_ranks, [](int rank) { return has_announced(is_given_up, rank); });
}

std::optional<int> first_absent(const std::vector<int>& world_ranks) noexcept {
  const auto found = std::ranges::find_if_not(world_ranks, [](int rank) { return has_announced(has_library, rank); });
  return found == world_ranks.end() ? std::nullopt : std::optional(*found);
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
