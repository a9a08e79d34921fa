#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace plait {

template <class Signature>
class FunctionRef;

/// A function that outlives this, to be called by who need not know its type. Unlike `std::function` it takes no
/// memory, so that no rank alone can fail to make one before ranks agree on anything.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  FunctionRef() = default;  // none
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<Result, F&, Arguments...>)
  FunctionRef(F&& f) noexcept
      : function_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* function, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<F>*>(function))(std::forward<Arguments>(arguments)...);
        }) {}

  explicit operator bool() const noexcept { return call_ != nullptr; }
  Result operator()(Arguments... arguments) const { return call_(function_, std::forward<Arguments>(arguments)...); }

 private:
  void* function_ = nullptr;
  Result (*call_)(void*, Arguments...) = nullptr;
};

}  // namespace plait
