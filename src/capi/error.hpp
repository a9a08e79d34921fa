#pragma once

#include <exception>
#include <utility>

#include "capi/plait.h"

namespace plait::capi {

/// The code of the exception, whose text `plait_last_error` tells from now on.
int remember(const std::exception_ptr& failure) noexcept;

/// Calls f; what it throws becomes an error code. Every function of the C API goes through this.
template <class F>
int guarded(F&& f) noexcept {
  try {
    std::forward<F>(f)();
    return PLAIT_SUCCESS;
  } catch (...) {
    return remember(std::current_exception());
  }
}

}  // namespace plait::capi
