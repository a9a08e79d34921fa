#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "plait/base/dtype.hpp"
#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/random.hpp"
#include "plait/layout/layout.hpp"
#include "plait/layout/owners.hpp"
#include "plait/redistribute/op.hpp"
#include "plait/redistribute/tile.hpp"
#include "plait/simd/reduce/element.hpp"

#include "capi/plait.h"

/// What arguments of C may not be, and what they are in C++. All texts name the argument, its value and what was
/// expected.
namespace plait::capi {

/// What an output pointer points to.
///
/// \throws ArgumentError  if it is NULL
template <class T>
T& expect_output(T* output, const char* argument) {
  if (output == nullptr) throw ArgumentError(std::string(argument) + ": is NULL, expected the address of a result");
  return *output;
}

/// What an input pointer points to: `what`, such as "a layout".
///
/// \throws ArgumentError  if it is NULL
template <class T>
const T& expect_input(const T* input, const char* argument, const char* what) {
  if (input == nullptr) throw ArgumentError(std::string(argument) + ": is NULL, expected " + what);
  return *input;
}

/// \throws ArgumentError  if an array is NULL that has entries, or has a negative number of them
template <class T>
auto expect_array(T* array, Index count, const char* argument) {
  if (count < 0) {
    throw ArgumentError(std::string(argument) + ": has " + std::to_string(count) + " entries, expected at least 0");
  }
  if (count > 0 && array == nullptr) {
    throw ArgumentError(std::string(argument) + ": is NULL, expected " + std::to_string(count) + " entries");
  }
  if constexpr (!std::is_void_v<T>) return std::span<T>(array, static_cast<std::size_t>(count));
}

/// \throws Failure  if the value is less than `least`
template <class Failure = ArgumentError>
void expect_at_least(const std::string& argument, Index value, Index least) {
  if (value >= least) return;
  throw Failure(argument + ": is " + std::to_string(value) + ", expected at least " + std::to_string(least));
}

/// \throws Failure  if the value is not in [0, end)
template <class Failure = ArgumentError>
void expect_below(const std::string& argument, Index value, Index end) {
  if (value >= 0 && value < end) return;
  throw Failure(argument + ": is " + std::to_string(value) + ", expected at least 0 and less than " +
                std::to_string(end));
}

/// An enumerator of C's as one of C++, which counts from 0.
///
/// \throws ArgumentError  if it is none of `first` to `last`
template <class Enum>
Enum enumerator(const char* argument, int given, int first, int last) {
  if (given >= first && given <= last) return static_cast<Enum>(given - first);
  throw ArgumentError(std::string(argument) + ": is " + std::to_string(given) + ", expected one of " +
                      std::to_string(first) + " to " + std::to_string(last));
}

/// The bytes of `count` elements.
///
/// \throws ArgumentError  if there are none that are needed, or more than can be addressed
template <class T>
auto expect_elements(T* memory, Index count, Index element_bytes, const char* argument) {
  if (memory == plait_array_with_gaps()) {
    throw ArgumentError(std::string(argument) +
                        ": is an array with gaps, expected one whose elements lie side by side");
  }
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  const Index most = std::numeric_limits<Index>::max() / element_bytes;
  if (count > most) {
    throw ArgumentError(std::string(argument) + ": has " + std::to_string(count) + " elements, expected at most " +
                        std::to_string(most) + " of " + std::to_string(element_bytes) + " bytes");
  }
  expect_array(memory, count, argument);
  return std::span<Byte>(static_cast<Byte*>(memory), static_cast<std::size_t>(count * element_bytes));
}

/// What f returns; if it throws, the text begins with what it was about.
template <class F>
decltype(auto) named(const std::string& what, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const Error& error) {
    throw_error(error.kind(), what + ": " + error.what());
  }
}

/// The same for one of `count` pairs; nothing is put in front where it is the only one.
template <class F>
decltype(auto) named_pair(std::size_t number, Index count, F&& f) {
  if (count == 1) return std::forward<F>(f)();
  return named("pair " + std::to_string(number), std::forward<F>(f));
}

/// The elements of each rank's block.
struct Counts {
  std::span<const Index> of_rank;
  Index total = 0;
  Index checksum = 0;

  Counts() = default;
  /// \throws ArgumentError  if there are none, one is negative, or all together are more than can be addressed
  Counts(const plait_index* given, int ranks, Index element_bytes, const std::string& name)
      : of_rank(expect_array(given, ranks, name.c_str())) {
    const Index most = std::numeric_limits<Index>::max() / element_bytes;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < of_rank.size(); ++i) {
      const std::string entry = name + "[" + std::to_string(i) + "]";
      expect_at_least(entry, of_rank[i], 0);
      if (of_rank[i] > most - total) {
        throw ArgumentError(entry + ": is " + std::to_string(of_rank[i]) + ", expected at most " +
                            std::to_string(most) + " elements in all");
      }
      total += of_rank[i];
      bits = random_bits(bits, static_cast<std::uint64_t>(of_rank[i]));
    }
    checksum = static_cast<Index>(bits >> 1);
  }
};

// The enumerations of C as those of C++. All throw `ArgumentError` for a number that means nothing.

[[nodiscard]] StorageOrder storage_order(plait_order order, const char* argument);
[[nodiscard]] layout::GridOrder grid_order(plait_grid_order order);
[[nodiscard]] redistribute::Op op(plait_op op);
/// All types of elements.
[[nodiscard]] simd::Element element(plait_type type);

[[noreturn]] void throw_other_type(plait_type type, bool (*is_expected)(DType));
/// One of these types: `AllDTypes`, `FieldDTypes` or `RealDTypes`.
template <class Types = AllDTypes>
[[nodiscard]] DType dtype(plait_type type) {
  static_assert(PLAIT_COMPLEX_DOUBLE == static_cast<int>(DType::c128), "both count alike");
  const bool is_one = type >= PLAIT_INT8 && type <= PLAIT_COMPLEX_DOUBLE && Types::has(static_cast<DType>(type));
  if (!is_one) throw_other_type(type, Types::has);
  return static_cast<DType>(type);
}

/// The element that C points to, or what NULL stands for.
template <class T>
T scalar(const void* given, T otherwise) {
  if (given != nullptr) std::memcpy(&otherwise, given, sizeof(T));
  return otherwise;
}

/// \throws ArgumentError  if the columns (rows) of a tile overlap, or its last element has no address
void expect_leading_dimension(Index given, Index minor, Index major, Index element_bytes, const std::string& tile);

/// The given tiles, those of the matrix `which`.
/// \throws ArgumentError, ShapeMismatch  naming the tile
template <class GivenTile>
[[nodiscard]] redistribute::TileList tile_list(const GivenTile* tiles, Index count,
                                               std::span<const layout::TileExtent> planned, const char* which,
                                               Index element_bytes);

}  // namespace plait::capi
