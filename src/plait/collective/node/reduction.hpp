#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

#include "plait/base/index.hpp"
#include "plait/mpi/communicator.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::collective::node {

/// Who gets the result of a reduction.
enum class Deliver : unsigned char {
  to_all,         ///< all of it, each rank
  to_root,        ///< all of it, one rank
  to_owners,      ///< each rank its slice, at the beginning of its output
  up_to_itself,   ///< each rank that of the operands of the ranks up to itself, as MPI_Scan does
  up_to_the_last  ///< and of those before it, as MPI_Exscan does: nothing for rank 0
};

/// Divides n elements into a slice for each rank, which that rank is to reduce: equal ones, but for the last, each a
/// whole number of cache lines. `begins` gets the first element of each slice and, behind them, n.
void divide_equally(Index n, Index element_bytes, std::span<Index> begins);

/// The slices for a result that only `root` gets. Between two ranks all of it is the root's: what the other one reduced
/// would have to be copied once more.
void divide_for_root(Index n, Index element_bytes, int root, std::span<Index> begins);

/// Slices of these lengths.
void divide_by_counts(std::span<const Index> counts, std::span<Index> begins);

/// The longest slice.
[[nodiscard]] Index longest_slice(std::span<const Index> begins);

/// A part of a slice, the elements [begin, end) of the whole.
struct SlicePart {
  Index begin;
  Index end;
  [[nodiscard]] Index size() const noexcept { return end - begin; }
};

/// The `round`-th piece, of `length` elements or what is left, of the slice of `owner`; empty beyond its end.
[[nodiscard]] SlicePart piece_of(std::span<const Index> begins, int owner, Index round, Index length);

using schedule::Combine;

/// A reduction among the ranks of a node, checked, as the ways to do it take it. All but the two addresses is the same
/// on all ranks.
struct Reduction {
  const Combine* combine;
  const std::byte* in;  ///< n elements
  std::byte* out;       ///< where this rank gets a result; it is `in`, or they do not overlap
  Index n;              ///< at least 1
  Deliver deliver;
  int root;
  std::span<const Index> begins;  ///< the slices, with n behind them

  [[nodiscard]] bool delivers_to(int rank) const noexcept {
    return deliver == Deliver::to_all || (deliver == Deliver::to_root && rank == root);
  }
  [[nodiscard]] bool is_prefix() const noexcept {
    return deliver == Deliver::up_to_itself || deliver == Deliver::up_to_the_last;
  }
  /// Whose operands are in what a rank gets: the first ones.
  [[nodiscard]] int ranks_up_to(int rank) const noexcept { return deliver == Deliver::up_to_itself ? rank + 1 : rank; }
  [[nodiscard]] Index slice_size(int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return begins[at + 1] - begins[at];
  }
};

/// What has to be the same on all ranks of a reduction, in a word that travels beside its data: which reduction it is,
/// of how many elements of what kind, by what operation, to which root. Of callers' own operations and elements, it
/// tells that they are such.
class Arguments {
 public:
  explicit Arguments(const Reduction& reduction) noexcept
      : word_(static_cast<std::uint64_t>(reduction.deliver) |
              static_cast<std::uint64_t>(reduction.combine->name().element) << element_at |
              static_cast<std::uint64_t>(reduction.combine->name().operation) << operation_at |
              (static_cast<std::uint64_t>(reduction.n) << n_at & ~(~std::uint64_t{0} << root_at)) |
              static_cast<std::uint64_t>(reduction.root) << root_at) {}
  /// Of a rank whose arguments are wrong, so that it can't take part.
  [[nodiscard]] static Arguments refused() noexcept { return Arguments(~std::uint64_t{0}); }
  explicit Arguments(std::uint64_t word) noexcept : word_(word) {}

  /// The first bits of what the word consists of; of n and of roots it has as many as fit.
  static constexpr int element_at = 3;
  static constexpr int operation_at = 8;
  static constexpr int n_at = 12;
  static constexpr int root_at = 55;

  [[nodiscard]] std::uint64_t word() const noexcept { return word_; }
  friend bool operator==(Arguments, Arguments) = default;

  /// \throws ArgumentError  naming what differs between this rank's and rank 0's, and both values
  [[noreturn]] void throw_difference(int rank, Arguments of_first) const;

 private:
  std::uint64_t word_;
};

/// Where combining threw on a rank.
[[noreturn]] void throw_failed(int rank);
/// What combining threw on this rank, or PeerFailed where it threw on another. Collective over the node.
void rethrow_anywhere(const mpi::Communicator& node, const std::exception_ptr& failure);

/// out[i] ← operands[0][i] op operands[1][i] op …, from the left, 0 <= i < n, with at least one operand. By blocks, so
/// that what is half done stays in the nearest cache; or all at once, where `combine` sums up so.
///
/// \pre  `out` overlaps none of the operands, or is one of the first two
void fold(const Combine& combine, Index n, std::span<const std::byte* const> operands, std::byte* out);

}  // namespace plait::collective::node
