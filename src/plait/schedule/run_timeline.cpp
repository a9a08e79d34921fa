#include "plait/schedule/run_timeline.hpp"

namespace plait::schedule {

namespace {

PeerClass farthest(const mpi::Context& context) {
  if (context.topology().nodes() > 1) return PeerClass::network;
  return context.size() > 1 ? PeerClass::node : PeerClass::self;
}

PeerClass class_of(const mpi::Context& context, const Compiled::Operation& operation) {
  switch (operation.kind) {
    case OperationKind::send:
    case OperationKind::receive: return context.topology().class_of(operation.peer);
    case OperationKind::request: return farthest(context);
    case OperationKind::signal:
    case OperationKind::await: return PeerClass::node;
    case OperationKind::reduce_local:
    case OperationKind::compute: break;
  }
  return PeerClass::self;
}

}  // namespace

void RunTimeline::open(mpi::Context& context, const Compiled& graph, const std::string& label,
                       std::uint64_t repetition) noexcept {
  run_ = context.timeline().open_run(label, static_cast<Index>(repetition), graph.size(), first_);
  if (run_ < 0) return;
  timeline_ = &context.timeline();
  for (int i = 0; i < graph.size(); ++i) {
    const Compiled::Operation& op = graph.operations[static_cast<std::size_t>(i)];
    of(i) = {.run = run_,
             .kind = op.kind,
             .peer_class = class_of(context, op),
             .peer = op.peer,
             .position = {op.position.stage, op.position.strand, op.position.segment}};
  }
  TimedRun& run = timeline_->run(run_);
  run.begin = run.end = steady_nanoseconds();
}

void RunTimeline::close() noexcept {
  timeline_->close_run();
  timeline_ = nullptr;
}

void RunTimeline::record_end(int operation, bool failed) noexcept {
  const Nanoseconds now = steady_nanoseconds();
  TimedOperation& op = of(operation);
  if (!has_work_ && !is_work(op.kind)) timeline_->was_idle_until(now);
  timeline_->happened(now);
  timeline_->run(run_).end = now;
  op.ended = now;
  op.failed = failed;
}

}  // namespace plait::schedule
