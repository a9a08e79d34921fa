#include "cli/redistribute/redistribute_run.hpp"

#include <string>
#include <utility>

#include "plait/base/error.hpp"
#include "plait/io/matrix_output.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/redistribute/check.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "cli/job/allocated_matrix.hpp"
#include "cli/job/joint_stopwatch.hpp"
#include "cli/job/layout_folder.hpp"
#include "cli/job/read_matrix.hpp"

namespace plait::cli {

namespace {

using layout::DistributedMatrix;
using layout::Layout;
using redistribute::Op;
using redistribute::Redistribution;

template <class T>
class RedistributeRun {
 public:
  RedistributeRun(mpi::Context& context, const RedistributeOptions& options, const RedistributeTask& task, Meter& meter)
      : context_(context),
        options_(options),
        task_(task),
        meter_(meter),
        alpha_(options.alpha.as<T>()),
        beta_(options.beta.as<T>()),
        check_(options.op, alpha_, beta_) {}

  RedistributeOutcome all() {
    const JointStopwatch watch(context_);
    auto result = redistributed();
    if (options_.output.empty()) {
      expect_right(result);
      write(result, [&] { write_folder(context_, options_.per_rank_folder, result, meter_.progress()); });
    } else {
      result = arranged(std::move(result), task_.output_slab, "A for the file");
      expect_right(result);
      write(result, [&] { io::write_matrix_file(context_, options_.output, result, meter_.progress()); });
    }
    meter_.finish();
    outcome_.seconds = watch.seconds();
    return outcome_;
  }

 private:
  [[nodiscard]] DistributedMatrix<T> allocated(const Layout& layout) {
    return allocated_matrix<T>(context_, layout, layout::describe(layout));
  }

  [[nodiscard]] DistributedMatrix<T> read(const std::string& path, const io::MatrixFile& file) {
    return read_matrix<T>(context_, path, file, meter_, outcome_.read);
  }

  void execute(Redistribution& plan, const std::string& label, T alpha, const DistributedMatrix<T>& source, T beta,
               DistributedMatrix<T>& target) {
    const auto volume = plan.volume();
    meter_.stage(label, (volume.received + volume.kept) * Index{sizeof(T)}, task_.matrix_bytes(), [this, label] {
      Index done = 0;
      for (const Traffic& traffic : context_.counters()[label].received) done += traffic.bytes;
      return done;
    });
    mpi::agreed(context_, [&] { plan.execute(alpha, source, beta, target); });
  }

  [[nodiscard]] Redistribution planned(const Layout& from, const Layout& to, Op op, const std::string& label) {
    return {context_, from, to, op, {.memory_budget = options_.memory_budget, .label = label}};
  }

  /// The same matrix in another layout. Memory of the old one is given back.
  [[nodiscard]] DistributedMatrix<T> arranged(DistributedMatrix<T> matrix, const Layout& to, const std::string& what) {
    if (matrix.layout() == to) return matrix;
    const JointStopwatch watch(context_);
    auto result = allocated(to);
    {
      const auto old = std::move(matrix);
      const std::string label = "arranging " + what;
      auto plan = planned(old.layout(), to, Op::identity, label);
      execute(plan, label, T{1}, old, T{0}, result);
    }
    outcome_.arranged.seconds += watch.seconds();
    outcome_.arranged.bytes += task_.matrix_bytes();
    outcome_.arrangements += (outcome_.arrangements.empty() ? "" : ", ") + what;
    return result;
  }

  template <class F>
  void checking(F&& f) {
    const JointStopwatch watch(context_);
    std::forward<F>(f)();
    outcome_.check_seconds += watch.seconds();
  }

  [[nodiscard]] DistributedMatrix<T> target_before() {
    if (!task_.into) return allocated(task_.to);
    auto slab = read(options_.into, *task_.into);
    checking([&] { check_.read_target_before(slab); });
    return arranged(std::move(slab), task_.to, "the old A for --to");
  }

  [[nodiscard]] DistributedMatrix<T> source() {
    auto slab = read(options_.input, task_.input);
    checking([&] { check_.read_source(slab); });
    return arranged(std::move(slab), task_.from, "B for --from");
  }

  [[nodiscard]] DistributedMatrix<T> redistributed() {
    // Memory that is not written to costs nothing, so it does not matter that a new A is there before B is read.
    auto target = target_before();
    const auto b = source();
    const std::string label = "redistributing";
    const JointStopwatch planning(context_);
    auto plan = planned(task_.from, task_.to, options_.op, label);
    outcome_.plan_seconds = planning.seconds();
    const JointStopwatch watch(context_);
    execute(plan, label, alpha_, b, beta_, target);
    outcome_.redistributed = {alpha_ == T{0} ? 0 : task_.matrix_bytes(), watch.seconds()};
    outcome_.traffic = report::gather_traffic(context_, label);
    return target;
  }

  void expect_right(const DistributedMatrix<T>& result) {
    using Verdict = typename redistribute::Check<T>::Verdict;
    Verdict verdict{};
    checking([&] {
      check_.read_target_after(result);
      verdict = check_.verdict(context_);
    });
    outcome_.check = verdict == Verdict::passed ? "passed" : "undecided";
    if (verdict != Verdict::failed) return;
    throw Error(ErrorKind::other,
                "the check failed: the result is not alpha op(B) + beta A; it was not written. "
                "plait or the machine is at fault");
  }

  template <class F>
  void write(const DistributedMatrix<T>& result, F&& f) {
    const auto& where = options_.output.empty() ? options_.per_rank_folder : options_.output;
    meter_.stage("writing " + where, result.layout().elements_of(context_.rank()) * Index{sizeof(T)},
                 task_.matrix_bytes());
    const JointStopwatch watch(context_);
    f();
    outcome_.written = {task_.matrix_bytes(), watch.seconds()};
  }

  mpi::Context& context_;
  const RedistributeOptions& options_;
  const RedistributeTask& task_;
  Meter& meter_;
  T alpha_;
  T beta_;
  redistribute::Check<T> check_;
  RedistributeOutcome outcome_;
};

}  // namespace

RedistributeOutcome run(mpi::Context& context, const RedistributeOptions& options, const RedistributeTask& task,
                        Meter& meter) {
  return io::with_dtype(task.input.dtype,
                        [&]<class T>() { return RedistributeRun<T>(context, options, task, meter).all(); });
}

}  // namespace plait::cli
