// cluster_check NODES RANKS_PER_NODE BITS_PER_SECOND: whether MPI sees the cluster that was asked for, and whether
// large messages between its nodes take the time that the rate allows. Exits with 1 if not.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

// Generous: what is found here is a link that isn't shaped, or messages that take another way. The upper bound is above
// 1 since the token bucket lets the beginning of a message pass at once.
constexpr double lowest_share_of_rate = 0.5;
constexpr double highest_share_of_rate = 1.1;
constexpr std::array<int, 2> message_bytes{4'000'000, 16'000'000};
constexpr double seconds_per_size = 0.5;
constexpr int most_round_trips = 10;

struct Expected {
  int nodes;
  int ranks_per_node;
  double bytes_per_second;
};

struct World {
  int rank;
  int size;
};

/// What a rank sees: by these, rank 0 judges the grouping of all.
struct Place {
  std::array<char, 64> host;
  int first_rank_of_node;
  int ranks_of_node;
};

Place place_of(World world) {
  Place place{};
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  std::copy_n(name.begin(), std::min(static_cast<std::size_t>(length), place.host.size() - 1), place.host.begin());

  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world.rank, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &place.ranks_of_node);
  MPI_Allreduce(&world.rank, &place.first_rank_of_node, 1, MPI_INT, MPI_MIN, node);
  MPI_Comm_free(&node);
  return place;
}

bool grouping_is_right(World world, const Expected& expected) {
  const Place mine = place_of(world);
  std::vector<Place> places(static_cast<std::size_t>(world.size));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  bool right = world.size == expected.nodes * expected.ranks_per_node;
  for (int rank = 0; rank < world.size; ++rank) {
    const auto& place = places[static_cast<std::size_t>(rank)];
    const int node = rank / expected.ranks_per_node;
    const bool as_expected = place.first_rank_of_node == node * expected.ranks_per_node &&
                             place.ranks_of_node == expected.ranks_per_node &&
                             place.host.data() == "n" + std::to_string(node);
    if (!as_expected && world.rank == 0) {
      std::printf("rank %d is on %s, one of %d from rank %d on: wrong\n", rank, place.host.data(), place.ranks_of_node,
                  place.first_rank_of_node);
    }
    right = right && as_expected;
  }
  if (world.rank == 0) {
    std::printf("nodes      %d with %d ranks each: %s\n", expected.nodes, expected.ranks_per_node,
                right ? "as asked for" : "not as asked for");
  }
  return right;
}

/// The time of a message between ranks 0 and `partner`: half of the shortest round trip, on rank 0.
double message_seconds(World world, int partner, std::vector<char>& message, int round_trips) {
  const auto bytes = static_cast<int>(message.size());
  double shortest = 1e30;
  for (int trip = -1; trip < round_trips; ++trip) {  // the first one opens connections and isn't counted
    const double start = MPI_Wtime();
    if (world.rank == 0) {
      MPI_Send(message.data(), bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD);
      MPI_Recv(message.data(), bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (world.rank == partner) {
      MPI_Recv(message.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(message.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    if (trip >= 0) shortest = std::min(shortest, MPI_Wtime() - start);
  }
  return shortest / 2;
}

bool rate_is_right(World world, const Expected& expected) {
  bool right = true;
  for (const int bytes : message_bytes) {
    const int partner = (expected.nodes - 1) * expected.ranks_per_node;
    const double round_trip_seconds = 2 * bytes / expected.bytes_per_second;
    const int round_trips = std::clamp(static_cast<int>(seconds_per_size / round_trip_seconds), 1, most_round_trips);
    std::vector<char> message(static_cast<std::size_t>(bytes));
    const double seconds = message_seconds(world, partner, message, round_trips);
    if (world.rank != 0) continue;
    const double share = bytes / seconds / expected.bytes_per_second;
    const bool plausible = lowest_share_of_rate <= share && share <= highest_share_of_rate;
    std::printf("ping-pong  %2d MB at %.1f MB/s, %.0f %% of the rate: %s\n", bytes / 1'000'000, bytes / seconds / 1e6,
                100 * share, plausible ? "plausible" : "implausible");
    right = right && plausible;
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  World world{};
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  if (argc != 4) {
    if (world.rank == 0) std::fprintf(stderr, "usage: cluster_check NODES RANKS_PER_NODE BITS_PER_SECOND\n");
    MPI_Finalize();
    return 2;
  }
  const Expected expected{std::atoi(argv[1]), std::atoi(argv[2]), std::atof(argv[3]) / 8};

  bool right = grouping_is_right(world, expected);
  if (right && expected.nodes > 1) right = rate_is_right(world, expected);
  int verdict = right ? 0 : 1;
  MPI_Bcast(&verdict, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return verdict;
}
