#pragma once

#include <string>
#include <utility>

#include "plait/base/error.hpp"

namespace plait::cli {

/// A job that ended without a result, on all ranks alike: `status` is the one that its report would have had.
class NoResult : public Error {
 public:
  NoResult(std::string status, const std::string& text) : Error(ErrorKind::other, text), status_(std::move(status)) {}
  [[nodiscard]] const std::string& status() const noexcept { return status_; }

 private:
  std::string status_;
};

}  // namespace plait::cli
