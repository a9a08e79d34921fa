#include "plait/io/machine_file.hpp"

#include <new>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/collective/algorithm/algorithms.hpp"
#include "plait/mpi/message.hpp"

#include "mpi/io/shared_scratch.hpp"
#include "support/message_of.hpp"

namespace plait::io {
namespace {

using model::AllreduceAlgorithm;
using test::SharedScratch;
using test::text_thrown_alike;

model::Machine slow_network() {
  model::Machine machine = model::default_machine();
  machine.description = "slow";
  machine.network.latency_seconds = 1;
  return machine;
}

TEST(MachineFile, IsWhatAllRanksDecideByAlike) {
  SharedScratch scratch;
  mpi::Context& context = scratch.context();
  EXPECT_EQ(context.machine(), model::default_machine(mpi::network_message));
  EXPECT_EQ(context.placement(), (model::Placement{context.size(), context.size()})) << "one node";

  scratch.write("m.json", machine_text(slow_network()));
  context.use_machine(read_machine(context, scratch / "m.json"));
  EXPECT_EQ(context.machine(), slow_network());
  std::vector<std::string> lines;
  context.choices().tell([&lines](const std::string& line) { lines.push_back(line); });
  const model::Placement one_each{context.size(), 1};
  for (const Index bytes : {Index{8}, Index{1'000'000}, Index{8}}) {
    const auto choice = collective::choose<AllreduceAlgorithm>(context, one_each, bytes);
    EXPECT_EQ(choice, model::choose<AllreduceAlgorithm>(slow_network(), one_each, bytes));
    const std::string line = describe(choice, one_each, bytes);
    EXPECT_EQ(line, text_of_rank_zero(context, line));
  }
  EXPECT_EQ(lines.size(), 2) << "each way is told once";
}

TEST(MachineFile, ThatIsMissingOrWrongIsRefusedOnEveryRank) {
  SharedScratch scratch;
  mpi::Context& context = scratch.context();
  const auto complaint = [&](const std::string& name) {
    return text_thrown_alike<FileError>(context, [&] { (void)read_machine(context, scratch / name); });
  };
  EXPECT_THAT(complaint("none.json"), ::testing::HasSubstr("none.json: can't be opened"));
  scratch.write("m.json", "{}");
  EXPECT_THAT(complaint("m.json"), ::testing::HasSubstr("m.json: has no key format"));
}

TEST(RankZero, IsNotNamedByErrorsOfFilesThatItAloneReads) {
  SharedScratch scratch;
  mpi::Context& context = scratch.context();
  const auto failing = [&](const auto& error) { return [&] { on_rank_zero(context, [&] { throw error; }); }; };
  EXPECT_THAT(test::message_of<FileError>(failing(FileError("a.npy: is empty"))), "a.npy: is empty");
  const std::string rank = context.size() > 1 ? "rank 0: " : "";
  EXPECT_THAT(test::message_of<OutOfMemory>(failing(std::bad_alloc())), rank + "out of memory");
  EXPECT_EQ(told_by_rank_zero(context, [] { return 7; }), 7);
}

}  // namespace
}  // namespace plait::io
