#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "plait/base/dtype.hpp"
#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/alike.hpp"
#include "plait/redistribute/element_operation.hpp"
#include "plait/redistribute/exchange/transform.hpp"
#include "plait/redistribute/tile.hpp"

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

  [[nodiscard]] TileList memory() const {
    TileList result;
    for (const auto& tile : constant_) result.add(memory_of(tile));
    for (const auto& tile : mutable_) result.add(memory_of(tile));
    return result;
  }

 private:
  std::span<const matrix_view<const T>> constant_;
  std::span<const matrix_view<T>> mutable_;
};

/// Whose tiles they are, of a matrix that knows.
struct MatrixPart {
  layout::Layout layout;
  int rank = 0;
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
      : Operands(Typed<T>(), source.memory(), memory_of_all(target), alpha != T{0}) {
    set_scalars(alpha, beta);
  }

  /// The same of a type that is known at run time only.
  /// \param alpha, beta  the bytes of one element each; null: 1 and 0
  Operands(DType dtype, const void* alpha, TileList source, const void* beta, TileList target);

  template <class T>
  Operands(std::type_identity_t<T> alpha, const layout::DistributedMatrix<T>& source, std::type_identity_t<T> beta,
           layout::DistributedMatrix<T>& target)
      : Operands(alpha, source.const_tiles(), beta, target.tiles()) {
    name_parts(source, target);
  }

  /// `operation` instead; for an op that does not conjugate.
  template <class T>
  Operands(const std::type_identity_t<ElementOperation<T>>& operation, std::type_identity_t<SourceTiles<T>> source,
           std::span<const matrix_view<T>> target)
      : Operands(Typed<T>(), source.memory(), memory_of_all(target), true) {
    if (!operation) throw ArgumentError("operation: is empty, expected a function");
    operation_ = Transform::call(operation);
  }

  template <class T>
  Operands(const std::type_identity_t<ElementOperation<T>>& operation, const layout::DistributedMatrix<T>& source,
           layout::DistributedMatrix<T>& target)
      : Operands(operation, source.const_tiles(), target.tiles()) {
    name_parts(source, target);
  }

  /// Adds what all ranks have to give alike: the element type, and alpha and beta or that there is an operation.
  /// \param pair  its number where there are several, else -1
  void name_arguments(Index pair, mpi::Alike& arguments) const {
    arguments.add("element type", type_, pair);
    if (name_scalars_ != nullptr) name_scalars_(alpha_, beta_, pair, arguments);
  }
  [[nodiscard]] Index element_bytes() const noexcept { return element_bytes_; }
  [[nodiscard]] bool reads_source() const noexcept { return reads_source_; }
  [[nodiscard]] bool is_operation() const noexcept { return operation_.has_value(); }
  [[nodiscard]] std::span<const TileMemory> source() const noexcept { return source_.all(); }
  [[nodiscard]] std::span<const TileMemory> target() const noexcept { return target_.all(); }
  /// Of matrices that know: the rank has to be the context's, the layout the plan's but for the storage order.
  [[nodiscard]] const std::optional<MatrixPart>& source_part() const noexcept { return source_part_; }
  [[nodiscard]] const std::optional<MatrixPart>& target_part() const noexcept { return target_part_; }
  [[nodiscard]] Transform transform(bool conjugate, simd::Stores stores) const {
    return operation_ ? *operation_ : make_(alpha_, conjugate, beta_, stores);
  }

 private:
  using Scalar = std::array<std::byte, 16>;  // of whatever type
  using NameScalars = void (*)(const Scalar& alpha, const Scalar& beta, Index pair, mpi::Alike& arguments);
  using Make = Transform (*)(const Scalar& alpha, bool conjugate, const Scalar& beta, simd::Stores stores);

  template <class T>
  struct Typed {};
  template <class T>
  Operands(Typed<T> /*type*/, TileList source, TileList target, bool reads_source)
      : element_bytes_(sizeof(T)),
        type_(mpi::type_name<T>()),
        reads_source_(reads_source),
        make_(make<T>),
        source_(std::move(source)),
        target_(std::move(target)) {}

  template <class T>
  static TileList memory_of_all(std::span<const matrix_view<T>> tiles) {
    TileList result;
    for (const auto& tile : tiles) result.add(memory_of(tile));
    return result;
  }

  template <class T>
  void set_scalars(T alpha, T beta) {
    static_assert(sizeof(T) <= sizeof(Scalar));
    std::memcpy(alpha_.data(), &alpha, sizeof(T));
    std::memcpy(beta_.data(), &beta, sizeof(T));
    name_scalars_ = [](const Scalar& of_source, const Scalar& of_target, Index pair, mpi::Alike& arguments) {
      arguments.add("alpha", value<T>(of_source), pair);
      arguments.add("beta", value<T>(of_target), pair);
    };
  }

  template <class T>
  static Transform make(const Scalar& alpha, bool conjugate, const Scalar& beta, simd::Stores stores) {
    return Transform::make(value<T>(alpha), conjugate, value<T>(beta), stores);
  }

  template <class T>
  static T value(const Scalar& bytes) {
    T result;
    std::memcpy(&result, bytes.data(), sizeof(T));
    return result;
  }

  template <class T>
  void name_parts(const layout::DistributedMatrix<T>& source, const layout::DistributedMatrix<T>& target) {
    source_part_ = {source.layout(), source.rank()};
    target_part_ = {target.layout(), target.rank()};
  }

  Index element_bytes_;
  std::string_view type_;
  bool reads_source_;
  Make make_;
  NameScalars name_scalars_ = nullptr;
  Scalar alpha_{}, beta_{};
  std::optional<Transform> operation_;
  TileList source_, target_;
  std::optional<MatrixPart> source_part_, target_part_;
};

}  // namespace plait::redistribute
