#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>

#include "plait/base/index.hpp"
#include "plait/redistribute/element_operation.hpp"
#include "plait/redistribute/tile.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/stores.hpp"
#include "plait/simd/transform/element_run.hpp"

namespace plait::redistribute {

/// target ← alpha·op(source) + beta·target on elements whose type only this object knows; op may conjugate.
/// Where alpha is 1, beta 0 and nothing is conjugated, elements are copied by their size. Or, whatever a user does.
class Transform {
 public:
  /// \param T       one of the element types of `Redistribution`
  /// \param stores  how transpositions write, which see little of the target at a time
  template <class T>
  static Transform make(T alpha, bool conjugate, T beta, simd::Stores stores);

  /// A user's operation instead, which `rectangle` calls.
  template <class T>
  static Transform call(ElementOperation<T> operation);

  /// A copy of elements of 1, 2, 4, 8 or 16 bytes.
  static Transform copy(Index element_bytes, simd::Stores stores = simd::Stores::cached);

  [[nodiscard]] Index element_bytes() const noexcept { return element_bytes_; }

  /// Whether `rectangle` does it, which needs to know where in A it is; otherwise `runs` and `transposed` do.
  [[nodiscard]] bool needs_place() const noexcept { return rectangle_ != nullptr; }

  /// rows × columns elements, of which the first of the target is A(row, column).
  void rectangle(Index rows, Index columns, const Tile& source, const Tile& target, Index row, Index column) const {
    rectangle_(rows, columns, source, target, row, column);
  }

  /// Whether elements stay as they are, and how they are written then.
  [[nodiscard]] bool copies() const noexcept { return copies_; }
  [[nodiscard]] simd::Stores stores() const noexcept { return stores_; }
  [[nodiscard]] simd::Isa isa() const noexcept { return isa_; }

  /// Neighbours, from one place to another, in each of `major` columns that begin so many elements apart.
  /// \pre  not copies()
  void runs(std::span<const simd::ElementRun> runs, Index major, const std::byte* source, Index source_ld,
            std::byte* target, Index target_ld) const {
    runs_(*this, runs, major, source, source_ld, target, target_ld);
  }
  /// target ← beta·target.
  void scale(Index count, std::byte* target) const {
    const simd::ElementRun all{0, 0, count};
    runs({&all, 1}, 1, nullptr, 0, target, 0);
  }

  /// target(c, r) ← … source(r, c) of runs of r; both column-major, leading dimensions in elements.
  /// \pre  not copies()
  void transposed(std::span<const simd::ElementRun> rows, Index columns, const std::byte* source, Index source_ld,
                  std::byte* target, Index target_ld) const {
    transposed_(*this, rows, columns, source, source_ld, target, target_ld);
  }

 private:
  template <class T>
  struct Typed;

  using Runs = void (*)(const Transform&, std::span<const simd::ElementRun>, Index, const std::byte*, Index, std::byte*,
                        Index);
  using Rectangle = std::function<void(Index, Index, const Tile&, const Tile&, Index, Index)>;

  Index element_bytes_ = 0;
  Runs runs_ = nullptr;
  Runs transposed_ = nullptr;
  Rectangle rectangle_;
  bool copies_ = false;
  bool conjugate_ = false;
  simd::Stores stores_ = simd::Stores::cached;
  simd::Isa isa_ = simd::Isa::scalar;
  alignas(16) std::array<std::byte, 16> alpha_{};
  alignas(16) std::array<std::byte, 16> beta_{};
};

}  // namespace plait::redistribute
