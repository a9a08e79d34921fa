#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/io/progress.hpp"
#include "plait/mpi/activity.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

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

/// Tells how far a job is: a bar where there is a terminal, else a line on stderr every few seconds. Rank 0 tells, of
/// the whole as it judges by its own part; other ranks have a meter that does nothing.
///
/// A job goes through stages, each of a number of bytes. A stage tells how many are done through `progress()`, or is
/// asked whenever the context waits.
class Meter : private mpi::Activity {
 public:
  enum class When : unsigned char { never, if_long, from_the_start };

  Meter(mpi::Context& context, When when);
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  ~Meter() override;

  /// Begins a stage, in which this rank has a number of bytes to do, and all ranks have others; 0 of its own if nobody
  /// tells how many are done, and 0 of all where bytes tell nothing. `done`, if given, tells that.
  void stage(std::string what, Index own_bytes, Index all_bytes, std::function<Index()> done = {});

  /// Says in words what the stage has come to, where that is due.
  void say(const std::function<std::string()>& what);

  /// To be given to what reads or writes in this stage.
  [[nodiscard]] io::Progress progress();

  /// Ends the last stage and leaves a clean line.
  void finish();

 private:
  bool advance() noexcept override;
  void tell(Index done);
  [[nodiscard]] std::string pace(double seconds, Index done) const;
  void draw_bar(double seconds, Index done);
  void write_line(double seconds, Index done);

  mpi::Context& context_;
  bool tells_ = false;
  std::optional<Terminal> terminal_;  // none: lines
  bool every_stage_ = false;
  double next_seconds_ = 0;
  double stage_seconds_ = 0;  // when the stage began
  int calls_ = 0;
  Stopwatch since_start_;
  std::string what_;
  Index own_bytes_ = 0;
  Index all_bytes_ = 0;
  std::function<Index()> done_;
  bool drawn_ = false;
};

/// Seconds from when all ranks have come here until all have come to `seconds`. Collective over the context.
class JointStopwatch {
 public:
  explicit JointStopwatch(const mpi::Context& context) : context_(context) {
    mpi::barrier(context.comm());
    own_.restart();
  }
  [[nodiscard]] double seconds() const {
    return mpi::all_reduce(context_.comm(), own_.seconds(), mpi::Operation::maximum());
  }

 private:
  const mpi::Context& context_;
  Stopwatch own_;
};

}  // namespace plait::cli
