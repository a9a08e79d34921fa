#include "bench/harness/options.hpp"

#include <CLI/CLI.hpp>

namespace plait::bench {

std::variant<Options, Message> parse_options(int argc, const char* const* argv, const std::string& name,
                                             const std::string& description) {
  Options options;
  std::string filter;
  CLI::App program(description, "bench_" + name);
  program.add_flag("--quick", options.quick, "small matrices and two rounds: checks that it runs, not how fast");
  program
      .add_option("--repetitions", options.repetitions, "rounds of each case, instead of 10 and more for short ones")
      ->check(CLI::Range(1, 1'000'000));
  program.add_option("--filter", filter,
                     "only cases in whose name this regular expression is found, of reports that are merged, too");
  program.add_option("--json", options.json, "write the report, every sample in it")->type_name("FILE");
  program.add_option("--plot", options.plot, "write a picture of it")->type_name("FILE.svg");
  program
      .add_option("--extent-plot", options.extent_plot, "write a picture of cases that differ in their extent alone")
      ->type_name("FILE.svg");
  program
      .add_option("--heat-map", options.heat_map, "write a picture of cases that differ in a size such as 256K alone")
      ->type_name("FILE.svg");
  program.add_option("--commit", options.commit, "of the sources, for the report");
  program.add_flag("--gate", options.gate, "exit with status 1 if a gate is missed");
  program.add_flag("--list-ranks", options.list_ranks, "only say on how many ranks it wants to run");
  program.add_flag("--list-link-rate", options.list_link_rate,
                   "only say which links a cluster is to have; nothing where the benchmark wants none");
  program.add_option("--merge", options.merge, "take these reports instead of measuring")->type_name("FILE...");
  try {
    program.parse(argc, argv);
    if (!filter.empty()) options.filter = std::regex(filter);
  } catch (const CLI::CallForHelp&) {
    return Message{program.help(), 0};
  } catch (const CLI::ParseError& error) {
    return Message{program.get_name() + ": error: " + error.what() + "; see --help\n", 2};
  } catch (const std::regex_error& error) {
    return Message{program.get_name() + ": error: --filter is no regular expression: " + error.what() + "\n", 2};
  }
  return options;
}

}  // namespace plait::bench
