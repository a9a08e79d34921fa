#include "cli/scaling/job.hpp"

namespace plait::cli {

using nlohmann::ordered_json;
using sinkhorn::Outcome;
using sinkhorn::Status;

namespace {

/// \throws NoResult  there is no plan, or one that is none; nothing is to be written
void expect_plan(const Problem& problem, const std::string& which) {
  const auto& [outcome, check, iterations, stages] = problem;
  const bool is_impossible = outcome.status == Status::no_support || outcome.status == Status::infeasible_marginals;
  const bool is_finite = std::isfinite(check.rows) && std::isfinite(check.columns) && std::isfinite(check.mass);
  if (!is_impossible && is_finite) return;
  const bool has_reason = is_impossible || outcome.status == Status::numerical_limit;
  const std::string status(name(has_reason ? outcome.status : Status::numerical_limit));
  const std::string reason =
      has_reason
          ? outcome.reason
          : fmt::format("the iterations ended ({}), but sums of the plan left the range of numbers", outcome.reason);
  throw NoResult(status, fmt::format("{}{}: {}; nothing was written", which, status, reason));
}

/// Where the iterations converged, but the plan's own sums are off by more than `accuracy`, the status becomes that of
/// a numerical limit: of small epsilons the vectors can't be worst from their neighbours.
void compare_with_check(Problem& problem, double accuracy) {
  Outcome& outcome = problem.outcome;
  const double off = std::max(problem.check.rows, problem.check.columns);
  if (outcome.status != Status::converged || off <= accuracy) return;
  outcome.status = Status::numerical_limit;
  outcome.reason = fmt::format(
      "the iterations reached an error of {:.3g}, but the sums of the plan are off by {:.3g}: this precision allows no "
      "better plan",
      outcome.error, off);
}

double roundoff_of(Precision stored) {
  if (stored == Precision::bf16) return sinkhorn::roundoff_of<simd::BFloat16>();
  return stored == Precision::f64 ? sinkhorn::roundoff_of<double>() : sinkhorn::roundoff_of<float>();
}

}  // namespace

ordered_json json_of(const sinkhorn::MarginalErrors& check) {
  return {{"rows", check.rows}, {"columns", check.columns}, {"mass", check.mass}};
}

ordered_json json_of(const std::vector<sinkhorn::TransportStage>& stages) {
  auto json = ordered_json::array();
  for (const auto& stage : stages) {
    json.push_back({{"epsilon", stage.epsilon}, {"iterations", stage.iterations}, {"method", name(stage.domain)}});
  }
  return json;
}

std::string list_of(const std::vector<double>& numbers, int digits) {
  constexpr std::size_t most = 64;
  const auto listed = std::span(numbers).first(std::min(numbers.size(), most));
  const std::string text = fmt::format("{:.{}g}", fmt::join(listed, ", "), digits);
  return numbers.size() > most ? fmt::format("{}, and {} more, which --json lists", text, numbers.size() - most) : text;
}

std::vector<ErrorWord> ScalingJob::error_words() const {
  return {{"the entry in ", file_.path},
          {" has only ", file_.path},
          {"the matrix is ", file_.path},
          {"the marginal of row ", options_.rows},
          {"the marginal of column ", options_.columns},
          {"the start has ", options_.start}};
}

void ScalingJob::run(Work& /*work*/) {
  const auto with_lost_entries = [this](std::string text) {
    for (const LostEntries& lost : lost_) text += lost.count > 0 ? "; " + describe(lost) : "";
    return text;
  };
  phase_.emplace(context());
  try {
    compute();
    Outcome& outcome = page_.outcome;
    if (checkpoints_) {
      const auto end = outcome.status == Status::converged         ? iterate::End::converged
                       : outcome.status == Status::iteration_limit ? iterate::End::limit
                                                                   : iterate::End::numbers;
      checkpoints_->end(end, outcome.reason);
    }
    write_seconds_ = phase_->seconds();
  } catch (const NoResult& error) {
    throw NoResult(error.status(), with_lost_entries(error.what()));
  } catch (const ArgumentError& error) {  // alike on all ranks
    throw ArgumentError(with_lost_entries(error.what()));
  }
}

std::vector<std::string> ScalingJob::made_of() const {
  if (file_) return {file_.path};
  std::vector<std::string> paths;
  for (const InputFile& file : options_.points.empty() ? options_.images : options_.points) paths.push_back(file.path);
  return paths;
}

void ScalingJob::describe_input() {
  mpi::agreed(context(), [&] {
    expect_real(file_);
    const auto [rows, columns] = file_.shape;
    if (at(std::max(rows, columns)) <= std::vector<double>().max_size()) return;
    throw ArgumentError(fmt::format("{} is {}, expected so few rows and columns that memory can hold a number for each",
                                    file_.path, layout::to_string(file_.shape)));
  });
  precision_ = options_.precision;
  if (precision_ != Precision::automatic) return;
  precision_ = file_.dtype == io::DType::f32 ? Precision::mixed : Precision::f64;
}

void ScalingJob::expect_dense_output(std::string_view option, std::string_view what) const {
  if (!ends_like(options_.output, ".mtx")) return;
  throw ArgumentError(fmt::format(
      "{}: {} would be a sparse {}, but {} is dealt with as a dense matrix, expected the name of a .npy file", option,
      options_.output, what, input()));
}

Index ScalingJob::bytes_of_vectors(Index rows, Index columns, Index problems) const {
  const Index of_acceleration = options_.how.limits.acceleration == sinkhorn::Acceleration::none ? 0 : 15;  // a column
  return problems * (6 * (rows + columns) + of_acceleration * columns) * Index{sizeof(double)};
}

std::vector<Index> ScalingJob::phases_of(const io::MatrixFile& file, Index beside_bytes, Index problems) const {
  const Index elements = io::slab_layout(file.shape, file.order, context().size()).elements_of(context().rank());
  const Index vectors = bytes_of_vectors(file.shape.rows, file.shape.columns, problems);
  const Index read = io::bytes(file.dtype);
  const Index kept = element_bytes(precision_);
  const bool is_reordered = file.order == StorageOrder::column_major;  // beside itself, when read and when written
  return {elements * std::max(is_reordered ? 2 * read : read, read == kept ? read : read + kept) + vectors,
          elements * (kept + std::max(beside_bytes, is_reordered ? kept : 0)) + vectors};
}

void ScalingJob::begin_iterations(const std::string& stage, Checkpoints::Identity identity) {
  identity.settings["acceleration"] = name(options_.how.limits.acceleration);
  checkpoints_.emplace(context(), settings, options_.how.limits.most_iterations, std::move(identity));
  read_seconds_ = phase_->seconds();
  work_->meter.stage(stage, 0, 0);
  phase_.emplace(context());
}

sinkhorn::Limits ScalingJob::limits() {
  const double tolerance = options_.tolerance_of(precision_);
  const auto listener = [this, tolerance](Index iteration, double error) {
    work_->meter.say(
        [&] { return fmt::format("iteration {}: error {:.2e}, tolerance {:.2e}", iteration, error, tolerance); });
    if (settings.page.empty()) return;
    page_.log.took(iteration, error);
    if (settings.trace.empty() && page_.log.shown == IterationLog::most_shown) context().timeline().stop();
  };
  sinkhorn::Limits limits = options_.how.limits;
  limits.tolerance = tolerance;
  limits.listener = listener;
  if (!checkpoints_) return limits;
  checkpoints_->put_into(limits.checkpoints);
  limits.checkpoints.from = checkpoints_->from();
  return limits;
}

void ScalingJob::end_iterations() {
  if (checkpoints_) checkpoints_->end_iteration();
  iterate_seconds_ = phase_->seconds();
  phase_.emplace(context());
}

/// What the plan of converged vectors may be off by: ten times the tolerance and what rounding its elements leaves.
double ScalingJob::accuracy() const { return 10 * options_.tolerance_of(precision_) + 4 * roundoff_of(precision_); }

void ScalingJob::conclude(std::vector<Problem> problems) {
  problems_ = std::move(problems);
  const std::size_t count = problems_.size();
  const auto did_not_converge = [](const Problem& problem) { return problem.outcome.status != Status::converged; };
  const Problem* worst = nullptr;
  for (std::size_t k = 0; k < count; ++k) {
    Problem& problem = problems_[k];
    expect_plan(problem, count > 1 ? fmt::format("problem {} of {}: ", k, count) : "");
    compare_with_check(problem, accuracy());
    check_.rows = std::max(check_.rows, problem.check.rows);
    check_.columns = std::max(check_.columns, problem.check.columns);
    check_.mass += problem.check.mass;
    page_.iterations = std::max(page_.iterations, problem.iterations);
    const bool is_worse = worst != nullptr && !did_not_converge(*worst) &&
                          (did_not_converge(problem) || problem.outcome.error > worst->outcome.error);
    if (worst == nullptr || is_worse) worst = &problem;
  }
  Outcome& outcome = page_.outcome = worst->outcome;
  if (count == 1) page_.stages = worst->stages;
  if (count == 1 || outcome.status == Status::converged) return;
  const auto others = std::ranges::count_if(problems_, did_not_converge) - 1;
  outcome.reason = fmt::format("problem {}: {}{}", worst - problems_.data(), outcome.reason,
                               others == 0 ? "" : fmt::format("; {} more did not converge", others));
}

void ScalingJob::write_vectors(const std::vector<std::vector<double>>& rows,
                               const std::vector<std::vector<double>>& columns) {
  write_row_vectors(rows);
  if (extents_.dimensions > 0) {
    const auto [first, count] = own_elements(context(), extents_);
    return work().write_own(options_.of_columns, extents_,
                            std::span(std::as_const(columns[0])).subspan(at(first), at(count)));
  }
  work().write_elements<double>(
      options_.of_columns, {2, {std::ssize(columns), std::ssize(columns[0])}},
      [&](Index k, Index j) { return columns[at(k)][at(j)]; }, StorageOrder::column_major);
}

void ScalingJob::write_row_vectors(const std::vector<std::vector<double>>& own) {
  if (extents_.dimensions > 0) return work().write_own(options_.of_rows, extents_, std::span(std::as_const(own[0])));
  const Index first = mpi::sum_below(context().comm(), std::ssize(own[0]));
  const Index all = mpi::all_reduce(context().comm(), std::ssize(own[0]), mpi::Operation::sum());
  work().write_elements<double>(options_.of_rows, {2, {all, std::ssize(own)}},
                                [&](Index i, Index k) { return own[at(k)][at(i - first)]; });
}

Index ScalingJob::most_support_bytes() {
  Index bytes = std::max(node_memory().available / 2, Index{0});
  mpi::broadcast(context().comm(), std::span<Index>(&bytes, 1), 0);
  return bytes;
}

void ScalingJob::report_marginals(Report& report) const {
  report.fact_or_null("marginals.rows", options_.rows);
  report.fact_or_null("marginals.columns", options_.columns);
  report.fact_or_null("start", options_.start);
}

void ScalingJob::report_problems(Report& report, const std::vector<double>& costs,
                                 const std::vector<ordered_json>& values) const {
  constexpr std::size_t most_rows = 64;
  const std::size_t count = problems_.size();
  auto all = ordered_json::array();
  report.row("problems", "{}", count);
  std::size_t converged = 0;
  Index fewest = problems_[0].iterations;
  for (std::size_t k = 0; k < count; ++k) {
    const auto& [outcome, check, iterations, stages] = problems_[k];
    ordered_json& json = all.emplace_back(ordered_json{{"status", name(outcome.status)},
                                                       {"reason", outcome.reason},
                                                       {"iterations", iterations},
                                                       {"error", outcome.error},
                                                       {"check", json_of(check)}});
    if (!values.empty()) json.update(values[k]);
    converged += outcome.status == Status::converged ? 1 : 0;
    fewest = std::min(fewest, iterations);
    if (k >= most_rows) continue;
    report.row(fmt::format("problem {}", k), "{} after {}, error {:.2e}{}", name(outcome.status),
               counted(iterations, "iteration"), outcome.error,
               costs.empty() ? "" : fmt::format(", cost {:.10g}", costs[k]));
  }
  report.fact("problems", all);
  if (count > most_rows) report.row("further ones", "as --json tells");
  report.line("problems", "{} of {} converged, in {} to {} iterations", converged, count, fewest, page_.iterations);
  if (!costs.empty()) report.line("costs", list_of(costs, 10));
}

std::string ScalingJob::read_text() const {
  return fmt::format("{}: {} of {}", input(), layout::to_string(file_.shape), io::name(file_.dtype));
}

void ScalingJob::report(Report& report, Work& work) {
  const Outcome& outcome = page_.outcome;
  const Index iterations = page_.iterations;
  report.fact("input", input_facts());
  report.fact("shape", file_.shape);
  report.fact("dtype", io::name(file_.dtype));
  report.head(headline());
  report_own(report, page_);
  report.fact_in_row("precision", "precision", name(precision_));
  report.fact_in_row("tolerance", "tolerance", options_.tolerance_of(precision_));
  report.fact("acceleration", name(options_.how.limits.acceleration));
  report.line("status", "{}: {}", report.fact("status", name(outcome.status)), report.fact("reason", outcome.reason));
  report.fact_in_row("iterations", "iterations", iterations);
  const double each = iterations > 0 ? iterate_seconds_ / static_cast<double>(iterations) : 0;
  const int count = report.fact("threads_per_rank", threads());
  report.line("iterated", "{} in {}, {} each{}", counted(iterations, "iteration"), seconds_text(iterate_seconds_),
              seconds_text(each), count > 1 ? fmt::format(", by {} threads of a rank", count) : "");
  const Index resumed_at = report.fact("resumed_at", checkpoints_ ? checkpoints_->resumed_at() : 0);
  if (resumed_at > 0) {
    report.row("iterations that a checkpoint had", "{}", resumed_at);
    report.line("resumed", "after iteration {} of its stage", resumed_at);
  }
  report.fact_in_row("error", "error", outcome.error, "{:.2e}");
  report.fact("errors", outcome.errors);
  report.fact_in_row("check.rows", "relative error of sums of rows", check_.rows, "{:.2e}");
  report.fact_in_row("check.columns", "relative error of sums of columns", check_.columns, "{:.2e}");
  report.fact_in_row("check.mass", "sum of all", check_.mass);
  report.line("check", "total {:.6g}; rows are off by {:.2g} of it, columns by {:.2g}", check_.mass, check_.rows,
              check_.columns);
  const bool is_matrix = options_.points.empty() && extents_.dimensions == 0;
  const bool is_rounded = is_matrix && element_bytes(precision_) < io::bytes(file_.dtype);
  const double rounding = report.fact("input_rounding", is_rounded ? roundoff_of(precision_) / 2 : 0);
  if (is_rounded) {
    report.line("rounded", "{} to {}, each entry by up to {:.1g} of itself: the check is of the rounded matrix",
                input(), precision_ == Precision::bf16 ? "bf16" : "f32", rounding);
  }
  report.line("read", "{} in {}", read_text(), seconds_text(read_seconds_));
  std::vector<std::string> written;
  for (const std::string& output : {options_.output, options_.of_rows, options_.of_columns}) {
    if (!output.empty()) written.push_back(output);
  }
  if (!written.empty()) {
    report.line("wrote", "{} in {}", fmt::join(written, ", "), seconds_text(write_seconds_));
  }
  report.line("total", seconds_text(work.seconds));
  const auto time = [&](const char* key, const char* what, double seconds) {
    page_.times.push_back({what, seconds_text(report.fact(key, seconds))});
  };
  time("read_seconds", "reading", read_seconds_);
  time("iterate_seconds", "iterations, with checks of the input", iterate_seconds_);
  if (page_.log.seconds_each() > 0) {
    page_.times.push_back({"each iteration but the first", seconds_text(page_.log.seconds_each())});
  }
  time("write_seconds", "checking, drawing and writing", write_seconds_);
  time("seconds", "in all", work.seconds);
  report.fact("memory", work.memory);
  for (const LostEntries& lost : lost_) {
    if (lost.count > 0) print_warning(describe(lost));
  }
  if (outcome.status != Status::converged) {
    print_warning("{}: {}", name(outcome.status), outcome.reason);
  }
}

}  // namespace plait::cli
