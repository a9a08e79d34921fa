#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/iterate/stagnation.hpp"
#include "plait/mpi/alike.hpp"

namespace plait::iterate {

/// When a run ends.
struct Limits {
  double tolerance = 1e-9;  ///< of the error
  Index most_iterations = 10'000;
};

/// \throws ArgumentError  a tolerance or a number of iterations below 0
void expect_valid(const Limits& limits);

/// Adds what all ranks have to give alike.
void name_arguments(const Limits& limits, mpi::Alike& arguments);
/// The same of a state to go on from: by its errors, which tell states of one problem apart.
void name_arguments(const Checkpoint& state, mpi::Alike& arguments);

/// One run: its errors so far, and the rule by which it ends. Local; what it is given has to be the same on all ranks.
class Course {
 public:
  /// \param measure  what the errors are, to begin a reason with: "the gradient"
  Course(const Limits& limits, Rounding rounding, std::string_view measure = "the error");

  /// Puts the errors into a checkpoint, and takes them from one.
  ///
  /// \throws ArgumentError  the checkpoint has as many iterations as are allowed, so that none is left to find the
  ///                        result by
  void save(Checkpoint& checkpoint) const;
  void resume(const Checkpoint& checkpoint);

  /// Notes what is left of the error after one more iteration. Takes no memory while `has_room`.
  void took(double error);
  /// What that error really is.
  void correct(double error) { state_.error = errors_.back() = error; }
  [[nodiscard]] bool has_room() const noexcept { return errors_.size() < errors_.capacity(); }
  void make_room() { errors_.reserve(2 * errors_.size() + 64); }

  /// Errors from the next one on are to fall; those before tell nothing of rounding if they did not.
  void forget_growth() noexcept { fall_from_ = errors_.size(); }

  /// Whether the error is what was wanted, or what rounding leaves.
  [[nodiscard]] bool is_due_to_end() const;
  /// The same, and the state then says which.
  [[nodiscard]] bool is_over();
  [[nodiscard]] bool is_at_limit() const noexcept { return state_.step >= limits_.most_iterations; }
  /// Whether the iteration to come is the last one that is allowed, or one after which `is_slow` may be true.
  [[nodiscard]] bool is_last() const noexcept { return state_.step + 1 >= limits_.most_iterations; }
  [[nodiscard]] bool is_to_be_asked() const noexcept { return iterate::is_to_be_asked(errors_.size() + 1); }
  /// Whether it is time to ask if there is a solution at all.
  [[nodiscard]] bool is_slow() const { return iterate::is_slow(errors_); }

  /// \param why  what may be the reason, to go on with after the error
  void end_at_limit(const std::string& why = {});
  /// As many epochs as were wanted are done.
  void finish();
  void end(End end, std::string reason);

  [[nodiscard]] const State& state() const noexcept { return state_; }
  /// After each iteration.
  [[nodiscard]] const std::vector<double>& errors() const noexcept { return errors_; }

 private:
  Limits limits_;
  Rounding rounding_;
  std::string measure_;
  State state_;
  [[nodiscard]] bool is_at_rounding() const { return is_rounding(errors_, rounding_, fall_from_); }

  std::vector<double> errors_;
  std::size_t fall_from_ = 0;
};

}  // namespace plait::iterate
