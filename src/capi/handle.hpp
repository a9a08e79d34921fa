#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/matrix_pair.hpp"

#include "capi/arguments.hpp"
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

/// \throws MpiError  if MPI is not running, where calls of it would end the program
void expect_mpi();

/// Knows the handles that live, and of what they are: what is freed, or never was one, is told from these without being
/// looked at. The first member of each handle, whose address it has.
class Registration {
 public:
  /// \param kind  an address of its own for each kind
  explicit Registration(const void* kind);
  Registration(Registration&& other) : Registration(other.kind_) {}
  Registration& operator=(Registration&&) = delete;
  ~Registration();

 private:
  const void* kind_;
};

[[nodiscard]] bool is_handle(const void* address, const void* kind) noexcept;

/// What every handle begins with. `Handle::name` says what it is, such as "a layout".
template <class Handle>
struct Registered {
  Registration registration{&Handle::name};
};

/// A handle of what is made from a context, which lives as long.
template <class Handle>
struct OnContext : Registered<Handle> {
  std::shared_ptr<mpi::Context> context;
};

}  // namespace plait::capi

struct plait_context : plait::capi::OnContext<plait_context> {
  static constexpr const char* name = "a context";
};

struct plait_layout : plait::capi::Registered<plait_layout> {
  static constexpr const char* name = "a layout";
  explicit plait_layout(plait::layout::Layout its) : layout(std::move(its)) {}
  plait::layout::Layout layout;
};

namespace plait::capi {

/// \throws ArgumentError  if the handle is NULL, or one of something else
template <class Handle>
Handle& expect_handle(Handle* handle, const char* argument) {
  expect_input(handle, argument, Handle::name);
  if (!is_handle(handle, &Handle::name)) {
    throw ArgumentError(std::string(argument) + ": is no handle of " + Handle::name + ", expected one");
  }
  return *handle;
}

/// Frees what a handle stands for, and sets it to NULL.
template <class Handle>
int free_handle(Handle** handle, const char* argument) {
  return guarded([&] {
    if (expect_output(handle, argument) == nullptr) return;
    expect_handle(*handle, argument);
    delete *handle;  // NOLINT(cppcoreguidelines-owning-memory): C owned it
    *handle = nullptr;
  });
}

/// What f, of which any rank may fail alone, returns when none has. Collective over the context.
/// \param f  looks at this rank's arguments, and adds those that all ranks have to give alike
template <class F>
auto checked(mpi::Context& context, F&& f) {
  expect_mpi();
  return mpi::agreed(context, [&](mpi::Alike& arguments) {
    context.expect_usable();
    return std::forward<F>(f)(arguments);
  });
}

/// A function of C that is collective over the context of a handle.
/// \param check  as above, of what the handle stands for
/// \param run    called when nothing is wrong anywhere
template <class Handle, class Check, class Run>
int collective(Handle* handle, const char* argument, Check&& check, Run&& run) {
  return guarded([&] {
    Handle& its = expect_handle(handle, argument);
    checked(*its.context, [&](mpi::Alike& arguments) { std::forward<Check>(check)(its, arguments); });
    std::forward<Run>(run)(its);
  });
}

/// Makes a handle on a context. Collective.
/// \param check  as above, of the new handle
/// \param make   called when nothing is wrong anywhere
template <class Handle, class Check, class Make>
int create(plait_context* context, Handle** handle, const char* argument, Check&& check, Make&& make) {
  if (handle != nullptr) *handle = nullptr;
  return guarded([&] {
    const auto& its = expect_handle(context, "context").context;
    auto made = checked(*its, [&](mpi::Alike& arguments) {
      expect_output(handle, argument);
      auto result = std::make_unique<Handle>();
      result->context = its;
      std::forward<Check>(check)(*result, arguments);
      return result;
    });
    std::forward<Make>(make)(*made);
    *handle = made.release();
  });
}

/// Calls f with what a handle has for the type that it was made for.
template <class Handle, class F>
int with_kernel(Handle* handle, const char* argument, F&& f) {
  return guarded([&] {
    Handle& its = expect_handle(handle, argument);
    expect_mpi();
    its.kernel.visit(std::forward<F>(f));
  });
}

/// \param make  returns the layout of the new handle
template <class Make>
int create_layout(plait_layout** layout, Make&& make) {
  if (layout != nullptr) *layout = nullptr;
  return guarded([&] {
    plait_layout*& result = expect_output(layout, "layout");
    result = new plait_layout(std::forward<Make>(make)());  // NOLINT(cppcoreguidelines-owning-memory): C owns it
  });
}

/// \throws ArgumentError  also for a layout that is none
[[nodiscard]] inline redistribute::MatrixPair matrix_pair(const plait_pair& pair) {
  return {expect_handle(pair.from, "from").layout, expect_handle(pair.to, "to").layout, op(pair.op)};
}

}  // namespace plait::capi
