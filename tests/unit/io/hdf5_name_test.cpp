#include "plait/io/hdf5/hdf5_name.hpp"

#include <gtest/gtest.h>

#include "plait/base/error.hpp"

namespace plait::io {
namespace {

TEST(Hdf5Name, HasADataSetAfterTheEndingOfTheFile) {
  EXPECT_EQ(parse_hdf5_name("a/H.h5:/x/y"), (Hdf5Name{"a/H.h5", "/x/y"}));
  EXPECT_EQ(parse_hdf5_name("H.HDF5:x"), (Hdf5Name{"H.HDF5", "/x"}));
  EXPECT_EQ(parse_hdf5_name("H.h5:/a:b.h5:c"), (Hdf5Name{"H.h5", "/a:b.h5:c"}));
  EXPECT_EQ(parse_hdf5_name("a:b/H.h5:/x"), (Hdf5Name{"a:b/H.h5", "/x"}));
}

TEST(Hdf5Name, IsThatOfAFileOtherwise) {
  for (const char* text : {"H.h5", "H.npy", "a:b", "H.npy:/x", "C:/H.h5", ".h5", ""}) {
    EXPECT_EQ(parse_hdf5_name(text), (Hdf5Name{text, {}})) << text;
  }
}

TEST(Hdf5Name, WithNothingAfterTheColonIsRefused) {
  for (const char* text : {"H.h5:", "H.h5:/", "H.h5://", "H.h5:/group/"}) {
    try {
      static_cast<void>(parse_hdf5_name(text));
      FAIL() << text;
    } catch (const ArgumentError& error) {
      EXPECT_EQ(error.what(), std::string(text) +
                                  " names no data set after the colon; expected one such as "
                                  "H.h5:/path/to/matrix, or H.h5 alone");
    }
  }
}

TEST(Hdf5Name, TellsWhatIsWritten) {
  for (const char* text : {"H.h5", "H.hdf5", "H.H5:x", "a/b.h5:/x/y"}) EXPECT_TRUE(is_hdf5_name(text)) << text;
  for (const char* text : {"H.npy", "H", "h5", "H.h5.npy", "H.h5/x.npy", "H.npy:/x.hdf"}) {
    EXPECT_FALSE(is_hdf5_name(text)) << text;
  }
}

}  // namespace
}  // namespace plait::io
