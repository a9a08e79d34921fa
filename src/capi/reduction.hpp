#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/combine.hpp"

#include "capi/plait.h"

namespace plait::capi {

/// What C says of a reduction as what C++ takes. It outlives the operation.
class Reduction {
 public:
  /// \throws ArgumentError  a type or operation that is none, that do not go together, or no function where one is
  /// needed
  explicit Reduction(const plait_reduction* given);

  [[nodiscard]] const schedule::Combine& combine() const noexcept { return combine_; }
  [[nodiscard]] Index element_bytes() const noexcept { return combine_.element_bytes(); }
  /// What has to be the same on all ranks; of a user's operation its type is the size of elements.
  [[nodiscard]] plait_operation operation() const noexcept { return operation_; }
  [[nodiscard]] Index type() const noexcept { return type_; }
  [[nodiscard]] bool may_fail() const noexcept { return combine_.may_throw(); }

 private:
  struct Own {
    plait_combine_function function;
    void* data;
  };
  [[nodiscard]] schedule::Combine combine_of(const plait_reduction& given);

  std::unique_ptr<Own> own_;  // where combine_ finds it, wherever this goes
  schedule::Combine combine_;
  plait_operation operation_;
  Index type_;
};

/// Whether a user's function succeeded.
/// \throws ArgumentError  naming what it was called for, if it returned anything but 0
void expect_returned_zero(int returned, const std::string& what);

/// Ends an operation with functions of a user: if one fails on any rank, all ranks throw, those where it failed its own
/// error and the others `PeerFailed` with the text of the lowest one. Collective, if `may_fail`.
///
/// \param wait  ends the operation on this rank
template <class F>
void wait_for_all(mpi::Context& context, bool may_fail, F&& wait) {
  if (!may_fail) return std::forward<F>(wait)();
  std::exception_ptr own, caused;
  try {
    std::forward<F>(wait)();
  } catch (const PeerFailed&) {
    caused = std::current_exception();
  } catch (...) {
    own = std::current_exception();
  }
  try {
    mpi::agree(context, own);
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    if (own) std::rethrow_exception(own);
    throw PeerFailed(-1, error.what());
  }
  if (caused) std::rethrow_exception(caused);
}

}  // namespace plait::capi
