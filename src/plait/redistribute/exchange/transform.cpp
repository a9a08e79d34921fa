#include "plait/redistribute/exchange/transform.hpp"

#include <cstring>
#include <utility>

#include "plait/base/complex.hpp"
#include "plait/base/dtype.hpp"
#include "plait/simd/transform/scale.hpp"

namespace plait::redistribute {

template <class T>
struct Transform::Typed {
  static T value(const std::array<std::byte, 16>& bytes) {
    T result;
    std::memcpy(&result, bytes.data(), sizeof(T));
    return result;
  }
  static void runs(const Transform& t, std::span<const simd::ElementRun> runs, Index major, const std::byte* source,
                   Index source_ld, std::byte* target, Index target_ld) {
    simd::scale_add_runs<T>(runs, major, value(t.alpha_), reinterpret_cast<const T*>(source), source_ld, t.conjugate_,
                            value(t.beta_), reinterpret_cast<T*>(target), target_ld, t.isa_, t.stores_);
  }
  static void transposed(const Transform& t, std::span<const simd::ElementRun> rows, Index columns,
                         const std::byte* source, Index source_ld, std::byte* target, Index target_ld) {
    simd::transpose_scale_add_runs<T>(rows, columns, value(t.alpha_), reinterpret_cast<const T*>(source), source_ld,
                                      t.conjugate_, value(t.beta_), reinterpret_cast<T*>(target), target_ld, t.isa_,
                                      t.stores_);
  }
};

Transform Transform::copy(Index element_bytes, simd::Stores stores) {
  Transform transform;
  transform.stores_ = stores;
  transform.isa_ = simd::selected_isa();
  transform.element_bytes_ = element_bytes;
  transform.copies_ = true;
  return transform;
}

template <class T>
Transform Transform::make(T alpha, bool conjugate, T beta, simd::Stores stores) {
  if (alpha == T{1} && beta == T{0} && !(conjugate && is_complex<T>)) return copy(Index{sizeof(T)}, stores);
  Transform transform = copy(Index{sizeof(T)}, stores);
  transform.copies_ = false;
  transform.runs_ = Typed<T>::runs;
  transform.transposed_ = Typed<T>::transposed;
  transform.conjugate_ = conjugate && is_complex<T>;
  std::memcpy(transform.alpha_.data(), &alpha, sizeof(T));
  std::memcpy(transform.beta_.data(), &beta, sizeof(T));
  return transform;
}

template <class T>
Transform Transform::call(ElementOperation<T> operation) {
  Transform transform = copy(Index{sizeof(T)});
  transform.copies_ = false;
  transform.rectangle_ = [operation = std::move(operation)](Index rows, Index columns, const Tile& source,
                                                            const Tile& target, Index row, Index column) {
    operation({reinterpret_cast<const T*>(source.data), rows, columns, source.leading_dimension, source.order},
              {reinterpret_cast<T*>(target.data), rows, columns, target.leading_dimension, target.order}, row, column);
  };
  return transform;
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type can not stand in them
#define PLAIT_INSTANTIATE_(T)                                          \
  template Transform Transform::make(T, bool, T, simd::Stores stores); \
  template Transform Transform::call(ElementOperation<T>);
PLAIT_FOR_EACH_DTYPE(PLAIT_INSTANTIATE_)
#undef PLAIT_INSTANTIATE_
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace plait::redistribute
