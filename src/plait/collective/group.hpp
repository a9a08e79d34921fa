#pragma once

#include <vector>

#include "plait/mpi/context.hpp"

namespace plait::collective {

/// Some ranks of a context, in an order: what a communicator of its own is to MPI, without the cost of one. Who is the
/// i-th of them is the same on all.
class Group {
 public:
  /// Without communication. The ranks that it leaves out may have one, too: what builders append for them is nothing.
  ///
  /// \param ranks   of the context, each once
  /// \param widest  as many as the largest of the groups that do the same side by side has, such as the rows of a grid
  ///                whose last one is shorter: what comes next begins for all of them at one time. 0: this is it
  /// \throws ArgumentError  a rank that does not exist or comes twice, no rank at all, a `widest` below their number
  Group(const mpi::Context& context, std::vector<int> ranks, int widest = 0);

  [[nodiscard]] static Group all(const mpi::Context& context);

  /// The same ranks, the last one first.
  [[nodiscard]] Group reversed() const;

  [[nodiscard]] int size() const noexcept { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] int widest() const noexcept { return widest_; }
  [[nodiscard]] const std::vector<int>& ranks() const noexcept { return ranks_; }
  /// Of the context: which one is the `index`-th here.
  [[nodiscard]] int rank(int index) const { return ranks_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] bool contains_me() const noexcept { return me_ >= 0; }
  /// Index of the calling rank in the group; -1 if it is left out.
  [[nodiscard]] int me() const noexcept { return me_; }
  /// \throws ArgumentError  `root` is no index in the group
  void expect_member(int root) const;

  friend bool operator==(const Group&, const Group&) = default;

 private:
  std::vector<int> ranks_;
  int widest_;
  int me_ = -1;
};

}  // namespace plait::collective
