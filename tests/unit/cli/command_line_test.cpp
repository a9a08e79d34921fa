#include "cli/host/command_line.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/host/job.hpp"
#include "cli/jobs/jobs.hpp"
#include "support/message_of.hpp"

namespace plait::cli {
namespace {

Parsed parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "plait");
  return parse_command_line(jobs(), static_cast<int>(words.size()), words.data());
}

std::string all_jobs() {
  std::vector<std::string> names;
  for (const JobRow& job : jobs()) names.emplace_back(job.name);
  return either(names);
}

TEST(CommandLine, exec_leaves_the_words_of_its_command_alone) {
  using testing::ElementsAre;
  const auto command = [](const std::vector<const char*>& words) { return parsed(words).command->settings.words; };
  EXPECT_THAT(command({"exec", "--log", "--", "a", "--log", "--", "-x"}), ElementsAre("a", "--log", "--", "-x"));
  EXPECT_THAT(command({"exec", "a", "--isa", "--", "-x"}), ElementsAre("a", "--isa", "--", "-x"));
  EXPECT_THAT(command({"exec", "--isa", "scalar", "plan", "info"}), ElementsAre("plan", "info"));
  EXPECT_THAT(command({"exec", "--print"}), ElementsAre());
}

struct Misuse {
  std::vector<const char*> words;
  const char* complaint;
};

TEST(CommandLine, every_misuse_is_told_in_plaits_own_words) {
  const std::string no_command = fmt::format("no command is given, expected {}; see plait --help", all_jobs());
  for (const auto& [words, complaint] : std::vector<Misuse>{
           {{}, no_command.c_str()},
           {{"redistibute", "x"}, "there is no command redistibute; did you mean redistribute? See plait --help"},
           {{"x"}, "there is no command x; see plait --help"},
           {{"--verion"}, "there is no option --verion; did you mean --version?"},
           {{"redistribute", "B", "-o", "A", "--pre-rank", "D"},
            "no option --pre-rank; did you mean --per-rank? See pl"},
           {{"redistribute", "B", "C", "-o", "A"}, "redistribute takes no further argument, but 'C' is given"},
           {{"redistribute", "-o", "A"},
            "IN is missing, expected plait redistribute IN (-o FILE | --per-rank DIR) [OPTIONS]; see plait "
            "redistribute"},
           {{"redistribute", "B"}, "none of -o FILE, --per-rank DIR is given, expected plait redistribute IN ("},
           {{"redistribute", "B", "-o", "A", "--per-rank", "D"}, "-o and --per-rank are both given"},
           {{"redistribute", "B", "-o"}, "--output has no value, expected --output FILE; see"},
           {{"redistribute", "B", "-o", "A", "-o", "C"}, "--output is given more than once; see"},
           {{"redistribute", "B", "-o", "A", "--json=false"}, "--json takes no value; see"},
           {{"transport", "--points", "X", "--epsilon", "1"}, "--points has no value, expected --points X Y; see"},
           {{"redistribute", "B", "-o", "--json"}, "--output: is --json, expected a name"},
           {{"redistribute", "B", "-o", ""}, "--output: is empty, expected a name"},
           {{"redistribute", "B", "-o", "A.mtx"},
            "A.mtx would be a file of another kind, expected a name that ends in .npy or .h5"},
           {{"redistribute", "B", "-o", "A.csv"}, "A.csv would be a file of another kind"},
           {{"sinkhorn", "B", "-o", "A.npz"},
            "A.npz would be a file of another kind, expected a name that ends in .npy"},
           {{"redistribute", "B", "-o", "A", "--op", "t"},
            "--op: 't' is unknown; expected identity, transpose, conjugate or conjugate-transpose"},
           {{"help", "redistibute"}, "there is no command redistibute; did you mean redistribute?"},
           {{"redistribute", "B", "-o", "A", "--from", "rows@x"}, "--from: expected the number of ranks"},
           {{"redistribute", "B", "-o", "A", "--from", "rows@x"}, "\nrows@x\n     ^"},
           {{"redistribute", "B", "-o", "A", "--to", "blocks@2"}, "--to: "},
           {{"redistribute", "B", "-o", "A", "--alpha", "x"}, "--alpha: 'x' is no number"},
           {{"redistribute", "B", "-o", "A", "--beta", "2"}, "--beta is 2, but --into is missing"},
           {{"redistribute", "B", "-o", "A", "--into", "C"}, "--into is given, but --beta is 0"},
           {{"redistribute", "B", "-o", "A", "--into", "C", "--beta", "0.0"}, "--into is given, but --beta is 0"},
           {{"redistribute", "B", "-o", "A", "--memory", "64MX"}, "--memory: '64MX' is no number of bytes"},
           {{"redistribute", "B", "-o", "A", "--memory", "4095"},
            "--memory: 4095 is 4095 bytes, expected at least 4096"},
           {{"generate", "8x", "-o", "f"}, "SHAPE: '8x' is no shape"},
           {{"generate", "-8x8", "-o", "f"}, "SHAPE: '-8x8' is no shape"},
           {{"generate", "4294967296x4294967296", "-o", "f"}, "SHAPE: "},
           {{"generate", "8x8"}, "-o FILE is missing, expected plait generate SHAPE -o FILE [OPTIONS]"},
           {{"generate", "8x8", "-o", "f", "--dtype", "f16"}, "--dtype: dtype is \"f16\""},
           {{"generate", "8x8", "-o", "f", "--seed", "-1"}, "--seed: '-1' is no seed"},
           {{"generate", "8x8", "-o", "f", "--order", "c"}, "--order: 'c' is unknown; expected C or F"},
           {{"info", "--quiet"}, "info has no option --quiet"},
           {{"exec", "--lgo", "--", "x"}, "exec has no option --lgo; did you mean --log? See plait exec --help"},
           {{"exec", "--isa", "mmx", "x"}, "--isa: instruction set \"mmx\""},
           {{"exec", "--log", "--"}, "no command is given, expected plait exec"},
           {{"purify", "H", "--most-steps", "3"}, "no option --most-steps; did you mean --max-iterations?"},
           {{"sinkhorn", "K", "--iterations=3"}, "no option --iterations=3; did you mean --max-iterations?"},
           {{"sinkhorn", "K", "--form", "in-place"}, "no option --form; did you mean --method?"},
           {{"sinkhorn", "K", "--overlap"}, "no option --overlap; did you mean --pipelined?"},
           {{"sinkhorn", "K", "--cols", "c"}, "no option --cols; did you mean --columns?"},
           {{"transport", "K", "--domain", "factors"}, "no option --domain; did you mean --method?"},
           {{"plan", "--type", "f32"}, "no option --type; did you mean --dtype?"},
           {{"redistribute", "B", "-o", "/dev/stdout", "--json"},
            "--output is /dev/stdout, where --json prints its object; expected another name, or no --json"},
           {{"machine", "--json", "-o", "/dev/fd/1"}, "--output is /dev/fd/1, where --json prints its object"},
       }) {
    EXPECT_THAT(test::message_of<UsageError>([words = words] { static_cast<void>(parsed(words)); }),
                testing::HasSubstr(complaint))
        << testing::PrintToString(words);
  }
}

TEST(CommandLine, help_mentions_every_option_of_a_command) {
  const auto help = [](const std::vector<const char*>& words) { return parsed(words).text; };
  const std::string redistribute = help({"redistribute", "--help"});
  for (const char* option : {"--output", "--per-rank", "--op", "--from", "--to", "--alpha", "--beta", "--into",
                             "--memory", "--json", "--quiet", "--progress", "Example:", "block-cyclic:", "custom:"}) {
    EXPECT_THAT(redistribute, testing::HasSubstr(option));
  }
  for (const char* option :
       {"--output", "--dtype", "--seed", "--order", "--json", "--quiet", "--progress", "Example:"}) {
    EXPECT_THAT(help({"generate", "--help"}), testing::HasSubstr(option));
  }
  EXPECT_THAT(help({"info", "--help"}), testing::HasSubstr("Example:"));
  EXPECT_THAT(help({"--help"}), testing::AllOf(testing::HasSubstr("redistribute"), testing::HasSubstr("generate"),
                                               testing::HasSubstr("info")));
  EXPECT_EQ(help({"--version"}), "plait " PLAIT_VERSION "\n");
  EXPECT_EQ(help({"-V"}), help({"--version"}));
  EXPECT_EQ(help({"help"}), help({"--help"}));
  EXPECT_EQ(help({"help", "generate"}), help({"generate", "--help"}));
}

TEST(CommandLine, operations_have_letters) {
  EXPECT_EQ(parse_op("N"), redistribute::Op::identity);
  EXPECT_EQ(parse_op("T"), redistribute::Op::transpose);
  EXPECT_EQ(parse_op("C"), redistribute::Op::conjugate);
  EXPECT_EQ(parse_op("H"), redistribute::Op::conjugate_transpose);
}

TEST(CommandLine, the_files_of_a_job_have_their_roles) {
  const auto command =
      parsed({"multiply", "A.npy", "B.npy", "-o", "C.npy", "--into", "D.npy", "--beta=-2", "--alpha", "-0.5i"}).command;
  std::vector<std::string> roles;
  for (const NamedFile& file : command->files.read()) roles.push_back(file.path + ": " + file.role);
  EXPECT_THAT(roles, testing::ElementsAre("A.npy: A", "B.npy: B", "D.npy: the file of --into"));
  EXPECT_EQ(command->files.called("A.npy"), "A.npy");
  EXPECT_EQ(command->files.called("D.npy"), "--into D.npy");
}

TEST(CommandLine, no_file_of_a_job_is_two_things_but_where_a_result_may_take_the_place_of_its_input) {
  EXPECT_NO_THROW(static_cast<void>(parsed({"multiply", "A.npy", "A.npy", "-o", "./A.npy"})));
  EXPECT_NO_THROW(static_cast<void>(parsed({"sinkhorn", "A.npy", "-o", "./A.npy"})));
  for (const auto& words : std::vector<std::vector<const char*>>{
           {"purify", "H.npy", "--electrons", "2", "-o", "./H.npy"},
           {"purify", "H.npy", "--electrons", "2", "-o", "D.npy", "--checkpoint", "D.npy"},
           {"kmeans", "X.npy", "-k", "2", "-o", "l.npy", "--centres", "./l.npy"},
           {"kmeans", "X.npy", "-k", "2", "-o", "l.npy", "--start", "l.npy"},
           {"sinkhorn", "A.npy", "-o", "P.npy", "--row-factors", "A.npy"},
           {"transport", "--points", "X", "Y", "--epsilon", "1", "--map", "Y"},
           {"generate", "8x8", "-o", "m", "--machine", "m"}}) {
    EXPECT_THROW(static_cast<void>(parsed(words)), UsageError) << words[0];
  }
}

}  // namespace
}  // namespace plait::cli
