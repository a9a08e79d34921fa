#include "plait/io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/message_of.hpp"
#include "unit/io/child.hpp"
#include "unit/io/scratch.hpp"

namespace plait::io {
namespace {

using test::read_file;
using test::write_file;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string text_at(const File& file, Index offset, std::size_t most) {
  std::string text(most, '?');
  text.resize(static_cast<std::size_t>(file.read_at(offset, std::as_writable_bytes(std::span(text)))));
  return text;
}

TEST(File, GivesTheBytesAtAnOffsetUpToItsEnd) {
  const test::ScratchFolder folder;
  write_file(folder / "a", "0123456789");
  const File file = File::open_to_read(folder / "a");
  EXPECT_EQ(file.size(), 10);
  EXPECT_EQ(text_at(file, 3, 4), "3456");
  EXPECT_EQ(text_at(file, 7, 10), "789");
  EXPECT_EQ(text_at(file, 10, 1), "");
  EXPECT_EQ(text_at(file, 1000, 1), "");
}

TEST(File, IsWrittenAtOffsetsBeyondFourGibibytes) {
  const test::ScratchFolder folder;
  const std::string path = folder / "sparse";
  constexpr Index far = (Index{1} << 32) + 5;
  const std::string text = "far away";
  File::create(path, path).write_at(far, std::as_bytes(std::span(text)));
  const File file = File::open_to_read(path);
  EXPECT_EQ(file.size(), far + 8);
  EXPECT_EQ(text_at(file, far, 100), text);
}

TEST(File, IsMadeAsTheUmaskSays) {
  const test::ScratchFolder folder;
  const mode_t before = ::umask(027);
  {
    const File file = File::create(folder / "a", "a");
  }
  ::umask(before);
  struct stat status{};
  ASSERT_EQ(::stat((folder / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST(File, ThatIsMissingIsReportedWithItsPathAndTheCause) {
  const test::ScratchFolder folder;
  const std::string path = folder / "missing";
  EXPECT_THAT(test::message_of<FileError>([&] { return File::open_to_read(path); }),
              path + ": can't be opened: No such file or directory");
  EXPECT_THAT(test::message_of<FileError>([&] { return File::open_to_write(path, "shown"); }),
              AllOf(StartsWith("shown: " + path), HasSubstr("No such file")));
}

TEST(File, MustBeARegularOne) {
  const test::ScratchFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<std::array<std::string, 2>> others{
      {folder.path().string(), "a directory"}, {"/dev/null", "a device"}, {pipe, "a pipe"}};
  for (const auto& [path, kind] : others) {
    EXPECT_THAT(test::message_of<FileError>([path = path] { static_cast<void>(File::open_to_read(path)); }),
                path + ": is " + kind + "; expected a regular file");
  }
}

TEST(File, IsNotMadeOverAnother) {
  const test::ScratchFolder folder;
  write_file(folder / "a", "old");
  EXPECT_THAT(test::message_of<FileError>([&] { return File::create(folder / "a", "shown"); }),
              AllOf(StartsWith("shown: "), HasSubstr("File exists")));
  EXPECT_EQ(read_file(folder / "a"), "old");
}

TEST(File, ThatMayNotBeReadIsReported) {
  const test::ScratchFolder folder;
  write_file(folder / "a", "secret");
  ASSERT_EQ(::chmod((folder / "a").c_str(), 0), 0);
  EXPECT_TRUE(test::succeeds_for_ordinary_user(folder, [&] {
    EXPECT_THAT(test::message_of<FileError>([&] { return File::open_to_read(folder / "a"); }),
                (folder / "a") + ": can't be opened: Permission denied");
  }));
}

}  // namespace
}  // namespace plait::io
