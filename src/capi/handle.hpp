#pragma once

#include <cstdint>
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

/// What a handle is of, in its first bytes: all handles are alike in Fortran.
enum class HandleKind : std::uint64_t {
  context = 0x706c6169'74637478,
  layout = 0x706c6169'746c6179,
  plan = 0x706c6169'74706c6e,
  request = 0x706c6169'74726571,
  pipeline = 0x706c6169'74706970,
  shared = 0x706c6169'74736872,
  node = 0x706c6169'746e6f64,
  summation = 0x706c6169'7473756d,
  product = 0x706c6169'74707264,
  matrix_vector = 0x706c6169'746d7665,
  symm = 0x706c6169'7473796d
};

}  // namespace plait::capi

struct plait_context {
  static constexpr const char* name = "a context";
  static constexpr plait::capi::HandleKind own_kind = plait::capi::HandleKind::context;
  plait::capi::HandleKind kind = own_kind;
  std::shared_ptr<plait::mpi::Context> context;
};

struct plait_layout {
  static constexpr const char* name = "a layout";
  static constexpr plait::capi::HandleKind own_kind = plait::capi::HandleKind::layout;
  plait::capi::HandleKind kind = own_kind;
  plait::layout::Layout layout;
};

struct plait_plan {
  static constexpr const char* name = "a plan";
  static constexpr plait::capi::HandleKind own_kind = plait::capi::HandleKind::plan;
  plait::capi::HandleKind kind = own_kind;
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
  if (handle->kind != Handle::own_kind) {
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
