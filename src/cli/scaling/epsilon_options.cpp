#include "cli/scaling/epsilon_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "plait/base/error.hpp"

#include "cli/options/number_argument.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

using sinkhorn::Domain;

namespace {

Domain parse_domain(std::string_view text) {
  for (const Domain domain : {Domain::automatic, Domain::factors, Domain::logarithmic}) {
    if (text == name(domain)) return domain;
  }
  throw ArgumentError(fmt::format("'{}' is no domain; expected automatic, factors or logarithmic", text));
}

}  // namespace

std::string_view name(Domain domain) {
  switch (domain) {
    case Domain::automatic: return "automatic";
    case Domain::factors: return "factors";
    case Domain::logarithmic: return "logarithmic";
  }
  return "";
}

void add_epsilon_options(CLI::App& command, EpsilonOptions& options) {
  add_value(
      command, "--epsilon", [&options](const std::string& text) { options.epsilon = parse_positive_number(text); },
      "NUMBER", "How much entropy counts, in the costs' unit")
      ->required();
  add_value(
      command, "--first-epsilon",
      [&options](const std::string& text) { options.first_epsilon = parse_positive_number(text); }, "NUMBER",
      "What to begin with, dividing by 4 until it is epsilon;\nby default chosen by the costs");
  add_value(
      command, "--domain", [&options](const std::string& text) { options.domain = parse_domain(text); }, "DOMAIN",
      "factors (faster, but for large epsilon only),\nlogarithmic, or automatic (the default)");
}

void expect_epsilons(const EpsilonOptions& options) {
  if (options.first_epsilon == 0 || options.first_epsilon >= options.epsilon) return;
  throw UsageError(fmt::format("--first-epsilon is {}, expected {} at least, the value of --epsilon",
                               options.first_epsilon, options.epsilon));
}

nlohmann::ordered_json stages_json(const std::vector<sinkhorn::TransportStage>& stages) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& stage : stages) {
    json.push_back({{"epsilon", stage.epsilon}, {"iterations", stage.iterations}, {"domain", name(stage.domain)}});
  }
  return json;
}

std::string stages_summary(const std::vector<sinkhorn::TransportStage>& stages) {
  return fmt::format("  {:<10}{}{}\n", "domain", name(stages.back().domain),
                     stages.size() > 1
                         ? fmt::format("; epsilon from {:.3g} down in {} stages", stages.front().epsilon, stages.size())
                         : "");
}

}  // namespace plait::cli
