#pragma once

#include <cstddef>
#include <vector>

namespace plait::mpi {

/// Something on a context that has to be moved along for other ranks to get on: an active schedule.
class Activity {
 public:
  virtual ~Activity() = default;
  /// Does what can be done without waiting; true if there was anything. Errors are kept for the owner.
  virtual bool advance() noexcept = 0;
};

/// The active work of a context. Whoever enlists dismisses before it ends.
class Activities {
 public:
  /// Who keeps room for itself as long as it exists can enlist without lack of memory.
  class Room {
   public:
    explicit Room(Activities& all) : all_(&all) {
      all.active_.reserve(all.active_.size() + all.rooms_ + 1);
      ++all.rooms_;
    }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    ~Room() { --all_->rooms_; }

   private:
    Activities* all_;
  };

  void enlist(Activity& activity) { active_.push_back(&activity); }
  void dismiss(Activity& activity) noexcept { std::erase(active_, &activity); }
  [[nodiscard]] std::size_t count() const noexcept { return active_.size(); }

  /// Moves all of it along; true if there was anything to do.
  bool advance() noexcept {
    bool any = false;
    // One of them may enlist another.  NOLINTNEXTLINE(modernize-loop-convert)
    for (std::size_t i = 0; i < active_.size(); ++i) any = active_[i]->advance() || any;
    return any;
  }

 private:
  std::vector<Activity*> active_;
  std::size_t rooms_ = 0;
};

}  // namespace plait::mpi
