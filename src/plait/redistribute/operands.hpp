#pragma once

#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/redistribute/element_operation.hpp"
#include "plait/redistribute/tile.hpp"
#include "plait/redistribute/transform.hpp"

namespace plait::redistribute {

/// Tiles that are only read, given as views of constant or of mutable elements.
template <class T>
class SourceTiles {
 public:
  SourceTiles(std::span<const matrix_view<const T>> tiles) : constant_(tiles) {}  // NOLINT(google-explicit-constructor)
  SourceTiles(std::span<const matrix_view<T>> tiles) : mutable_(tiles) {}         // NOLINT(google-explicit-constructor)
  SourceTiles(const std::vector<matrix_view<const T>>& tiles)
      : constant_(tiles) {}                                                   // NOLINT(google-explicit-constructor)
  SourceTiles(const std::vector<matrix_view<T>>& tiles) : mutable_(tiles) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] std::vector<TileMemory> memory() const {
    std::vector<TileMemory> result;
    result.reserve(constant_.size() + mutable_.size());
    for (const auto& tile : constant_) result.push_back(memory_of(tile));
    for (const auto& tile : mutable_) result.push_back(memory_of(tile));
    return result;
  }

 private:
  std::span<const matrix_view<const T>> constant_;
  std::span<const matrix_view<T>> mutable_;
};

/// What a rank brings to one pair of matrices of an execution: its tiles of B and A, in the order of
/// `Layout::tiles_of`, and what is to become of A. The element type is forgotten, its size is not.
///
/// T is one of: signed and unsigned integers of 8, 16, 32, 64 bits, float, double, std::complex of both.
class Operands {
 public:
  /// A ← alpha·op(B) + beta·A. Scalars are the same on all ranks. `beta == 0` never reads A; `alpha == 0` never reads
  /// B, whose tiles then may have no memory.
  template <class T>
  Operands(std::type_identity_t<T> alpha, std::type_identity_t<SourceTiles<T>> source, std::type_identity_t<T> beta,
           std::span<const matrix_view<T>> target)
      : Operands(source.memory(), target, alpha != T{0}, [alpha, beta](bool conjugate, simd::Stores stores) {
          return Transform::make(alpha, conjugate, beta, stores);
        }) {}

  template <class T>
  Operands(std::type_identity_t<T> alpha, const layout::DistributedMatrix<T>& source, std::type_identity_t<T> beta,
           layout::DistributedMatrix<T>& target)
      : Operands(alpha, source.const_tiles(), beta, target.tiles()) {
    source_layout_ = source.layout();
    target_layout_ = target.layout();
  }

  /// `operation` instead; for an op that does not conjugate.
  template <class T>
  Operands(std::type_identity_t<ElementOperation<T>> operation, std::type_identity_t<SourceTiles<T>> source,
           std::span<const matrix_view<T>> target)
      : Operands(source.memory(), target, true,
                 [shared = operation](bool, simd::Stores) { return Transform::call(shared); }) {
    if (!operation) throw ArgumentError("operation: is empty, expected a function");
    is_operation_ = true;
  }

  [[nodiscard]] Index element_bytes() const noexcept { return element_bytes_; }
  [[nodiscard]] bool reads_source() const noexcept { return reads_source_; }
  [[nodiscard]] bool is_operation() const noexcept { return is_operation_; }
  [[nodiscard]] std::span<const TileMemory> source() const noexcept { return source_; }
  [[nodiscard]] std::span<const TileMemory> target() const noexcept { return target_; }
  /// Of matrices that know theirs, the layouts; the plan's have to be equal but for the storage order.
  [[nodiscard]] const std::optional<layout::Layout>& source_layout() const noexcept { return source_layout_; }
  [[nodiscard]] const std::optional<layout::Layout>& target_layout() const noexcept { return target_layout_; }
  [[nodiscard]] Transform transform(bool conjugate, simd::Stores stores) const { return make_(conjugate, stores); }

 private:
  using Make = std::function<Transform(bool conjugate, simd::Stores stores)>;

  template <class T>
  Operands(std::vector<TileMemory> source, std::span<const matrix_view<T>> target, bool reads_source, Make make)
      : element_bytes_(sizeof(T)), reads_source_(reads_source), make_(std::move(make)), source_(std::move(source)) {
    target_.reserve(target.size());
    for (const auto& tile : target) target_.push_back(memory_of(tile));
  }

  Index element_bytes_;
  bool reads_source_;
  bool is_operation_ = false;
  Make make_;
  std::vector<TileMemory> source_, target_;
  std::optional<layout::Layout> source_layout_, target_layout_;
};

}  // namespace plait::redistribute
