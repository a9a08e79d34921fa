#include "plait/io/aside_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"
#include "unit/io/child.hpp"
#include "unit/io/scratch.hpp"

namespace plait::io {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::read_file;
using test::ScratchFolder;
using test::write_file;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

void write_whole(const std::string& path, const std::string& text) {
  AsideFile file = AsideFile::create(path, static_cast<Index>(text.size()));
  file.write_at(0, bytes_of(text));
  file.sync();
  file.publish();
}

// Lowers the size that files may have, for the time that it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : before_signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const struct rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, before_signal_);
  }

 private:
  struct rlimit before_{};
  void (*before_signal_)(int);
};

TEST(AsideFile, AppearsUnderItsNameOnlyWhenPublished) {
  const ScratchFolder folder;
  const std::string path = folder / "out";
  {
    AsideFile file = AsideFile::create(path, 3);
    EXPECT_THAT(file.aside(), StartsWith(path + ".tmp-"));
    EXPECT_FALSE(fs::exists(path));
    file.write_at(0, bytes_of("new"));
    EXPECT_FALSE(fs::exists(path));
    file.sync();
    file.publish();
    EXPECT_EQ(read_file(path), "new");
  }
  EXPECT_THAT(folder.names(), ElementsAre("out"));
}

TEST(AsideFile, ReplacesAnotherFileOnlyWhenPublished) {
  const ScratchFolder folder;
  write_file(folder / "out", "old and longer");
  {
    AsideFile file = AsideFile::create(folder / "out", 3);
    file.write_at(0, bytes_of("new"));
    EXPECT_EQ(read_file(folder / "out"), "old and longer");
    file.publish();
    EXPECT_EQ(read_file(folder / "out"), "new");
  }
  EXPECT_THAT(folder.names(), ElementsAre("out"));
}

TEST(AsideFile, IsAsPrivateAsTheFileThatItReplaces) {
  const ScratchFolder folder;
  write_file(folder / "out", "old");
  fs::permissions(folder / "out", fs::perms::owner_read | fs::perms::owner_write);
  write_whole(folder / "out", "new");
  EXPECT_EQ(fs::status(folder / "out").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(AsideFile, LeavesNothingBehindWhenItIsGivenUp) {
  const ScratchFolder folder;
  write_file(folder / "out", "old");
  {
    const AsideFile file = AsideFile::create(folder / "out", 3);
    file.write_at(0, bytes_of("new"));
    EXPECT_EQ(folder.names().size(), 2U);
  }
  EXPECT_EQ(read_file(folder / "out"), "old");
  EXPECT_THAT(folder.names(), ElementsAre("out"));
}

TEST(AsideFile, IsWrittenByThoseWhoJoinButRemovedByItsMaker) {
  const ScratchFolder folder;
  AsideFile file = AsideFile::create(folder / "out", 6);
  {
    const AsideFile joined = AsideFile::join(folder / "out", file.aside(), 6);
    joined.write_at(3, bytes_of("two"));
    joined.sync();
  }
  file.write_at(0, bytes_of("one"));
  file.sync();
  file.publish();
  EXPECT_EQ(read_file(folder / "out"), "onetwo");
}

// Leaves a file aside that nobody will publish; returns its name.
std::string left_by_killed_process(const ScratchFolder& folder, const std::string& name) {
  const auto be_killed = [&] {
    const AsideFile file = AsideFile::create(folder / name, 3);
    ::_exit(static_cast<int>(test::ChildResult::success));  // no destructor
  };
  const auto before = folder.names();
  EXPECT_EQ(test::in_child([] { return true; }, be_killed), test::ChildResult::success);
  for (const auto& found : folder.names()) {
    if (!before.contains(found)) return found;
  }
  return {};
}

TEST(AsideFile, IsRemovedByTheNextJobIfItsMakerWasKilled) {
  const ScratchFolder folder;
  const std::string of_same = left_by_killed_process(folder, "out");
  const std::string of_other = left_by_killed_process(folder, "other");
  ASSERT_THAT(of_same, StartsWith("out.tmp-"));
  ASSERT_THAT(of_other, StartsWith("other.tmp-"));
  AsideFile::try_out(folder / "out");
  EXPECT_THAT(folder.names(), IsEmpty());
}

// As where nobody adopts the processes of a container that lost their parent.
TEST(AsideFile, IsRemovedByTheNextJobThoughNobodyAskedHowItsMakerEnded) {
  const ScratchFolder folder;
  const pid_t maker = ::fork();
  if (maker == 0) {
    const AsideFile file = AsideFile::create(folder / "out", 3);
    ::_exit(0);  // no destructor
  }
  siginfo_t end{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(maker), &end, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(folder.names().size(), 1U);
  AsideFile::try_out(folder / "out");
  EXPECT_THAT(folder.names(), IsEmpty());
  EXPECT_EQ(::waitpid(maker, nullptr, 0), maker);
}

TEST(AsideFile, IsKeptByOthersWhileItsMakerLivesOrMayLive) {
  const ScratchFolder folder;
  const AsideFile mine = AsideFile::create(folder / "out", 3);
  const std::string left = left_by_killed_process(folder, "out");
  const auto digit = left.find("tmp-") + 4;
  ASSERT_GT(left.size(), digit + 16);
  std::string elsewhere = left;  // the same number of a process on another machine
  elsewhere[digit] = elsewhere[digit] == '0' ? '1' : '0';
  write_file(folder / elsewhere, "");
  const std::string longer = left + "0";
  write_file(folder / longer, "");
  write_file(folder / left.substr(3), "");  // of no file
  const std::string directory = "directory" + left.substr(3);
  fs::create_directory(folder / directory);
  AsideFile::try_out(folder / "out");
  EXPECT_THAT(folder.names(), UnorderedElementsAre(fs::path(mine.aside()).filename().string(), elsewhere, longer,
                                                   left.substr(3), directory));
}

TEST(AsideFile, FollowsLinksAndLeavesThemInPlace) {
  const ScratchFolder folder;
  fs::create_directory(folder / "elsewhere");
  write_file(folder / "elsewhere/target", "old");
  fs::create_symlink("elsewhere/target", folder / "link");
  fs::create_symlink("link", folder / "link-to-link");
  write_whole(folder / "link-to-link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_TRUE(fs::is_symlink(folder / "link-to-link"));
  EXPECT_EQ(read_file(folder / "elsewhere/target"), "new");

  fs::create_symlink("elsewhere/not-yet-there", folder / "dangling");
  write_whole(folder / "dangling", "new too");
  EXPECT_EQ(read_file(folder / "elsewhere/not-yet-there"), "new too");

  fs::create_symlink("circle", folder / "circle");
  EXPECT_THAT(test::message_of<FileError>([&] { write_whole(folder / "circle", "lost"); }),
              HasSubstr("symbolic links"));
}

TEST(AsideFile, CanHaveTheLongestName) {
  const ScratchFolder folder;
  const std::string longest(255, 'n');
  write_whole(folder / longest, "new");
  EXPECT_THAT(folder.names(), ElementsAre(longest));
}

TEST(AsideFile, IsWrittenInTheCurrentFolderIfNoneIsNamed) {
  const ScratchFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_whole("here", "new");
  fs::current_path(before);
  EXPECT_EQ(read_file(folder / "here"), "new");
}

TEST(AsideFile, IsRefusedWhereItCantBe) {
  const ScratchFolder folder;
  write_file(folder / "file", "old");
  const std::string missing = folder / "missing/out";
  const std::string below_file = folder / "file/out";
  const std::string directory = folder.path().string();
  const auto create = [](const std::string& path) { return [path] { static_cast<void>(AsideFile::create(path, 8)); }; };
  EXPECT_THAT(test::message_of<FileError>(create(missing)),
              AllOf(StartsWith(missing + ": can't be written into the folder "), HasSubstr("No such file")));
  EXPECT_THAT(test::message_of<FileError>(create(below_file)),
              AllOf(StartsWith(below_file + ": "), EndsWith("Not a directory")));
  EXPECT_THAT(test::message_of<FileError>(create(directory)),
              directory + ": is a directory; expected the name of a file");
  EXPECT_THAT(test::message_of<FileError>(create(directory + "/")), HasSubstr("is a directory"));
  EXPECT_THAT(test::message_of<FileError>(create("/dev/null")), HasSubstr("is no regular file"));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string pipe = "/dev/fd/" + std::to_string(ends[1]);
  EXPECT_THAT(test::message_of<FileError>(create(pipe)), pipe + ": is no regular file, and nothing else is replaced");
  for (const int end : ends) ::close(end);
  EXPECT_THAT(test::message_of<ArgumentError>(create("")), HasSubstr("path is empty"));
  EXPECT_THAT(folder.names(), ElementsAre("file"));
}

TEST(AsideFile, DoesNotReplaceAWriteProtectedFileNorEnterAProtectedFolder) {
  const ScratchFolder folder;
  write_file(folder / "out", "old");
  ASSERT_EQ(::chmod((folder / "out").c_str(), 0444), 0);
  fs::create_directory(folder / "closed");
  ASSERT_EQ(::chmod((folder / "closed").c_str(), 0555), 0);
  EXPECT_TRUE(test::succeeds_for_ordinary_user(folder, [&] {
    EXPECT_THAT(test::message_of<FileError>([&] { write_whole(folder / "out", "new"); }),
                (folder / "out") + ": can't be replaced: Permission denied");
    EXPECT_THAT(test::message_of<FileError>([&] { write_whole(folder / "closed/out", "new"); }),
                AllOf(StartsWith(folder / "closed/out"), EndsWith("Permission denied")));
  }));
  EXPECT_EQ(read_file(folder / "out"), "old");
  EXPECT_THAT(folder.names(), ElementsAre("closed", "out"));
}

TEST(AsideFile, IsRefusedBeforehandIfFilesMayNotBecomeSoLarge) {
  const ScratchFolder folder;
  const FileSizeLimit limit(1000);
  EXPECT_THAT(test::message_of<FileError>([&] { return AsideFile::create(folder / "out", 1001); }),
              AllOf(StartsWith(folder / "out"), HasSubstr("needs 1001 bytes"), HasSubstr("1000")));
  EXPECT_THAT(folder.names(), IsEmpty());
  write_whole(folder / "out", std::string(1000, 'x'));
}

TEST(AsideFile, LeavesTheOldFileWhenAWriteFailsHalfWay) {
  const ScratchFolder folder;
  write_file(folder / "out", "old");
  const FileSizeLimit limit(1000);
  const auto write_too_much = [&] {
    const AsideFile file = AsideFile::create(folder / "out", 0);
    file.write_at(0, bytes_of(std::string(900, 'x')));
    file.write_at(900, bytes_of(std::string(900, 'x')));
  };
  EXPECT_THAT(
      test::message_of<FileError>(write_too_much),
      AllOf(StartsWith((folder / "out") + ": writing 800 bytes at byte 1000 failed: "), HasSubstr("File too large")));
  EXPECT_EQ(read_file(folder / "out"), "old");
  EXPECT_THAT(folder.names(), ElementsAre("out"));
}

TEST(AsideFile, ReportsAFullDiskBeforehandAndLeavesTheOldFile) {
  const ScratchFolder folder;
  const auto result = test::on_small_file_system(folder, [&] {
    write_file(folder / "out", "old");
    std::string text;
    try {
      const AsideFile file = AsideFile::create(folder / "out", Index{2} << 20);
    } catch (const FileError& error) {
      text = error.what();
    }
    EXPECT_THAT(text, AllOf(StartsWith(folder / "out"), HasSubstr("2097152 bytes are needed, "),
                            EndsWith("are free: No space left on device")));
    EXPECT_EQ(read_file(folder / "out"), "old");
    EXPECT_THAT(folder.names(), ElementsAre("out"));
  });
  if (result == test::ChildResult::impossible) GTEST_SKIP() << "no small file system can be mounted here";
  EXPECT_EQ(result, test::ChildResult::success);
}

TEST(AsideFile, LeavesTheOldFileWhenTheDiskFillsUp) {
  const ScratchFolder folder;
  const auto result = test::on_small_file_system(folder, [&] {
    write_file(folder / "out", "old");
    std::string text;
    try {
      const AsideFile file = AsideFile::create(folder / "out", 0);
      file.write_at(0, bytes_of(std::string(std::size_t{2} << 20, 'x')));
    } catch (const FileError& error) {
      text = error.what();
    }
    EXPECT_THAT(text, AllOf(StartsWith((folder / "out") + ": writing "), EndsWith("No space left on device")));
    EXPECT_EQ(read_file(folder / "out"), "old");
    EXPECT_THAT(folder.names(), ElementsAre("out"));
  });
  if (result == test::ChildResult::impossible) GTEST_SKIP() << "no small file system can be mounted here";
  EXPECT_EQ(result, test::ChildResult::success);
}

TEST(AsideFile, RefusesANameThatIsTooLongAtOnce) {
  const ScratchFolder folder;
  const std::string path = folder / std::string(256, 'a');
  EXPECT_THAT(test::message_of<FileError>([&] { return AsideFile::create(path, 0); }),
              AllOf(StartsWith(path), EndsWith("File name too long")));
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(AsideFile, CanBePublishedAfterItWasClosed) {
  const ScratchFolder folder;
  AsideFile file = AsideFile::create(folder / "out", 3);
  file.write_at(0, bytes_of("new"));
  file.close();
  file.publish();
  EXPECT_EQ(read_file(folder / "out"), "new");
}

}  // namespace
}  // namespace plait::io
