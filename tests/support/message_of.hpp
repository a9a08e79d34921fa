#pragma once

#include <exception>
#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace plait::test {

/// The message of the Error that an action throws, for EXPECT_THAT; it is a failure if it throws another one or none.
/// testing::ThrowsMessage says the same, and takes a fifth of a second to compile wherever it stands.
template <class Error>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "an error of another type was thrown: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace plait::test
