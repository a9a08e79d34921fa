#pragma once

#include <type_traits>

#include "plait/simd/dispatch.hpp"

/// `name_kernels<X>`: the table of `name_reference<X>` and, in each target's namespace, `name_of_target<X>`. A macro,
/// as the namespaces of targets are no arguments of templates.
#define PLAIT_SIMD_TABLE_OF(name)                                                              \
  template <class X>                                                                           \
  constexpr auto name##_scalar = &name##_reference<X>;                                         \
  template <class X>                                                                           \
  constexpr KernelTable<std::remove_pointer_t<decltype(&name##_reference<X>)>> name##_kernels( \
      PLAIT_SIMD_FIXED_LENGTH_KERNELS(name##_scalar<X>, name##_of_target<X>))
