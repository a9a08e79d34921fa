#include "bench/multiply/symm_transfers.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "plait/dense/symm/pairing.hpp"

namespace plait::test {
namespace {

using bench::SymmTransfer;
namespace symm = dense::symm;

Index total_bytes(const std::vector<SymmTransfer>& transfers) {
  Index sum = 0;
  for (const SymmTransfer& transfer : transfers) sum += transfer.traffic.bytes;
  return sum;
}

// Blocks of 8 x 8, of elements of one byte.
symm::Grid mesh_of(int edge, int layers) { return {Index{8} * edge, edge, layers}; }
constexpr Index block = 64;

TEST(SymmTransfers, of_algorithm_4_are_five_collectives_of_blocks_and_two_ways_home) {
  for (const Index p : {1, 2, 3, 4, 5, 8}) {
    const symm::Grid mesh = mesh_of(static_cast<int>(p), static_cast<int>(p));
    for (const symm::Options& options :
         {symm::Options{.algorithm = symm::Algorithm::baseline},
          symm::Options{.algorithm = symm::Algorithm::overlapped},
          symm::Options{.algorithm = symm::Algorithm::overlapped, .backend = symm::Backend::mpi, .strands = 3}}) {
      const Index collective = p * p * (p - 1) * block;
      EXPECT_EQ(total_bytes(bench::symm_transfers_of_square(mesh, options, 1)), 3 * collective + (p * p - 1) * block);
      EXPECT_EQ(total_bytes(bench::symm_transfers_of_square_cube(mesh, options, 1)),
                5 * collective + (p * p - 1) * block + (p * p - p) * block);
    }
  }
}

TEST(SymmTransfers, of_algorithm_3_transpose_blocks_besides) {
  for (const Index p : {1, 2, 3, 5}) {
    const symm::Grid mesh = mesh_of(static_cast<int>(p), static_cast<int>(p));
    EXPECT_EQ(total_bytes(bench::symm_transfers_of_square_cube(mesh, {.algorithm = symm::Algorithm::original}, 1)),
              (5 * p * p * (p - 1) + 3 * (p * p - p)) * block);
  }
}

TEST(SymmTransfers, of_algorithm_6_are_those_of_cannon_in_each_layer) {
  for (const auto& [q, c] : {std::pair<Index, Index>{1, 1}, {4, 1}, {4, 2}, {4, 4}, {6, 3}}) {
    const symm::Grid mesh = mesh_of(static_cast<int>(q), static_cast<int>(c));
    // Getting into place: all but one of q rows (columns) move in each layer; then both operands by one q/c - 1 times.
    const Index product = c * (2 * q * (q - 1) + 2 * q * q * (q / c - 1));
    const Index allreduce = 2 * q * q * (c - 1);
    EXPECT_EQ(total_bytes(bench::symm_transfers_of_square_cube(mesh, {.algorithm = symm::Algorithm::cannon}, 1)),
              (2 * q * q * (c - 1) + allreduce + 2 * product) * block)
        << q << " " << c;
  }
}

TEST(SymmTransfers, of_the_mirrored_algorithm_are_of_whole_blocks_once_and_of_halves_then) {
  for (const Index p : {1, 2, 3, 4, 5, 8}) {
    const symm::Grid mesh = mesh_of(static_cast<int>(p), static_cast<int>(p));
    const symm::Options options{.algorithm = symm::Algorithm::mirrored};
    // Panels of 4 columns: 32 + 16 elements of a triangle.
    const Index triangle = 48, half = block / 2;
    const Index rows = p * p * (p - 1) * block;
    const Index columns = p * p * (p - 1) * half;
    const Index sums = p * (p - 1) * (p - 1) * half + p * (p - 1) * triangle + 2 * p * (p - 1) * half;
    EXPECT_EQ(total_bytes(bench::symm_transfers_of_square(mesh, options, 1)), rows + columns + sums);
    EXPECT_EQ(total_bytes(bench::symm_transfers_of_square_cube(mesh, options, 1)), rows + 2 * (columns + sums));
  }
}

TEST(SymmTransfers, of_the_mirrored_algorithm_load_no_rank_with_more_than_four_blocks) {
  for (const int p : {2, 3, 4, 5, 7}) {
    const symm::Grid mesh(Index{400} * p, p, p);
    const auto transfers = bench::symm_transfers_of_square_cube(mesh, {.algorithm = symm::Algorithm::mirrored}, 1);
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
      const Exchanged own = bench::traffic_of(rank, transfers);
      EXPECT_LE(std::max(own.sent.bytes, own.received.bytes), Index{400} * 400 * 4) << p << " " << rank;
    }
  }
}

TEST(SymmPairings, let_one_of_two_lead_and_number_every_rank_once) {
  for (const int p : {1, 2, 3, 4, 7}) {
    const symm::Grid mesh(10, p, p);
    const symm::Pairing pairing(mesh);
    std::set<int> ranks;
    for (int i = 0; i < p; ++i) {
      for (int k = 0; k < p; ++k) {
        EXPECT_EQ(pairing.leads(i, k) ? 1 : 0, (i == k ? 0 : 1) - (pairing.leads(k, i) ? 1 : 0));
        for (int j = 0; j < p; ++j) {
          ranks.insert(pairing.rank(i, j, k));
          EXPECT_EQ(pairing.place(pairing.rank(i, j, k)), (layout::GridPlace{i, j, k}));
        }
      }
      EXPECT_EQ(pairing.rank(i, p - 1, i), mesh.rank(p - 1, i, 0));  // the home of block (p - 1, i)
    }
    EXPECT_EQ(static_cast<int>(ranks.size()), p * p * p);
    EXPECT_EQ(*ranks.rbegin(), p * p * p - 1);
  }
}

}  // namespace
}  // namespace plait::test
