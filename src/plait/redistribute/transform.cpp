#include "plait/redistribute/transform.hpp"

#include <complex>
#include <cstdint>
#include <cstring>

#include "plait/simd/copy.hpp"
#include "plait/simd/scale.hpp"
#include "plait/simd/transpose.hpp"

namespace plait::redistribute {

namespace {

// Shorter runs begin and end within cache lines too often, and each streamed one waits for its stores.
constexpr Index least_streamed = 2048;

}  // namespace

struct Transform::Copied {
  static void run(const Transform& t, Index count, const std::byte* source, std::byte* target) {
    const Index bytes = count * t.element_bytes_;
    if (t.stores_ == simd::Stores::streaming && bytes >= least_streamed) {
      simd::stream_copy(target, source, bytes, t.isa_, t.stores_);
    } else {
      std::memcpy(target, source, static_cast<std::size_t>(bytes));
    }
  }
  static void transposed(const Transform& t, Index rows, Index columns, const std::byte* source, Index source_ld,
                         std::byte* target, Index target_ld) {
    simd::transpose(rows, columns, source, source_ld, target, target_ld, t.element_bytes_, t.isa_, t.stores_);
  }
};

template <class T>
struct Transform::Typed {
  static T value(const std::array<std::byte, 16>& bytes) {
    T result;
    std::memcpy(&result, bytes.data(), sizeof(T));
    return result;
  }
  static void run(const Transform& t, Index count, const std::byte* source, std::byte* target) {
    simd::scale_add<T>(count, value(t.alpha_), reinterpret_cast<const T*>(source), t.conjugate_, value(t.beta_),
                       reinterpret_cast<T*>(target), t.isa_);
  }
  static void transposed(const Transform& t, Index rows, Index columns, const std::byte* source, Index source_ld,
                         std::byte* target, Index target_ld) {
    simd::transpose_scale_add<T>(rows, columns, value(t.alpha_), reinterpret_cast<const T*>(source), source_ld,
                                 t.conjugate_, value(t.beta_), reinterpret_cast<T*>(target), target_ld, t.isa_);
  }
};

Transform Transform::copy(Index element_bytes, simd::Stores stores) {
  Transform transform;
  transform.stores_ = stores;
  transform.isa_ = simd::selected_isa();
  transform.element_bytes_ = element_bytes;
  transform.run_ = Copied::run;
  transform.transposed_ = Copied::transposed;
  return transform;
}

template <class T>
Transform Transform::make(T alpha, bool conjugate, T beta, simd::Stores stores) {
  constexpr bool is_complex = requires(T z) { z.imag(); };
  if (alpha == T{1} && beta == T{0} && !(conjugate && is_complex)) return copy(Index{sizeof(T)}, stores);
  Transform transform = copy(Index{sizeof(T)}, stores);
  transform.run_ = Typed<T>::run;
  transform.transposed_ = Typed<T>::transposed;
  transform.conjugate_ = conjugate && is_complex;
  std::memcpy(transform.alpha_.data(), &alpha, sizeof(T));
  std::memcpy(transform.beta_.data(), &beta, sizeof(T));
  return transform;
}

template Transform Transform::make(std::int8_t, bool, std::int8_t, simd::Stores);
template Transform Transform::make(std::int16_t, bool, std::int16_t, simd::Stores);
template Transform Transform::make(std::int32_t, bool, std::int32_t, simd::Stores);
template Transform Transform::make(std::int64_t, bool, std::int64_t, simd::Stores);
template Transform Transform::make(std::uint8_t, bool, std::uint8_t, simd::Stores);
template Transform Transform::make(std::uint16_t, bool, std::uint16_t, simd::Stores);
template Transform Transform::make(std::uint32_t, bool, std::uint32_t, simd::Stores);
template Transform Transform::make(std::uint64_t, bool, std::uint64_t, simd::Stores);
template Transform Transform::make(float, bool, float, simd::Stores);
template Transform Transform::make(double, bool, double, simd::Stores);
template Transform Transform::make(std::complex<float>, bool, std::complex<float>, simd::Stores);
template Transform Transform::make(std::complex<double>, bool, std::complex<double>, simd::Stores);

}  // namespace plait::redistribute
