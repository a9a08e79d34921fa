#include "plait/mpi/choices.hpp"

#include <utility>

#include "plait/model/known_alternatives.hpp"
#include "plait/mpi/environment.hpp"
#include "plait/mpi/message.hpp"

namespace plait::mpi {

namespace {

// Simulated ranks are one process and need but one of them, which among thousands takes milliseconds to fill.
std::shared_ptr<model::KnownAlternatives> known_alternatives() {
  if constexpr (!is_simulated) return std::make_shared<model::KnownAlternatives>();
  static std::weak_ptr<model::KnownAlternatives> of_all;
  auto known = of_all.lock();
  if (!known) of_all = known = std::make_shared<model::KnownAlternatives>();
  return known;
}

}  // namespace

Choices::Choices(const NodeTopology& topology)
    : placement_(model::Placement::on_nodes(topology.nodes_of_ranks())),
      alternatives_(known_alternatives()),
      machine_(model::default_machine(network_message)) {}

void Choices::set_machine(model::Machine machine) {
  model::expect_valid(machine);
  machine_ = std::move(machine);
}

void Choices::note(const std::string& line) {
  if (listener_ && told_.insert(line).second) listener_(line);
}

}  // namespace plait::mpi
