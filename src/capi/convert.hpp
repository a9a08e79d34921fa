#pragma once

#include <complex>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <variant>

#include "plait/base/matrix_view.hpp"
#include "plait/io/dtype.hpp"
#include "plait/layout/owners.hpp"
#include "plait/redistribute/matrix_pair.hpp"
#include "plait/redistribute/op.hpp"
#include "plait/simd/reduce/element.hpp"

#include "capi/plait.h"

/// The enumerations of C as those of C++. All throw `ArgumentError` for a number that means nothing.
namespace plait::capi {

[[noreturn]] void throw_other_type(plait_type type, std::initializer_list<plait_type> expected);

[[nodiscard]] StorageOrder storage_order(plait_order order, const char* argument);
[[nodiscard]] layout::GridOrder grid_order(plait_grid_order order);
[[nodiscard]] redistribute::Op op(plait_op op);

/// The types of matrices; `io::with_dtype` gives their C++ types.
[[nodiscard]] io::DType dtype(plait_type type);
/// Calls f.operator()<T>() for the one of the types Ts that is meant.
template <class... Ts, class F>
void with_type(plait_type type, F&& f) {
  const auto call = [&]<class T>() { f.template operator()<T>(); };
  const bool is_one =
      ((type == static_cast<plait_type>(io::dtype_of<Ts>()) && (call.template operator()<Ts>(), true)) || ...);
  if (!is_one) throw_other_type(type, {static_cast<plait_type>(io::dtype_of<Ts>())...});
}
/// The same for those that exact sums and products are made of.
template <class F>
void with_field(plait_type type, F&& f) {
  with_type<float, double, std::complex<float>, std::complex<double>>(type, std::forward<F>(f));
}
/// Calls f with what a handle holds of one of these types, unless it is nothing yet.
template <class Variant, class F>
void visit_kernel(Variant& kernel, F&& f) {
  std::visit(
      [&]<class Kernel>(Kernel& its) {
        if constexpr (!std::is_same_v<std::remove_const_t<Kernel>, std::monostate>) f(its);
      },
      kernel);
}

/// All types.
[[nodiscard]] simd::Element element(plait_type type);

/// \throws ArgumentError  also for a layout that is none
[[nodiscard]] redistribute::MatrixPair matrix_pair(const plait_pair& pair);

}  // namespace plait::capi
