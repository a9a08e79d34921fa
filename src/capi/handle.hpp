#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/plan.hpp"

#include "capi/arguments.hpp"
#include "capi/plait.h"

namespace plait::capi {

enum class HandleKind : unsigned char {
  context,
  layout,
  plan,
  request,
  pipeline,
  shared_memory,
  node,
  summation,
  product,
  matrix_vector,
  symm
};

/// Knows the handles that live, and of what they are: what is freed, or never was one, is told from these without being
/// looked at. The first member of each handle, whose address it has.
class Registration {
 public:
  explicit Registration(HandleKind kind);
  Registration(Registration&& other) : Registration(other.kind_) {}
  Registration& operator=(Registration&&) = delete;
  ~Registration();

 private:
  HandleKind kind_;
};

[[nodiscard]] bool is_handle(const void* address, HandleKind kind) noexcept;

}  // namespace plait::capi

struct plait_context {
  static constexpr const char* name = "a context";
  static constexpr plait::capi::HandleKind own_kind = plait::capi::HandleKind::context;
  plait::capi::Registration registration{own_kind};
  std::shared_ptr<plait::mpi::Context> context;
};

struct plait_layout {
  static constexpr const char* name = "a layout";
  static constexpr plait::capi::HandleKind own_kind = plait::capi::HandleKind::layout;
  plait::capi::Registration registration{own_kind};
  plait::layout::Layout layout;
};

struct plait_plan {
  static constexpr const char* name = "a plan";
  static constexpr plait::capi::HandleKind own_kind = plait::capi::HandleKind::plan;
  plait::capi::Registration registration{own_kind};
  std::shared_ptr<plait::mpi::Context> context;  // outlives the plan
  /// Of each pair, the tiles of this rank.
  struct Tiles {
    std::vector<plait::layout::TileExtent> source;
    std::vector<plait::layout::TileExtent> target;
  };
  std::vector<Tiles> tiles;
  std::unique_ptr<plait::redistribute::Plan> plan;
};

namespace plait::capi {

/// \throws ArgumentError  if the handle is NULL, or one of something else
template <class Handle>
Handle& expect_handle(Handle* handle, const char* argument) {
  expect_input(handle, argument, Handle::name);
  if (!is_handle(handle, Handle::own_kind)) {
    throw ArgumentError(std::string(argument) + ": is no handle of " + Handle::name + ", expected one");
  }
  return *handle;
}

/// Frees what a handle stands for, and sets it to NULL.
template <class Handle>
void free_handle(Handle** handle, const char* argument) {
  if (expect_output(handle, argument) == nullptr) return;
  expect_handle(*handle, argument);
  delete *handle;  // NOLINT(cppcoreguidelines-owning-memory): C owned it
  *handle = nullptr;
}

}  // namespace plait::capi
