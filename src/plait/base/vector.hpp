#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "plait/base/contract.hpp"
#include "plait/base/index.hpp"

namespace plait {

/// A std::vector whose places are counted by `Index`, as all that plait counts: `v[i]`, not
/// `v[static_cast<std::size_t>(i)]`. It is a std::vector wherever one is taken.
template <class T>
class Vector : public std::vector<T> {
 public:
  Vector() = default;
  Vector(std::initializer_list<T> elements) : std::vector<T>(elements) {}
  explicit Vector(Index count) : std::vector<T>(static_cast<std::size_t>(count)) {}
  Vector(Index count, const T& value) : std::vector<T>(static_cast<std::size_t>(count), value) {}
  Vector(std::vector<T> elements) noexcept  // NOLINT(google-explicit-constructor): the same elements
      : std::vector<T>(std::move(elements)) {}

  [[nodiscard]] Index count() const noexcept { return static_cast<Index>(this->size()); }
  /// \pre  0 <= i < count()
  [[nodiscard]] T& operator[](Index i) {
    PLAIT_ASSERT(i >= 0 && i < count(), "a place is in the vector");
    return std::vector<T>::operator[](static_cast<std::size_t>(i));
  }
  [[nodiscard]] const T& operator[](Index i) const {
    PLAIT_ASSERT(i >= 0 && i < count(), "a place is in the vector");
    return std::vector<T>::operator[](static_cast<std::size_t>(i));
  }
  void resize(Index count, const T& value = T()) { std::vector<T>::resize(static_cast<std::size_t>(count), value); }
};

}  // namespace plait
