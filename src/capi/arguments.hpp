#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"

#include "capi/plait.h"

/// What arguments of C may not be. All texts name the argument, its value and what was expected.
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

}  // namespace plait::capi
