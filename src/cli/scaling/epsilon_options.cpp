#include "cli/scaling/epsilon_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "plait/base/error.hpp"

#include "cli/options/number_argument.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

using sinkhorn::Domain;

std::string_view name(Domain domain) {
  switch (domain) {
    case Domain::automatic: return "auto";
    case Domain::factors: return "factors";
    case Domain::logarithmic: return "logarithms";
  }
  return "";
}

void add_epsilon_options(CLI::App& command, EpsilonOptions& options) {
  add_value(command, "--epsilon", options.epsilon, parse_positive_number, "NUMBER",
            "Weight of the entropy, in the units of the costs")
      ->required();
  add_value(command, "--first-epsilon", options.first_epsilon, parse_positive_number, "NUMBER",
            "Epsilon of the first stage, divided by 4 from stage to stage; by default chosen by the costs")
      ->group(group::iteration);
  add_choice(command, "--method", options.method,
             {{"auto", Domain::automatic}, {"factors", Domain::factors}, {"logarithms", Domain::logarithmic}}, "METHOD",
             "Iterate on factors or on their logarithms: {}. factors are faster, but need a large epsilon");
}

void expect_epsilons(const EpsilonOptions& options) {
  if (options.first_epsilon == 0 || options.first_epsilon >= options.epsilon) return;
  throw UsageError(fmt::format("--first-epsilon is {}, expected {} at least, the value of --epsilon",
                               options.first_epsilon, options.epsilon));
}

nlohmann::ordered_json stages_json(const std::vector<sinkhorn::TransportStage>& stages) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& stage : stages) {
    json.push_back({{"epsilon", stage.epsilon}, {"iterations", stage.iterations}, {"method", name(stage.domain)}});
  }
  return json;
}

std::string stages_summary(const std::vector<sinkhorn::TransportStage>& stages) {
  return fmt::format("  {:<10}{}{}\n", "method", name(stages.back().domain),
                     stages.size() > 1
                         ? fmt::format("; {} stages, epsilon from {:.3g} down", stages.size(), stages.front().epsilon)
                         : "");
}

}  // namespace plait::cli
