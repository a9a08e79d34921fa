#include "plait/mpi/context.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/model/known_alternatives.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/environment.hpp"
#include "plait/mpi/error.hpp"

namespace plait::mpi {

namespace {

constexpr int first_schedule_tag = 16;  // those below serve plait's own control messages

// The ranks of an intercommunicator would send to those of the other group only.
MPI_Comm of_one_group(MPI_Comm comm) {
  int joins_groups = 0;
  // SMPI knows neither these nor the call.
  if constexpr (!is_simulated) check(MPI_Comm_test_inter(comm, &joins_groups), "MPI_Comm_test_inter");
  if (joins_groups != 0) throw ArgumentError("comm: is an intercommunicator, expected one of a single group");
  return comm;
}

// Simulated ranks are one process and need but one of them, which among thousands takes milliseconds to fill.
std::shared_ptr<model::KnownAlternatives> known_alternatives() {
  if constexpr (!is_simulated) return std::make_shared<model::KnownAlternatives>();
  static std::weak_ptr<model::KnownAlternatives> of_all;
  auto known = of_all.lock();
  if (!known) of_all = known = std::make_shared<model::KnownAlternatives>();
  return known;
}

}  // namespace

Context::Context(MPI_Comm comm)
    : comm_(Communicator::duplicate(of_one_group(comm))),
      topology_(comm_),
      next_tag_(first_schedule_tag),
      highest_tag_(comm_.highest_tag()) {
  agreed(*this, [&] {
    shared_staging_.emplace(topology_.node());  // first, as the ranks of a node wait for each other there
    machine_ = model::default_machine(network_message);
    placement_ = model::Placement::on_nodes(topology_.nodes_of_ranks());
    alternatives_ = known_alternatives();
  });
}

void Context::use_machine(model::Machine machine) {
  model::expect_valid(machine);
  machine_ = std::move(machine);
}

void Context::note_choice(const std::string& line) {
  if (tell_choice_ && told_choices_.insert(line).second) tell_choice_(line);
}

SharedMemory Context::allocate_shared(Index bytes) {
  std::erase_if(shared_memories_, [](const auto& known) { return known.second.expired(); });
  std::shared_ptr<SharedWindow> window;
  agreed(*this, [&] {
    expect_at_least("bytes", bytes, 0);
    window = std::make_shared<SharedWindow>();
    shared_memories_[allocated_shared_] = window;
  });
  ++allocated_shared_;
  SharedMemory result;
  bool shares = true;
  try {
    *window = SharedWindow(topology_.node(), bytes);
    result.window_ = std::move(window);
    result.bytes_ = result.window_->segment(topology_.node().rank());
  } catch (const OutOfMemory&) {  // on all ranks of the node
    shares = false;
  }
  agreed(*this, [&] {
    if (shares) return;
    result.ordinary_ = Buffer(bytes);
    result.bytes_ = result.ordinary_.bytes();
  });
  return result;
}

std::optional<SharedPlace> Context::find_shared(std::span<const std::byte> bytes) const {
  for (const auto& [number, known] : shared_memories_) {
    const auto window = known.lock();
    if (!window) continue;
    const std::span<const std::byte> own = window->segment(topology_.node().rank());
    const std::less_equal<const std::byte*> not_after;
    if (!not_after(own.data(), bytes.data()) || !not_after(bytes.data() + bytes.size(), own.data() + own.size())) {
      continue;
    }
    return SharedPlace{number, bytes.data() - own.data()};
  }
  return std::nullopt;
}

std::byte* Context::shared_address(int rank, SharedPlace place) const {
  const auto known = shared_memories_.find(place.memory);
  const auto window = known == shared_memories_.end() ? nullptr : known->second.lock();
  if (!window) {
    throw ArgumentError("shared memory of rank " + std::to_string(rank) + ": rank " + std::to_string(this->rank()) +
                        " has destroyed its own part of it already, expected all ranks of the node to keep theirs "
                        "until the last operation that uses any");
  }
  return window->segment(topology_.node_rank_of(rank)).data() + place.offset;
}

// One after the other, so that ranks agree in whatever order they give tags back. Only when the highest was reached,
// the lowest gap that is wide enough: then they have to give back in the same order, too.
Context::Tags::Tags(Context& context, int count) : context_(&context), count_(count) {
  PLAIT_ASSERT(count >= 1, "tags are reserved to be used");
  context.expect_all_ranks();  // or some would count on without the others
  auto& used = context.used_tags_;
  if (count <= context.highest_tag_ - context.next_tag_ + 1) {
    first_ = static_cast<int>(context.next_tag_);
    used.push_back({first_, count});
    context.next_tag_ += count;
    return;
  }
  Index first = first_schedule_tag;  // may come to lie one above the highest tag, which no int may hold
  auto next = used.begin();
  while (next != used.end() && next->first - first < count) {
    first = Index{next->first} + next->count;
    ++next;
  }
  if (count > context.highest_tag_ - first + 1) {
    throw MpiError("no " + std::to_string(count) + " message tags left of " + std::to_string(context.highest_tag_) +
                   ": too many schedules with too many strands exist at once");
  }
  first_ = static_cast<int>(first);
  used.insert(next, {first_, count});
}

Context::Tags::~Tags() {
  if (context_ == nullptr) return;
  auto& used = context_->used_tags_;
  used.erase(std::find_if(used.begin(), used.end(), [this](const TagRange& range) { return range.first == first_; }));
}

void Context::catch_up_with_tags() {
  if (size() > 1) all_reduce(comm_, std::span<Index>(&next_tag_, 1), Operation::maximum());
}

bool Context::advance() noexcept {
  bool any = false;
  // One of them may enlist another.  NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t i = 0; i < activities_.size(); ++i) any = activities_[i]->advance() || any;
  return any;
}

void Context::poison(std::string_view why) {
  if (poison_.empty()) poison_ = why;
}

void Context::expect_all_ranks() const {
  if (lent_) {
    throw ArgumentError(
        "a context of which some ranks sleep while a kernel runs on the others: expected the context "
        "that the kernel was given");
  }
}

void Context::expect_usable() const {
  expect_all_ranks();
  if (!poison_.empty()) throw MpiError("the context can't be used any more after an MPI error: " + poison_);
}

}  // namespace plait::mpi
