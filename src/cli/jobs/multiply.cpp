#include "plait/base/complex.hpp"
#include "plait/base/dtype.hpp"
#include "plait/dense/arrangement/choice.hpp"
#include "plait/dense/check.hpp"
#include "plait/dense/multiplication.hpp"

#include "cli/host/job.hpp"

namespace plait::cli {

namespace {

/// Calls `f.template operator()<T>()` with the C++ type of elements that can be multiplied.
/// \throws ArgumentError  naming the file, if they can't
template <class F>
decltype(auto) with_field(const InputFile& file, F&& f) {
  if (FieldDTypes::has(file.dtype)) return FieldDTypes::with(file.dtype, std::forward<F>(f));
  throw ArgumentError(
      fmt::format("{} has elements of {}, expected {}", file.path, name(file.dtype), FieldDTypes::names()));
}

/// C ← alpha·op(A)·op(B) + beta·C
class Multiply : public Job {
 public:
  void options(Options& options) override {
    options.describe(
        "Multiply matrices:  C <- alpha op(A) op(B) + beta C",
        R"(A and B have the same floating-point type, real or complex; C has it, too, in the order of A's file. The product is
checked with a random vector before it is written. With --memory, only what fits is chosen from.

Example: the product of a tall matrix's transpose with itself, on 4 ranks
  mpirun -n 4 plait multiply A.npy A.npy --op-a transpose -o C.npy)");
    options.reads("A", a_, fmt::format("A: {}", matrix_file))->required();
    options.reads("B", b_, "B: another, or the same")->required();
    options
        .writes("-o,--output", output_, kind::matrix, "C: a .npy or HDF5 file; may be A, B or --into itself",
                {"A", "B", "--into"})
        ->required();
    add_value(options, "--op-a", op_a_, parse_op, "OP", op_words);
    add_value(options, "--op-b", op_b_, parse_op, "OP", op_words);
    add_value(options, "--alpha", alpha_, parse_scalar, "NUMBER",
              "Multiplies the product; 1 by default. Real or complex (1+2i) as the elements are");
    add_value(options, "--beta", beta_, parse_scalar, "NUMBER", "Multiplies the old C; 0 by default");
    options.reads("--into", into_, "The old C, of the product's shape and type; needs --beta");
    add_choice(options, "--method", method_,
               {{"auto", std::nullopt},
                {"ring", dense::Method::ring},
                {"summa", dense::Method::summa},
                {"cannon", dense::Method::cannon},
                {"in-place", dense::Method::in_place}},
               "METHOD", "Algorithm: {}. auto takes the fastest, by the machine description");
    add_value(options, "--layers", layers_, parse_layers, "COUNT",
              "Layers of ranks, each of which sums a part of the terms: 2.5D; 1 for 2D; by default the fastest number");
    add_value(options, "--memory", memory_limit_, parse_byte_count, "BYTES",
              "Memory of each rank beside its parts of A, B and C, such as 2G; fewer layers take less")
        ->group(group::run);
    options.host({.trace = true});
  }

  void check() override {
    expect_into_with_beta(into_.path, beta_, "C");
    if (method_ == dense::Method::in_place && layers_ > 1) {
      throw UsageError("--layers is {}, but --method in-place has one layer only", layers_);
    }
  }

  std::vector<Index> prepare(Work& work) override {
    mpi::Context& context = work.context;
    return mpi::agreed(context, [&] {
      with_field(a_, []<class T>() {});
      expect_same_type(b_);
      with_field(a_, [&]<class T>() { expect_scalars<T>({{"--alpha", alpha_}, {"--beta", beta_}}); });
      const auto slab = [&](const io::MatrixFile& file) {
        return io::slab_layout(file.shape, file.order, context.size());
      };
      factors_.emplace(dense::Factors{slab(a_), slab(b_), op_a_, op_b_});
      shape_ = factors_->product_shape();
      const layout::Shape shape{shape_.rows, shape_.columns};
      if (into_ && into_.shape != shape) {
        throw ShapeMismatch(fmt::format("--into: {} is {}, expected {}, the shape of the product", into_.path,
                                        layout::to_string(into_.shape), layout::to_string(shape)));
      }
      if (into_) expect_same_type(into_);
      c_.emplace(io::slab_layout(shape, io::written_order(output_, a_.order), context.size()));
      expect_squares(context.size());
      const bool is_one_layer = method_ == dense::Method::cannon && layers_ == 0;
      wishes_ = {.method = method_, .mesh = {0, 0, is_one_layer ? 1 : layers_}, .memory_limit = memory_limit_};
      choice_ = dense::choose(*factors_, *c_, context.machine(), context.placement(), io::bytes(a_.dtype), wishes_);
      Index bytes = choice_->workspace_bytes;
      for (const layout::Layout& matrix : {factors_->a, factors_->b, *c_}) {
        bytes += bytes_of_rank(matrix, context.rank(), io::bytes(a_.dtype));
      }
      with_field(a_, [&]<class T>() { bytes += dense::ProductCheck<T>::memory_bytes(shape_); });
      return std::vector{bytes};
    });
  }

  [[nodiscard]] std::vector<ErrorWord> error_words() const override {
    return {{"memory_limit", "--memory"}, {"mesh", "--layers"}};
  }

  void run(Work& work) override {
    with_field(a_, [&]<class T>() { run_as<T>(work); });
  }

  void report(Report& report, Work& work) override {
    const auto file = [&](const std::string& key, const InputFile& its, redistribute::Op op) {
      report.fact(key, its);
      report.fact(key + ".op", name(op));
      return layout::to_string(report.fact(key + ".shape", its.shape));
    };
    report.head("{}   A is {}, B is {}, {}", formula(), file("a", a_, op_a_), file("b", b_, op_b_),
                report.fact("dtype", io::name(a_.dtype)));
    report.fact("alpha", scalar_json(alpha_, a_.dtype));
    report.fact("beta", scalar_json(beta_, a_.dtype));
    report.fact_or_null("into", into_.path);
    report.fact("output.path", output_);
    report.fact("output.shape", c_->shape());
    report.line("by", "{}; {} of workspace a rank", report.fact("arrangement", choice_->arrangement.describe()),
                bytes_text(report.fact("workspace_bytes", choice_->workspace_bytes)));
    report.line("took", "{}, {:.3g} GFlop/s; planned in {}",
                seconds_text(report.fact("multiplication.seconds", seconds_)),
                report.fact("multiplication.flops_per_second", seconds_ > 0 ? flops_ / seconds_ : 0) * 1e-9,
                seconds_text(report.fact("multiplication.plan_seconds", plan_seconds_)));
    report.fact("multiplication.predicted_seconds", choice_->seconds);
    report.fact("multiplication.flops", flops_);
    report_volume(report, work.context.size());
    const bool is_decided = residual_.verdict == dense::Residual::Verdict::passed;
    report.fact("check", is_decided ? "passed" : "undecided");
    const std::string verdict =
        fmt::format("passed: residual {:.2g} with a random vector, {:.2g} is rounding",
                    report.fact("residual", residual_.relative), report.fact("rounding", residual_.tolerance));
    report.line("check", "{}; {}", is_decided ? verdict : "undecided: there are NaN or infinite elements",
                seconds_text(report.fact("check_seconds", check_seconds_)));
    work.report_end(report, "");
  }

 private:
  static int parse_layers(std::string_view text) {
    const auto layers = number_in<int>(text);
    if (layers && *layers >= 1) return *layers;
    throw ArgumentError(fmt::format("'{}' is no number of layers; expected a whole number from 1 on", text));
  }

  void expect_same_type(const InputFile& file) const {
    if (file.dtype == a_.dtype) return;
    throw ArgumentError(fmt::format("{} has elements of {}, expected {}, as {} has", file.path, io::name(file.dtype),
                                    io::name(a_.dtype), a_.path));
  }

  /// Cannon's algorithm wants a square of ranks in each layer: with others, some of them would have nothing to do,
  /// which who asks for it by name may not expect.
  void expect_squares(int ranks) const {
    if (method_ != dense::Method::cannon) return;
    const int layers = layers_ == 0 ? 1 : layers_;
    int edge = 1;
    while ((edge + 1) * (edge + 1) <= ranks / layers) ++edge;
    if (Index{layers} * edge * edge == ranks || layers > ranks) return;  // too many layers are an error of their own
    throw ArgumentError(fmt::format("--method cannon: there are {} ranks, expected {} or {}, a square{}", ranks,
                                    layers * edge * edge, layers * (edge + 1) * (edge + 1),
                                    layers_ == 0 ? ", or --layers" : " for each of the layers"));
  }

  template <class T>
  void run_as(Work& work) {
    const T alpha = alpha_.as<T>();
    const T beta = beta_.as<T>();
    dense::ProductCheck<T> check(work.context, op_a_, op_b_, alpha, beta);
    auto c = into_ ? work.read_matrix<T>(into_, *c_, "C") : work.allocated<T>(*c_, "C");
    const auto a = work.read_matrix<T>(a_);
    const auto b = work.read_matrix<T>(b_);
    check_seconds_ = work.timed([&] {
      check.read_before(c);
      check.read_factors(a, b);
    });

    work.meter.stage("multiplying", 0, 0);
    std::optional<dense::Multiplication<T>> product;
    plan_seconds_ = work.timed([&] { product.emplace(work.context, *factors_, *c_, wishes_); });
    seconds_ = work.timed([&] { product->execute(alpha, a, b, beta, c); });
    choice_ = product->choice();
    if (alpha != T{0}) {  // else nothing is multiplied or sent
      flops_ = static_cast<double>(shape_.rows) * static_cast<double>(shape_.columns) *
               static_cast<double>(shape_.terms) * (is_complex<T> ? 8 : 2);
      received_bytes_ = work.highest(product->product_traffic().received.bytes);
      redistributed_bytes_ = work.highest(product->redistributed_bytes());
      bound_bytes_ = dense::least_elements_received(shape_, work.context.size()) * double{sizeof(T)};
    }

    check_seconds_ += work.timed([&] { residual_ = check.residual(c); });
    if (residual_.verdict == dense::Residual::Verdict::failed) {
      throw Error(ErrorKind::other,
                  fmt::format("the check failed: C x and alpha op(A) op(B) x + beta C x differ by {:.2g} of the "
                              "matrices' norms, where rounding explains {:.2g}; C was not written. plait, BLAS or the "
                              "machine is at fault",
                              residual_.relative, residual_.tolerance));
    }
    work.write_matrix(output_, c);
  }

  [[nodiscard]] std::string formula() const {
    const auto factor = [](const char* matrix, redistribute::Op op) {
      return op == redistribute::Op::identity ? matrix : fmt::format("{}({})", name(op), matrix);
    };
    std::string text = "C ← ";
    if (!alpha_.is_one()) text += fmt::format("({})·", alpha_.text());
    text += factor("A", op_a_) + "·" + factor("B", op_b_);
    if (!beta_.is_zero()) text += fmt::format(" + ({})·C", beta_.text());
    return text;
  }

  void report_volume(Report& report, int ranks) const {
    const double over_bound = bound_bytes_ > 0 ? static_cast<double>(received_bytes_) / bound_bytes_ : 0;
    const Index to_rearrange = report.fact("multiplication.redistributed_bytes", redistributed_bytes_);
    std::string text =
        fmt::format("at most {} to a rank", bytes_text(report.fact("multiplication.received_bytes", received_bytes_)));
    if (report.fact("multiplication.bound_bytes", bound_bytes_) > 0) {
      text += fmt::format(", {:.2f}× the lower bound", over_bound);
    }
    report.fact("multiplication.volume_over_bound", over_bound);
    text += to_rearrange == 0 ? "; operands not moved"
                              : fmt::format("; at most {} to rearrange operands", bytes_text(to_rearrange));
    if (ranks > 1) report.line("moved", text);
  }

  InputFile a_, b_;
  InputFile into_;  // C as it was; none if and only if beta is 0
  std::string output_;
  redistribute::Op op_a_ = redistribute::Op::identity;
  redistribute::Op op_b_ = redistribute::Op::identity;
  Scalar alpha_{"1"};
  Scalar beta_{"0"};
  std::optional<dense::Method> method_;
  int layers_ = 0;  // 0: chosen
  std::optional<Index> memory_limit_;

  std::optional<dense::Factors> factors_;  // as they are read
  std::optional<layout::Layout> c_;        // as it is written
  dense::ProductShape shape_;
  dense::MultiplicationOptions wishes_;

  std::optional<dense::Choice> choice_;
  double plan_seconds_ = 0;
  double seconds_ = 0;  // with the moves of operands
  double flops_ = 0;
  Index received_bytes_ = 0;       // by the rank that receives most, of the product
  Index redistributed_bytes_ = 0;  // likewise, of the moves of operands
  double bound_bytes_ = 0;         // the least that the busiest rank receives in any algorithm
  dense::Residual residual_;
  double check_seconds_ = 0;
};

}  // namespace

PLAIT_JOB(multiply, Multiply)

}  // namespace plait::cli
