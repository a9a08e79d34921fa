#include "cli/multiply/multiply_run.hpp"

#include <utility>

#include <fmt/format.h>

#include "plait/base/complex.hpp"
#include "plait/base/error.hpp"
#include "plait/dense/check.hpp"
#include "plait/dense/multiplication.hpp"
#include "plait/io/matrix_output.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "cli/job/allocated_matrix.hpp"
#include "cli/job/joint_stopwatch.hpp"
#include "cli/job/read_matrix.hpp"

namespace plait::cli {

namespace {

using layout::DistributedMatrix;

template <class T>
class MultiplyRun {
 public:
  MultiplyRun(mpi::Context& context, const MultiplyOptions& options, const MultiplyTask& task, Meter& meter)
      : context_(context),
        options_(options),
        task_(task),
        meter_(meter),
        alpha_(options.alpha.as<T>()),
        beta_(options.beta.as<T>()),
        check_(context, options.op_a, options.op_b, alpha_, beta_) {}

  MultiplyOutcome all() {
    const JointStopwatch watch(context_);
    auto c = task_.into ? arranged(read(options_.into, *task_.into)) : allocated();
    const auto a = read(options_.a, task_.a);
    const auto b = read(options_.b, task_.b);
    checking([&] {
      check_.read_before(c);
      check_.read_factors(a, b);
    });
    multiply(a, b, c);
    expect_right(c);
    write(c);
    meter_.finish();
    outcome_.seconds = watch.seconds();
    return outcome_;
  }

 private:
  [[nodiscard]] Index c_bytes() const { return layout::elements(task_.c.shape()) * Index{sizeof(T)}; }

  [[nodiscard]] DistributedMatrix<T> allocated() { return allocated_matrix<T>(context_, task_.c, "C"); }

  /// C as it was, in the order of the file that C goes to.
  [[nodiscard]] DistributedMatrix<T> arranged(DistributedMatrix<T> slab) {
    if (slab.layout() == task_.c) return slab;
    auto result = allocated();
    redistribute::Redistribution(context_, slab.layout(), task_.c).execute(slab, result);
    return result;
  }

  [[nodiscard]] DistributedMatrix<T> read(const std::string& path, const io::MatrixFile& file) {
    return read_matrix<T>(context_, path, file, meter_, outcome_.read);
  }

  template <class F>
  void checking(F&& f) {
    const JointStopwatch watch(context_);
    std::forward<F>(f)();
    outcome_.check_seconds += watch.seconds();
  }

  void multiply(const DistributedMatrix<T>& a, const DistributedMatrix<T>& b, DistributedMatrix<T>& c) {
    meter_.stage("multiplying", 0, 0);
    const JointStopwatch planning(context_);
    dense::Multiplication<T> product(context_, task_.factors, task_.c, task_.wishes);
    outcome_.plan_seconds = planning.seconds();
    const JointStopwatch watch(context_);
    product.execute(alpha_, a, b, beta_, c);
    outcome_.seconds_multiplied = watch.seconds();

    const dense::ProductShape shape = task_.shape();
    const auto most = [&](Index bytes) { return mpi::all_reduce(context_.comm(), bytes, mpi::Operation::maximum()); };
    const dense::Choice& choice = product.choice();
    outcome_.arrangement = choice.arrangement.describe();
    outcome_.workspace_bytes = choice.workspace_bytes;
    outcome_.predicted_seconds = choice.seconds;
    if (alpha_ == T{0}) return;  // then nothing is multiplied or sent
    outcome_.flops = static_cast<double>(shape.rows) * static_cast<double>(shape.columns) *
                     static_cast<double>(shape.terms) * (is_complex<T> ? 8 : 2);
    outcome_.received_bytes = most(product.product_traffic().received.bytes);
    outcome_.redistributed_bytes = most(product.redistributed_bytes());
    outcome_.bound_bytes = dense::least_elements_received(shape, context_.size()) * double{sizeof(T)};
  }

  void expect_right(const DistributedMatrix<T>& c) {
    dense::Residual residual;
    checking([&] { residual = check_.residual(c); });
    using Verdict = dense::Residual::Verdict;
    outcome_.check = residual.verdict == Verdict::passed ? "passed" : "undecided";
    outcome_.residual = residual.relative;
    outcome_.tolerance = residual.tolerance;
    if (residual.verdict != Verdict::failed) return;
    throw Error(
        ErrorKind::other,
        fmt::format("the check failed: C x and alpha op(A) op(B) x + beta C x differ by {:.2g} of the matrices' "
                    "norms, where rounding explains {:.2g}; C was not written. plait, "
                    "BLAS or the machine is at fault",
                    residual.relative, residual.tolerance));
  }

  void write(const DistributedMatrix<T>& c) {
    meter_.stage("writing " + options_.output, task_.c.elements_of(context_.rank()) * Index{sizeof(T)}, c_bytes());
    const JointStopwatch watch(context_);
    io::write_matrix_file(context_, options_.output, c, meter_.progress());
    outcome_.written = {c_bytes(), watch.seconds()};
  }

  mpi::Context& context_;
  const MultiplyOptions& options_;
  const MultiplyTask& task_;
  Meter& meter_;
  T alpha_;
  T beta_;
  dense::ProductCheck<T> check_;
  MultiplyOutcome outcome_;
};

}  // namespace

MultiplyOutcome run(mpi::Context& context, const MultiplyOptions& options, const MultiplyTask& task, Meter& meter) {
  return with_field(options.a, task.a.dtype,
                    [&]<class T>() { return MultiplyRun<T>(context, options, task, meter).all(); });
}

}  // namespace plait::cli
