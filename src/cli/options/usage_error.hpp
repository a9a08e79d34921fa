#pragma once

#include <stdexcept>

namespace plait::cli {

/// The command line itself is wrong, whatever the files hold and however many ranks there are: exit status 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace plait::cli
