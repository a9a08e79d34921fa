#pragma once

#include <string_view>

namespace plait::cli {

/// The terminal that a bar can be drawn on: stderr, or where a launcher of this machine passes stderr on through a
/// pipe, that of the launcher while it is in the foreground.
class Terminal {
 public:
  Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  /// Whether there is one.
  [[nodiscard]] explicit operator bool() const noexcept { return descriptor_ != -1; }

  /// What can't be drawn is lost.
  void draw(std::string_view text) const noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace plait::cli
