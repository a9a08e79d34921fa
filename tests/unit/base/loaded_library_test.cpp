#include "plait/base/loaded_library.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace {

using plait::LoadedLibrary;

TEST(LoadedLibrary, is_the_program_itself_where_that_has_the_routines) {
  const LoadedLibrary library("tests", "memory", {"malloc", "free"}, {"libnone.so.9"}, "none");
  void (*release)(void*) = nullptr;
  library.find("free", release);
  EXPECT_NE(release, nullptr);
}

TEST(LoadedLibrary, tells_what_is_missing_what_takes_it_and_which_package_has_it) {
  const auto message = [](const auto& act) -> std::string {
    try {
      act();
    } catch (const plait::Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ(message([] { (void)LoadedLibrary("tests", "Nothing", {"no_such_routine"}, {"libnone.so.9"}, "libnone9"); }),
            "tests take Nothing, and there is no libnone.so.9 (on Debian: libnone9)");
  const LoadedLibrary library("tests", "memory", {"malloc"}, {}, "none");
  void (*routine)() = nullptr;
  EXPECT_EQ(message([&] { library.find("no_such_routine", routine); }),
            "tests take no_such_routine of memory, which lacks it");
}

}  // namespace
