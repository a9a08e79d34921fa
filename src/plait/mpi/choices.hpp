#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"
#include "plait/mpi/node/topology.hpp"

namespace plait::model {
class KnownAlternatives;
}

namespace plait::mpi {

/// What algorithms are chosen by on a context, and who is told which one was.
class Choices {
 public:
  /// \throws std::bad_alloc
  explicit Choices(const NodeTopology& topology);

  /// Where the ranks are, as the model takes it.
  [[nodiscard]] const model::Placement& placement() const noexcept { return placement_; }
  /// What the machine can do: assumed, unless it was set.
  [[nodiscard]] const model::Machine& machine() const noexcept { return machine_; }
  /// \throws ArgumentError  as `model::expect_valid`
  void set_machine(model::Machine machine);
  /// The algorithms of collective operations among such ranks, for choices between them.
  [[nodiscard]] model::KnownAlternatives& alternatives() noexcept { return *alternatives_; }

  /// A line on how an operation is carried out (see `model::describe`). Each line reaches the listener once; without a
  /// listener nobody needs to write one.
  void note(const std::string& line);
  [[nodiscard]] bool are_told() const noexcept { return listener_ != nullptr; }
  void tell(std::function<void(const std::string& line)> listener) { listener_ = std::move(listener); }

 private:
  model::Placement placement_;
  std::shared_ptr<model::KnownAlternatives> alternatives_;
  model::Machine machine_;
  std::function<void(const std::string&)> listener_;
  std::set<std::string> told_;
};

}  // namespace plait::mpi
