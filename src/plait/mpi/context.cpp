#include "plait/mpi/context.hpp"

#include <algorithm>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"

namespace plait::mpi {

namespace {

constexpr int first_schedule_tag = 16;  // those below serve plait's own control messages

}  // namespace

Context::Context(MPI_Comm comm)
    : comm_(Communicator::duplicate(comm)), topology_(comm_), highest_tag_(comm_.highest_tag()) {}

// The lowest gap that is wide enough: a function of the calls so far, which all ranks make in the same order.
Context::Tags::Tags(Context& context, int count) : context_(&context), count_(count) {
  PLAIT_ASSERT(count >= 1, "tags are reserved to be used");
  auto& used = context.used_tags_;
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

bool Context::advance() noexcept {
  bool any = false;
  // One of them may enlist another.  NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t i = 0; i < activities_.size(); ++i) any = activities_[i]->advance() || any;
  return any;
}

void Context::poison(std::string_view why) {
  if (poison_.empty()) poison_ = why;
}

void Context::expect_usable() const {
  if (!poison_.empty()) throw MpiError("the context can't be used any more after an MPI error: " + poison_);
}

}  // namespace plait::mpi
