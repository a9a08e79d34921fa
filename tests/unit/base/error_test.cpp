#include "plait/base/error.hpp"

#include <new>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace {

using plait::ErrorKind;

template <class Class>
void expect_class_of(ErrorKind kind) {
  try {
    plait::throw_error(kind, "what happened", 7);
    FAIL() << "nothing was thrown";
  } catch (const plait::Error& error) {
    EXPECT_NE(dynamic_cast<const Class*>(&error), nullptr) << static_cast<int>(kind);
    EXPECT_EQ(error.kind(), kind);
    EXPECT_STREQ(error.what(), "what happened");
  }
}

TEST(Error, is_thrown_as_the_class_of_its_kind) {
  expect_class_of<plait::ArgumentError>(ErrorKind::argument);
  expect_class_of<plait::ShapeMismatch>(ErrorKind::shape);
  expect_class_of<plait::LayoutError>(ErrorKind::layout);
  expect_class_of<plait::FileError>(ErrorKind::file);
  expect_class_of<plait::MpiError>(ErrorKind::mpi);
  expect_class_of<plait::PeerFailed>(ErrorKind::peer_failed);
  expect_class_of<plait::OutOfMemory>(ErrorKind::out_of_memory);
  expect_class_of<plait::Error>(ErrorKind::other);
}

TEST(Error, of_a_peer_keeps_its_rank) {
  try {
    plait::throw_error(ErrorKind::peer_failed, "gone", 7);
    FAIL() << "nothing was thrown";
  } catch (const plait::PeerFailed& error) {
    EXPECT_EQ(error.rank(), 7);
  }
}

template <class Exception>
ErrorKind kind_of(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return plait::current_error_kind();
  }
}

TEST(Error, is_recognised_while_it_is_handled) {
  EXPECT_EQ(kind_of(plait::ArgumentError("")), ErrorKind::argument);
  EXPECT_EQ(kind_of(plait::ShapeMismatch("")), ErrorKind::shape);
  EXPECT_EQ(kind_of(plait::LayoutError("")), ErrorKind::layout);
  EXPECT_EQ(kind_of(plait::FileError("")), ErrorKind::file);
  EXPECT_EQ(kind_of(plait::MpiError("")), ErrorKind::mpi);
  EXPECT_EQ(kind_of(plait::PeerFailed(1, "")), ErrorKind::peer_failed);
  EXPECT_EQ(kind_of(plait::OutOfMemory("")), ErrorKind::out_of_memory);
  EXPECT_EQ(kind_of(std::bad_alloc()), ErrorKind::out_of_memory);
  EXPECT_EQ(kind_of(std::runtime_error("")), ErrorKind::other);
  EXPECT_EQ(kind_of(42), ErrorKind::other);
}

}  // namespace
