#include "plait/redistribute/check.hpp"
#include "plait/report/traffic.hpp"

#include "cli/host/job.hpp"
#include "cli/host/layouts.hpp"
#include "cli/redistribute/relabeled_plan.hpp"

namespace plait::cli {

namespace {

using layout::DistributedMatrix;
using layout::Layout;
using redistribute::Op;

/// A ← alpha·op(B) + beta·A from one layout to another. The result is checked from end to end, from the elements that
/// were read to those that are about to be written.
class Redistribute : public Job {
 public:
  void options(Options& options) override {
    options.describe(
        "Move and transform a matrix between layouts:  A <- alpha op(B) + beta A",
        R"(A file has no layout. Each rank reads and writes an even share of the file's rows (of its columns, if the file is in
Fortran order); that is also the layout where --from or --to is not given. The output has the order of the input; of a
Matrix Market file, Fortran order. HDF5 files, named .h5 or .hdf5, hold rows only.

)" + layout_help() +
            R"(
Example: transpose a matrix on 4 ranks, from blocks of 32 x 32 to blocks of 128 x 128
  mpirun -n 4 plait redistribute B.npy -o A.npy --op transpose \
    --from block-cyclic:32x32@2x2 --to block-cyclic:128x128@2x2,order=col)");
    options.reads("IN", b_, fmt::format("B: {}; FILE.h5:/path/in/it names one of several matrices", matrix_file))
        ->required();
    options
        .writes("-o,--output", output_, kind::matrix,
                "A: a .npy file, or HDF5 as FILE.h5 or FILE.h5:/path/in/it; may be IN or --into itself",
                {"IN", "--into"})
        ->group(group::one_of);
    add_path(options, "--per-rank", folder_, "DIR",
             "A: each rank writes its tiles into this folder, and layout.json describes them")
        ->group(group::one_of);
    add_value(options, "--op", op_, parse_op, "OP", op_words);
    add_value(options, "--from", wanted_from_, layout::LayoutSpec::parse, "LAYOUT", "How the ranks hold B before");
    add_value(options, "--to", wanted_to_, layout::LayoutSpec::parse, "LAYOUT",
              "How the ranks hold A after; of op(B)'s shape");
    add_flag(options, "--relabel", relabel_, "Let ranks change roles in --to so that the least data moves");
    add_value(options, "--alpha", alpha_, parse_scalar, "NUMBER",
              "Multiplies op(B); 1 by default. Whole, real or complex (1+2i) as the elements are");
    add_value(options, "--beta", beta_, parse_scalar, "NUMBER", "Multiplies the old A; 0 by default");
    options.reads("--into", into_, "The old A, of op(B)'s shape and type; needs --beta");
    add_value(options, "--memory", memory_budget_, parse_budget, "BYTES",
              "Staging memory of each rank beside its parts of B and A, such as 64M; 32M by default")
        ->group(group::run);
    options.host({.trace = true});
  }

  void check() override {
    if (!output_.empty() && !folder_.empty()) {
      throw UsageError("-o and --per-rank are both given, expected one of them");
    }
    if (relabel_ && !wanted_to_) {
      throw UsageError("--relabel is given, but --to is missing: the layout whose ranks change their roles");
    }
    expect_into_with_beta(into_.path, beta_, "A");
    if (wanted_from_) declare_layout_file(files, "--from", *wanted_from_);
    if (wanted_to_) declare_layout_file(files, "--to", *wanted_to_);
    if (!folder_.empty()) {
      files.also_written.push_back({description_in(folder_), "layout.json in the folder of --per-rank"});
    }
  }

  std::vector<Index> prepare(Work& work) override {
    mpi::Context& context = work.context;
    mpi::agreed(context, [&] {
      if (into_) expect_fitting_target();
      io::with_dtype(b_.dtype, [&]<class T>() { expect_scalars<T>({{"--alpha", alpha_}, {"--beta", beta_}}); });
    });
    const layout::Shape result = apply(op_, b_.shape);
    const auto layout_or_slab = [&](const char* option, const std::optional<layout::LayoutSpec>& spec,
                                    layout::Shape shape) {
      if (!spec) return io::slab_layout(shape, b_.order, context.size());
      return layout_of_option(context, option, *spec, shape);
    };
    from_.emplace(layout_or_slab("--from", wanted_from_, b_.shape));
    to_.emplace(layout_or_slab("--to", wanted_to_, result));
    in_file_.emplace(io::slab_layout(result, io::written_order(output_, b_.order), context.size()));
    if (relabel_) {
      mpi::agreed(context, [&] {
        const redistribute::SizedPair pair{{*from_, *to_, op_}, io::bytes(b_.dtype)};
        const KnownNodes nodes{context.topology().nodes_of_ranks(), network_weight(context.machine())};
        relabeled_ = relabeled_plan(pair, context.size(), nodes);
        to_ = to_->relabeled(relabeled_->relabeling.rank_of);
      });
    }
    if (!folder_.empty()) expect_writable_folder(context, folder_, *to_, files.read());
    return mpi::agreed(context, [&] { return memory_of_phases(context); });
  }

  void run(Work& work) override {
    io::with_dtype(b_.dtype, [&]<class T>() { run_as<T>(work); });
  }

  void report(Report& report, Work& work) override {
    const bool is_whole = folder_.empty();
    report.fact("input", b_);
    report.fact("op", name(op_));
    report.fact("alpha", scalar_json(alpha_, b_.dtype));
    report.fact("beta", scalar_json(beta_, b_.dtype));
    report.fact_or_null("into", into_.path);
    report.fact("output.path", is_whole ? output_ : folder_);
    report.fact("output.per_rank", !is_whole);
    report.fact("output.shape", to_->shape());
    report.fact("output.order", order_name((is_whole ? in_file_ : to_)->storage()));
    report.head("{}   B is {}, {}", formula(), layout::to_string(report.fact("shape", b_.shape)),
                report.fact("dtype", io::name(b_.dtype)));
    report.line("from", report.fact("from", layout_text(*from_, wanted_from_)));
    report.line("to", report.fact("to", layout_text(*to_, wanted_to_)));
    if (relabeled_) {
      const std::string saving = report_relabeled(report, *relabeled_);
      const Index before = report.fact("relabeled.volume_bytes_before", relabeled_->before.bytes);
      report.line("relabeled", "{} between ranks instead of {}", bytes_text(relabeled_->after.bytes),
                  bytes_text(before));
      report.line("", saving);
    }
    report.line("moved", "{}; planned in {}", moved_text(report.fact("redistribution", redistributed_)),
                seconds_text(report.fact("redistribution.plan_seconds", plan_seconds_)));
    report.line("", report_traffic(report));
    report.fact("redistribution.largest_rank_bytes", traffic_.largest_rank_bytes);
    report.fact("arrange", arranged_);
    if (!arrangements_.empty()) report.line("arranged", arrangements_ + ": " + moved_text(arranged_));
    report.fact("check", is_decided_ ? "passed" : "undecided");
    report.line("check", "{}; {}", check_text(), seconds_text(report.fact("check_seconds", check_seconds_)));
    work.report_end(report, fmt::format("{}{}: ", into_ ? into_.path + " and " : "", b_.path));
  }

 private:
  static Index parse_budget(std::string_view text) {
    constexpr Index least = 4096;  // redistribute::Options
    const Index bytes = parse_byte_count(text);
    if (bytes < least) throw ArgumentError(fmt::format("{} is {} bytes, expected at least {}", text, bytes, least));
    return bytes;
  }

  void expect_fitting_target() const {
    if (const layout::Shape expected = apply(op_, b_.shape); into_.shape != expected) {
      throw ShapeMismatch(fmt::format("--into: {} is {}, expected {}, the shape of op({}) for op = {}", into_.path,
                                      layout::to_string(into_.shape), layout::to_string(expected), b_.path, name(op_)));
    }
    if (into_.dtype != b_.dtype) {
      throw ArgumentError(fmt::format("--into: {} has elements of {}, expected {}, as {} has", into_.path,
                                      io::name(into_.dtype), io::name(b_.dtype), b_.path));
    }
  }

  [[nodiscard]] std::vector<Index> memory_of_phases(const mpi::Context& context) const {
    const auto bytes = [&](const Layout& layout) { return bytes_of_rank(layout, context.rank(), io::bytes(b_.dtype)); };
    const Index source = bytes(*from_);
    const Index target = bytes(*to_);
    const Index kept = into_ ? target : 0;  // A as it was waits while B is read
    const Layout b_slab = io::slab_layout(b_.shape, b_.order, context.size());
    std::vector<Index> phases{kept + bytes(b_slab), source + target};
    if (*from_ != b_slab) phases.push_back(kept + bytes(b_slab) + source);
    if (into_) {
      const Layout slab = io::slab_layout(to_->shape(), into_.order, context.size());
      phases.push_back(bytes(slab) + (slab == *to_ ? 0 : target));
    }
    if (!output_.empty() && *to_ != *in_file_) phases.push_back(target + bytes(*in_file_));
    const Index staging = std::min(memory_budget_, source + target);
    for (Index& phase : phases) phase += staging;
    return phases;
  }

  template <class T>
  void run_as(Work& work) {
    const T alpha = alpha_.as<T>();
    redistribute::Check<T> check(op_, alpha, beta_.as<T>());
    const auto checking = [&](auto&& f) { check_seconds_ += work.timed(f); };

    // Memory that is not written to costs nothing, so it does not matter that a new A is there before B is read.
    std::optional<DistributedMatrix<T>> a;
    if (into_) {
      a.emplace(work.read_matrix<T>(into_));
      checking([&] { check.read_target_before(*a); });
      arrange(work, a, *to_, "the old A for --to");
    } else {
      a.emplace(work.allocated<T>(*to_, layout::describe(*to_)));
    }
    std::optional<DistributedMatrix<T>> b(work.read_matrix<T>(b_));
    checking([&] { check.read_source(*b); });
    arrange(work, b, *from_, "B for --from");

    const std::string label = "redistributing";
    std::optional<redistribute::Redistribution> plan;
    plan_seconds_ = work.timed([&] { plan.emplace(planned(work, *from_, *to_, op_, label)); });
    redistributed_.seconds = work.timed([&] { execute(work, *plan, label, alpha, *b, beta_.as<T>(), *a); });
    redistributed_.bytes = alpha == T{0} ? 0 : matrix_bytes();
    traffic_ = report::gather_traffic(work.context, label);
    plan.reset();
    b.reset();

    if (folder_.empty()) arrange(work, a, *in_file_, "A for the file");
    using Verdict = typename redistribute::Check<T>::Verdict;
    Verdict verdict{};
    checking([&] {
      check.read_target_after(*a);
      verdict = check.verdict(work.context);
    });
    is_decided_ = verdict == Verdict::passed;
    if (verdict == Verdict::failed) {
      throw Error(ErrorKind::other,
                  "the check failed: the result is not alpha op(B) + beta A; it was not written. "
                  "plait or the machine is at fault");
    }
    if (folder_.empty()) return work.write_matrix(output_, *a);
    work.write(folder_, a->layout(), Index{sizeof(T)},
               [&](const io::Progress& progress) { write_folder(work.context, folder_, *a, progress); });
  }

  [[nodiscard]] Index matrix_bytes() const { return layout::elements(b_.shape) * io::bytes(b_.dtype); }

  [[nodiscard]] redistribute::Redistribution planned(Work& work, const Layout& from, const Layout& to, Op op,
                                                     const std::string& label) const {
    return {work.context, from, to, op, {.memory_budget = memory_budget_, .label = label}};
  }

  template <class T>
  void execute(Work& work, redistribute::Redistribution& plan, const std::string& label, T alpha,
               const DistributedMatrix<T>& source, T beta, DistributedMatrix<T>& target) const {
    const auto volume = plan.volume();
    work.meter.stage(label, (volume.received + volume.kept) * Index{sizeof(T)}, matrix_bytes(),
                     [&context = work.context, label] {
                       Index done = 0;
                       for (const Traffic& traffic : context.counters()[label].received) done += traffic.bytes;
                       return done;
                     });
    mpi::agreed(work.context, [&] { plan.execute(alpha, source, beta, target); });
  }

  /// Brings the matrix into another layout. Memory of the old one is given back.
  template <class T>
  void arrange(Work& work, std::optional<DistributedMatrix<T>>& matrix, const Layout& to, const std::string& what) {
    if (matrix->layout() == to) return;
    arranged_.seconds += work.timed([&] {
      auto result = work.allocated<T>(to, layout::describe(to));
      const std::string label = "arranging " + what;
      auto plan = planned(work, matrix->layout(), to, Op::identity, label);
      execute(work, plan, label, T{1}, *matrix, T{0}, result);
      matrix.emplace(std::move(result));
    });
    arranged_.bytes += matrix_bytes();
    arrangements_ += (arrangements_.empty() ? "" : ", ") + what;
  }

  /// A factor as it stands in a formula: whether it is negative, and what is written before the matrix.
  static std::pair<bool, std::string> factor(const Scalar& scalar) {
    std::string_view text = scalar.text();
    if (text.starts_with('(')) return {false, std::string(text) + "\u00b7"};
    if (text.ends_with('i') || text.ends_with('j')) return {false, fmt::format("({})\u00b7", text)};
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) text.remove_prefix(1);
    return {is_negative, std::abs(scalar.rounded().real()) == 1 ? "" : std::string(text) + "\u00b7"};
  }

  [[nodiscard]] std::string formula() const {
    const auto [alpha_is_negative, alpha] = factor(alpha_);
    std::string text = fmt::format("A \u2190 {}{}", alpha_is_negative ? "-" : "", alpha);
    text += op_ == Op::identity ? "B" : fmt::format("{}(B)", name(op_));
    if (beta_.is_zero()) return text;
    const auto [beta_is_negative, beta] = factor(beta_);
    return text + fmt::format(" {} {}A", beta_is_negative ? '-' : '+', beta);
  }

  static std::string layout_text(const Layout& layout, const std::optional<layout::LayoutSpec>& given) {
    if (given) return given->text();
    const auto spec = layout::spec_of(layout);
    return spec ? spec->text() : layout::describe(layout);
  }

  [[nodiscard]] std::string report_traffic(Report& report) const {
    std::string text = bytes_text(traffic_.of(PeerClass::self).bytes) + " within ranks";
    for (const PeerClass peer : peer_classes) {
      const std::string key = fmt::format("redistribution.{}.", name(peer));
      const Index bytes = report.fact(key + "bytes", traffic_.of(peer).bytes);
      const Index messages = report.fact(key + "messages", traffic_.of(peer).messages);
      if (peer == PeerClass::self || messages == 0) continue;
      text += fmt::format(", {} {} ({})", bytes_text(bytes), peer == PeerClass::node ? "within nodes" : "between nodes",
                          counted(messages, "message"));
    }
    return text;
  }

  [[nodiscard]] std::string_view check_text() const {
    if (!is_decided_) return "undecided: there are NaN or infinite elements";
    const bool is_copy = alpha_.is_one() && beta_.is_zero();
    const bool is_integral = io::with_dtype(b_.dtype, []<class T>() { return std::is_integral_v<T>; });
    return is_copy || is_integral ? "passed: equal checksums" : "passed: checksums equal to rounding";
  }

  InputFile b_;
  InputFile into_;               // A as it was; may be none
  std::string output_, folder_;  // one of them is empty
  Op op_ = Op::identity;
  std::optional<layout::LayoutSpec> wanted_from_, wanted_to_;
  bool relabel_ = false;
  Scalar alpha_{"1"};
  Scalar beta_{"0"};
  Index memory_budget_ = redistribute::Options{}.memory_budget;

  std::optional<Layout> from_, to_;         // how the ranks hold B and A
  std::optional<Layout> in_file_;           // how A is written, if into one file
  std::optional<RelabeledPlan> relabeled_;  // what made `to` of --to

  Moved redistributed_;
  Moved arranged_;            // between the layouts and the slabs of the files, where they differ
  std::string arrangements_;  // which those were, in words
  report::TrafficSummary traffic_;
  double plan_seconds_ = 0;
  bool is_decided_ = false;
  double check_seconds_ = 0;
};

}  // namespace

PLAIT_JOB(redistribute, Redistribute)

}  // namespace plait::cli
