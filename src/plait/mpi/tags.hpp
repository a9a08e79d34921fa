#pragma once

#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/communicator.hpp"

namespace plait::mpi {

/// The message tags of a context. Ranks take and give back in the same order, and so agree on which are free without a
/// message.
class TagPool {
 public:
  /// \param highest  that messages may have
  explicit TagPool(int highest) noexcept : highest_(highest) {}

  /// The first of `count` consecutive ones that nobody has.
  /// \throws MpiError  when they are used up
  [[nodiscard]] int take(int count);
  void give_back(int first) noexcept;

  /// Where a failure has kept some ranks from taking, all go on above what any has taken. Collective over `comm`.
  void catch_up(const Communicator& comm);

 private:
  static constexpr int first_of_schedules = 16;  // those below serve plait's own control messages
  struct Range {
    int first;
    int count;
  };
  std::vector<Range> used_;          // sorted
  Index next_ = first_of_schedules;  // above all that were ever taken
  int highest_;
};

/// Consecutive tags that nobody else on the context uses, given back on destruction: see `Context::reserve_tags`.
class Tags {
 public:
  Tags(TagPool& pool, int count) : pool_(&pool), first_(pool.take(count)) {}
  Tags(Tags&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), first_(other.first_) {}
  Tags& operator=(Tags&&) = delete;
  ~Tags() {
    if (pool_ != nullptr) pool_->give_back(first_);
  }
  [[nodiscard]] int first() const noexcept { return first_; }

 private:
  TagPool* pool_;
  int first_;
};

}  // namespace plait::mpi
