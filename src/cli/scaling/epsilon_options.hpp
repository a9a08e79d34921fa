#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "plait/sinkhorn/transport/transport.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// "auto", "factors", "logarithms"
[[nodiscard]] std::string_view name(sinkhorn::Domain domain);

/// How much entropy counts, of commands that have transports to do.
struct EpsilonOptions {
  double epsilon = 0;
  double first_epsilon = 0;  // 0: chosen
  sinkhorn::Domain method = sinkhorn::Domain::automatic;
};

/// Epsilon, what to begin with, and on what to iterate.
void add_epsilon_options(CLI::App& command, EpsilonOptions& options);

/// \throws UsageError  a first epsilon below the last one
void expect_epsilons(const EpsilonOptions& options);

/// "stages" of the JSON.
[[nodiscard]] nlohmann::ordered_json stages_json(const std::vector<sinkhorn::TransportStage>& stages);

/// The line of a summary that tells the method.
[[nodiscard]] std::string stages_summary(const std::vector<sinkhorn::TransportStage>& stages);

}  // namespace plait::cli
