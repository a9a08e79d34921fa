#include "plait/schedule/schedule.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plait/base/contract.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/schedule/executor.hpp"

namespace plait::schedule {

namespace {

// True on all ranks if the messages that each rank sends are those that the others receive: peers, order and lengths.
[[maybe_unused]] bool graphs_match(mpi::Context& context, const Compiled& graph) {
  const auto ranks = static_cast<std::size_t>(context.size());
  std::vector<std::uint64_t> sent, received;
  std::vector<Index> one;
  mpi::with_memory_on_all_ranks(context.comm(), [&] {
    sent.resize(ranks, 0), received.resize(ranks, 0);
    one.resize(ranks, 1);
  });
  for (const Compiled::Lane lane : {Compiled::sends, Compiled::receives}) {
    for (const int i : graph.lane_order[lane]) {
      const Compiled::Operation& op = graph.operations[static_cast<std::size_t>(i)];
      std::uint64_t& hash = (lane == Compiled::sends ? sent : received)[static_cast<std::size_t>(op.peer)];
      for (const Index value : {op.position.stage, op.position.strand, op.position.segment, op.range.bytes}) {
        hash = random_bits(hash, static_cast<std::uint64_t>(value));
      }
    }
  }
  const std::vector<std::uint64_t> announced = mpi::all_to_all<std::uint64_t>(context.comm(), sent, one);
  return mpi::all_reduce(context.comm(), announced == received ? 1 : 0, mpi::Operation::minimum()) == 1;
}

}  // namespace

Schedule::Schedule(mpi::Context& context, Graph graph, std::string label, Windows windows)
    : executor_(std::make_unique<Executor>(context, std::move(graph), std::move(label), windows)) {}

Schedule::Schedule(Schedule&&) noexcept = default;
Schedule& Schedule::operator=(Schedule&&) noexcept = default;
Schedule::~Schedule() = default;

void Schedule::start(std::span<const Binding> bindings, const void* arguments) {
  PLAIT_ASSERT_COMMUNICATING(was_started_ || graphs_match(executor_->context(), executor_->graph()),
                             "every message has its counterpart");
  was_started_ = true;
  executor_->start(bindings, arguments);
}
void Schedule::prepare() { executor_->prepare(); }
void Schedule::give_back() noexcept { executor_->give_back(); }
bool Schedule::progress() { return executor_->progress(); }
void Schedule::wait() { executor_->wait(); }
bool Schedule::active() const noexcept { return executor_->active(); }
std::string Schedule::describe() const { return executor_->describe(); }
const Exchanged& Schedule::traffic() const noexcept { return executor_->graph().traffic; }
Index Schedule::staging_bytes() const noexcept { return executor_->graph().staging_bytes; }

}  // namespace plait::schedule
