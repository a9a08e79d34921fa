#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>

/// The algorithms that there are for each collective operation, and their names.
namespace plait::model {

/// Down a chain of ranks segment by segment; down a binomial tree; scattered down a binomial tree, then all-gathered by
/// a ring, or by recursive doubling, which is for very many ranks.
enum class BroadcastAlgorithm : unsigned char { chain, binomial, scatter_all_gather, scatter_doubling };
/// Up a chain of ranks segment by segment; up a binomial tree; reduce-scatter by recursive halving, then gathered.
enum class ReduceAlgorithm : unsigned char { chain, binomial, halving_gather };
/// Ring reduce-scatter and ring all-gather; recursive doubling of the whole vector; Rabenseifner's recursive halving,
/// then doubling; reduced within the nodes, a ring over their leaders, broadcast within the nodes.
enum class AllreduceAlgorithm : unsigned char { ring, recursive_doubling, rabenseifner, hierarchical };
enum class AllGatherAlgorithm : unsigned char { ring, recursive_doubling };
enum class ReduceScatterAlgorithm : unsigned char { ring, recursive_halving };
/// One exchange after the other, with the rank at distance 1, 2, …; all of them under way at once.
enum class AllToAllAlgorithm : unsigned char { pairwise, spread };

/// What the algorithms of an enumeration are for, and their names in the order of its values.
template <class A>
struct AlgorithmNames;

template <>
struct AlgorithmNames<BroadcastAlgorithm> {
  static constexpr std::string_view operation = "broadcast";
  static constexpr std::array<std::string_view, 4> names{"chain", "binomial", "scatter-all-gather", "scatter-doubling"};
};
template <>
struct AlgorithmNames<ReduceAlgorithm> {
  static constexpr std::string_view operation = "reduce";
  static constexpr std::array<std::string_view, 3> names{"chain", "binomial", "halving-gather"};
};
template <>
struct AlgorithmNames<AllreduceAlgorithm> {
  static constexpr std::string_view operation = "allreduce";
  static constexpr std::array<std::string_view, 4> names{"ring", "recursive-doubling", "rabenseifner", "hierarchical"};
};
template <>
struct AlgorithmNames<AllGatherAlgorithm> {
  static constexpr std::string_view operation = "all-gather";
  static constexpr std::array<std::string_view, 2> names{"ring", "recursive-doubling"};
};
template <>
struct AlgorithmNames<ReduceScatterAlgorithm> {
  static constexpr std::string_view operation = "reduce-scatter";
  static constexpr std::array<std::string_view, 2> names{"ring", "recursive-halving"};
};
template <>
struct AlgorithmNames<AllToAllAlgorithm> {
  static constexpr std::string_view operation = "all-to-all";
  static constexpr std::array<std::string_view, 2> names{"pairwise", "spread"};
};

template <class A>
concept Algorithm = requires {
  { AlgorithmNames<A>::operation } -> std::convertible_to<std::string_view>;
};

template <Algorithm A>
inline constexpr std::size_t algorithms = AlgorithmNames<A>::names.size();  // the values are 0 … algorithms<A> - 1

template <Algorithm A>
[[nodiscard]] constexpr std::string_view to_string(A algorithm) noexcept {
  return AlgorithmNames<A>::names[static_cast<std::size_t>(algorithm)];
}

/// The position of a name among others.
/// \throws ArgumentError  naming the text, the operation and all that it could be
[[nodiscard]] std::size_t find_algorithm(std::string_view text, std::string_view operation,
                                         std::span<const std::string_view> names);

/// The algorithm of this name.
/// \throws ArgumentError  naming the text, the operation and all that it could be
template <Algorithm A>
[[nodiscard]] A parse_algorithm(std::string_view text) {
  return static_cast<A>(find_algorithm(text, AlgorithmNames<A>::operation, AlgorithmNames<A>::names));
}

}  // namespace plait::model
