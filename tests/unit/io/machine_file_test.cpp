#include "plait/io/machine_file.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"

#include "support/message_of.hpp"

namespace {

using plait::io::machine_text;
using plait::io::parse_machine;
using plait::model::default_machine;
using plait::model::Machine;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

TEST(MachineFiles, are_read_back_as_they_were_written) {
  Machine machine = default_machine();
  EXPECT_EQ(parse_machine(machine_text(machine), "m.json"), machine);
  machine.description = "a \"name\"\nof two lines, \u00b5s";
  machine.network.measured = true;
  machine.network.latency_seconds = 1.0 / 3e7;
  machine.combine_bytes_per_second = 0x1.fffffffffffffp40;
  EXPECT_EQ(parse_machine(machine_text(machine), "m.json"), machine) << machine_text(machine);
}

TEST(MachineFiles, of_earlier_versions_are_read_with_the_rate_of_products_assumed) {
  Machine machine = default_machine();
  machine.description = "old";
  machine.product_flops_per_second = 7e9;
  const std::string text = machine_text(machine);
  const std::string line = "  \"product_flops_per_second\": 7000000000,\n";
  machine.description = "old; rate of products assumed";
  machine.product_flops_per_second = default_machine().product_flops_per_second;
  EXPECT_EQ(parse_machine(replaced(text, line, ""), "m.json"), machine);
}

TEST(MachineFiles, are_refused_with_the_key_its_value_and_what_was_expected) {
  const std::string text = machine_text(default_machine());
  const auto expect_refused = [](const std::string& spoilt, const std::string& why) {
    EXPECT_THAT(plait::test::message_of<plait::FileError>([&] { return parse_machine(spoilt, "m.json"); }),
                ::testing::StartsWith("m.json: " + why));
  };
  const auto expect_refused_with = [&](const std::string& what, const std::string& with, const std::string& why) {
    expect_refused(replaced(text, what, with), why);
  };
  expect_refused("", "parse error at line 1, column 1");
  expect_refused("hello", "parse error at line 1, column 1");
  expect_refused(text.substr(0, text.size() / 2), "parse error at line ");
  expect_refused("[]", "is an array of 0, expected an object");
  expect_refused("{}", "has no key format, expected format, version, description, ");
  expect_refused_with("\"plait-machine\"", "\"layout\"", "format is not \"plait-machine\"");
  expect_refused_with("\"version\": 1", "\"version\": 2", "version is 2, expected 1: measure the machine again");
  expect_refused_with("\"version\": 1", "\"version\": 1.5", "version is 1.5, expected a whole number from 1 to ");
  expect_refused_with("numa_nodes", "numa_node", "has no key numa_nodes, expected format, ");
  expect_refused_with("\"numa_nodes\"", "\"more\": 1, \"numa_nodes\"", "has the key \"more\", expected format, ");
  expect_refused_with("\"numa_nodes\"", "\"numa_nodes\": 1, \"numa_nodes\"", "has the key \"numa_nodes\" twice");
  expect_refused_with("\"numa_nodes\": 1", "\"numa_nodes\": 0", "numa_nodes is 0, expected a whole number from 1 to ");
  expect_refused_with("\"numa_nodes\": 1", "\"numa_nodes\": 4000000000", "numa_nodes is 4000000000, expected a whole ");
  expect_refused_with("\"assumed, not measured\"", "null", "description is null, expected a text");
  expect_refused_with("\"read_bytes_per_second\": ", "\"read_bytes_per_second\": -",
                      "read_bytes_per_second is -60000000000, expected a number from 1 to 1e+21");
  expect_refused_with("\"product_flops_per_second\": ", "\"product_flops_per_second\": -",
                      "product_flops_per_second is -400000000000, expected a number from 1 to 1e+21");
  expect_refused_with("\"measured\": false", "\"measured\": 0", "node.measured is 0, expected true or false");
  expect_refused_with("\"latency_seconds\": 1e-06", "\"latency_seconds\": \"1 us\"",
                      "node.latency_seconds is \"1 us\", expected a number");
  expect_refused_with("\"latency_seconds\": 1e-06", "\"latency_seconds\": 0",
                      "node.latency_seconds is 0, expected a number from 1e-12 to 10000");
  expect_refused_with("\"latency_seconds\": 1e-06", "\"latency_seconds\": 1e999", "number overflow");
  expect_refused_with("\"ranks\": 1,", "\"ranks\": 2,", "node.streams begins with those of 2 ranks, expected 1");
  expect_refused_with("\"ranks\": 2,", "\"ranks\": 2, \"node\": 1,",
                      "node.streams[1] has the key \"node\", expected ranks");
  expect_refused_with("[1000, 800000000]", "[1000, 1e-310]",
                      "node.streams of 1 ranks: the rate of 1000 bytes is 1e-310, expected a number from 1 to 1e+21");
  expect_refused_with("[1000, 800000000]", "[1000]",
                      "node.streams[0].one_way[0] has 1 numbers, expected [bytes, bytes per second]");
  expect_refused_with(
      "[1000, 800000000]", "[5000, 800000000]",
      "node.streams[0].one_way is no curve: a bandwidth curve has messages of 4000 bytes after those of 5000");
  expect_refused_with("[1000, 800000000]", "[1000, 0]",
                      "node.streams[0].one_way is no curve: a bandwidth curve has 0 bytes/s");
  expect_refused_with("[1000, 800000000]", "7", "node.streams[0].one_way[0] is 7, expected an array");
}

}  // namespace
