#include "bench/overlap/overlap_active.hpp"

#include <chrono>
#include <optional>

#include "plait/mpi/node/active_ranks.hpp"

namespace plait::bench {

namespace {

// Sleepers are waited for before the next run begins, so that they had better not oversleep: they cost little as it is.
constexpr std::chrono::microseconds interval{200};

}  // namespace

struct ActiveOperands::State {
  State(mpi::Context& context, Operation operation, Index bytes) : active(context, 1, interval) {
    active.run([&](mpi::Context& few) { operands.emplace(few, Task{operation}, bytes); });
  }

  mpi::ActiveRanks active;
  std::optional<Operands> operands;  // of active ranks
};

ActiveOperands::ActiveOperands(mpi::Context& context, Operation operation, Index bytes)
    : state_(std::make_shared<State>(context, operation, bytes)) {}

void ActiveOperands::rewrite() const {
  if (state_->operands) state_->operands->rewrite();
}

std::function<void()> ActiveOperands::run_by(const Variant& variant) const {
  std::function<void()> run;
  state_->active.run([&](mpi::Context&) { run = state_->operands->run_by(variant); });
  return [state = state_, run] { state->active.run([&](mpi::Context&) { run(); }); };
}

Index ActiveOperands::wrong_elements() const { return state_->operands ? state_->operands->wrong_elements() : 0; }

}  // namespace plait::bench
