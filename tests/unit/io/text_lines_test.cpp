#include "plait/io/text/text_lines.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"

#include "support/message_of.hpp"
#include "unit/io/scratch.hpp"

namespace plait::io {
namespace {

using test::ScratchFolder;
using test::write_file;
using ::testing::HasSubstr;

// The lines of all ranges [cuts[i], cuts[i+1]), in order.
std::vector<std::string> lines_of(const File& file, const std::vector<Index>& cuts) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    TextLines lines(file, cuts.front(), cuts[i], cuts[i + 1]);
    while (const auto line = lines.next()) result.emplace_back(*line);
    EXPECT_EQ(lines.bytes_done(), cuts[i + 1] - cuts[i]);
  }
  return result;
}

std::vector<std::string> naive_lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

TEST(TextLines, GivesEveryLineOnceWhereverTheTextIsCut) {
  const ScratchFolder folder;
  for (const std::string text :
       {"", "\n", "a", "a\n", "\n\na\n\n", "ab\r\ncd\r\n", "one\ntwo\nthree", "one\ntwo\nthree\n\n"}) {
    write_file(folder / "t", text);
    const File file = File::open_to_read(folder / "t");
    const auto size = static_cast<Index>(text.size());
    for (Index first = 0; first <= size; ++first) {
      for (Index second = first; second <= size; ++second) {
        EXPECT_EQ(lines_of(file, {0, first, second, size}), naive_lines(text)) << text << first << ' ' << second;
      }
    }
  }
}

TEST(TextLines, BeginsAtTheFirstLineThatIsAskedFor) {
  const ScratchFolder folder;
  write_file(folder / "t", "header\none\ntwo\n");
  const File file = File::open_to_read(folder / "t");
  EXPECT_THAT(lines_of(file, {7, 7, 8, 11, 15}), ::testing::ElementsAre("one", "two"));
}

TEST(TextLines, GivesLinesThatCrossThePiecesItReads) {
  constexpr std::uint64_t seed = 7;
  std::string text;
  for (std::uint64_t i = 0; text.size() < 5'000'000; ++i) {
    const std::uint64_t bits = random_bits(seed, i);
    text.append(bits % 1000 == 0 ? 900'000 : bits % 100, static_cast<char>('a' + bits % 26));
    text += '\n';
  }
  const ScratchFolder folder;
  write_file(folder / "t", text);
  const File file = File::open_to_read(folder / "t");
  const auto size = static_cast<Index>(text.size());
  EXPECT_TRUE(lines_of(file, {0, size / 3, size / 2, size / 2 + 1, size}) == naive_lines(text)) << "seed " << seed;
}

TEST(TextLines, RefusesALineWithoutEnd) {
  const ScratchFolder folder;
  write_file(folder / "t", "short\n" + std::string(2 * longest_line + 10, 'x'));
  const File file = File::open_to_read(folder / "t");
  EXPECT_THAT(test::message_of<FileError>([&] { return lines_of(file, {0, file.size()}); }),
              HasSubstr("t: the line at byte 6 is longer than 1048576 bytes"));
}

}  // namespace
}  // namespace plait::io
