#include <gtest/gtest.h>

#include "cli/exec/libraries.hpp"

namespace plait::cli {
namespace {

TEST(NeededLibraries, libraries_of_open_mpi_are_known_in_all_languages) {
  for (const char* const name : {"libmpi.so.40", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40",
                                 "libmpi_usempi_ignore_tkr.so.40", "libmpi_usempi.so.40"}) {
    EXPECT_EQ(family_of_library(name), "Open MPI") << name;
  }
}

TEST(NeededLibraries, libraries_of_mpich_and_what_is_like_it_are_known_in_all_languages) {
  for (const char* const name :
       {"libmpich.so.12", "libmpichfort.so.12", "libmpichcxx.so.12", "libmpi.so.12", "libmpifort.so.12"}) {
    EXPECT_EQ(family_of_library(name), "MPICH") << name;
  }
}

TEST(NeededLibraries, others_belong_to_no_mpi) {
  for (const char* const name : {"libm.so.6", "libmpfr.so.6", "libmpi", ""})
    EXPECT_EQ(family_of_library(name), "") << name;
}

}  // namespace
}  // namespace plait::cli
