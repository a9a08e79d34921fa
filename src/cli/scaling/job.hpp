#pragma once

#include "plait/simd/float16.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

#include "cli/host/job.hpp"
#include "cli/scaling/marginals.hpp"
#include "cli/scaling/matrices.hpp"
#include "cli/scaling/options.hpp"
#include "cli/scaling/page.hpp"

namespace plait::cli {

/// One of the problems of a job.
struct Problem {
  sinkhorn::Outcome outcome;
  sinkhorn::MarginalErrors check;  // of the plan as it is written
  Index iterations = 0;            // of all stages
  std::vector<sinkhorn::TransportStage> stages = {};
};

/// A job of matrix scaling or transport: what all have in common, from looking at the files to the report.
class ScalingJob : public Job {
 public:
  std::vector<Index> prepare(Work& work) final {
    work_ = &work;
    return look_at_files();
  }
  /// \throws NoResult  there is no plan
  void run(Work& work) final;
  void report(Report& report, Work& work) final;
  /// How it converged, the plan as a picture, which sums were wanted and reached, where the time went, and the timeline
  /// of some iterations.
  void draw(Report& report, Work& work) final;

 protected:
  /// Looks at the files and chooses the precision; returns what this rank needs in each phase. Collective.
  virtual std::vector<Index> look_at_files() = 0;
  /// Reads, iterates, gives `conclude` what it found, and writes. Collective.
  virtual void compute() = 0;
  /// The first line of the summary: what was computed of what. On rank 0.
  [[nodiscard]] virtual std::string headline() const = 0;
  [[nodiscard]] virtual nlohmann::ordered_json input_facts() const { return json_of(file_); }
  /// The files that were read, with the shapes of what is in them.
  [[nodiscard]] virtual std::string read_text() const;
  /// How many threads of a rank iterate.
  [[nodiscard]] virtual int threads() const { return context().topology().threads(); }
  /// States what the job has beside what all have. On rank 0.
  virtual void report_own(Report& report, PageFacts& page) const = 0;
  [[nodiscard]] std::vector<ErrorWord> error_words() const override;

  [[nodiscard]] Work& work() const { return *work_; }
  [[nodiscard]] mpi::Context& context() const { return work_->context; }
  /// What is scaled, in words: a file, or two of points.
  [[nodiscard]] std::string input() const {
    const std::vector<std::string> paths = made_of();
    if (paths.size() == 1) return paths[0];
    return paths.size() == 2 ? paths[0] + " and " + paths[1] : fmt::format("{} images", paths.size());
  }
  /// The file of IN, or those of points or images.
  [[nodiscard]] std::vector<std::string> made_of() const;

  // To prepare. Collective.

  /// Looks at IN, a matrix of real numbers, and chooses the precision.
  void describe_input();
  /// \throws ArgumentError  the output of this option is to be a Matrix Market file, but IN is dealt with as a dense
  ///                        matrix. Local
  void expect_dense_output(std::string_view option, std::string_view what) const;
  /// The phases of a job with the matrix of a file: reading it, and having it with `beside_bytes` an element beside it.
  [[nodiscard]] std::vector<Index> phases_of(const io::MatrixFile& file, Index beside_bytes, Index problems = 1) const;
  /// What the vectors of problems need, with those of the acceleration.
  [[nodiscard]] Index bytes_of_vectors(Index rows, Index columns, Index problems) const;

  // To work. Collective.

  template <class T>
  [[nodiscard]] layout::DistributedMatrix<T> read_dense(const InputFile& file);
  /// \pre  IN has a sparse_header
  template <class T>
  [[nodiscard]] layout::SparseRows<T> read_sparse_input();
  /// The file of --start.
  template <class A>
  [[nodiscard]] std::vector<A> read_start();
  /// All is read: where a checkpoint is asked for, one of this identity is looked for.
  void begin_iterations(const std::string& stage, Checkpoints::Identity identity);
  /// Those of the options; the meter, the page and, once the iterations begin, checkpoints follow these.
  [[nodiscard]] sinkhorn::Limits limits();
  void end_iterations();
  /// Judges the problems, and sums them up.
  ///
  /// \throws NoResult  one has no plan
  void conclude(std::vector<Problem> problems);
  /// What the sums of a plan, rows or sparse rows, are off by; notes for a page what it shows of it.
  template <class T, class Plan>
  [[nodiscard]] sinkhorn::MarginalErrors looked_at(const Plan& plan, const sinkhorn::CheckedMarginals& wanted);
  /// Writes both vectors of each problem: of this rank's rows as M x B, and of all columns as B x N; of images arrays.
  void write_vectors(const std::vector<std::vector<double>>& rows, const std::vector<std::vector<double>>& columns);
  void write_row_vectors(const std::vector<std::vector<double>>& own);
  /// The most memory that rank 0 takes to decide whether a sparse matrix has support: half of what its node has
  /// available, once it is read.
  [[nodiscard]] Index most_support_bytes();
  /// What an iteration reads of a sparse matrix, on all ranks.
  template <class T>
  [[nodiscard]] Index bytes_of(const layout::SparseRows<T>& rows);

  // To report.

  /// The files of marginals and of a start, and how far steps go.
  void report_marginals(Report& report) const;
  /// Several problems, each with `costs` and `values` beside what all have, where there are any.
  void report_problems(Report& report, const std::vector<double>& costs = {},
                       const std::vector<nlohmann::ordered_json>& values = {}) const;

  ScalingOptions options_;
  InputFile file_;            // IN, or without a path the costs between points
  io::Extents extents_ = {};  // of images, where vectors are arrays; else of no dimensions
  Precision precision_ = Precision::automatic;
  std::optional<Checkpoints> checkpoints_;
  std::vector<Problem> problems_;
  sinkhorn::MarginalErrors check_;  // sums are those that are off by most; the mass is that of all
  PageFacts page_;

 private:
  [[nodiscard]] double accuracy() const;

  Work* work_ = nullptr;  // from `prepare` on
  std::vector<LostEntries> lost_;
  std::optional<JointStopwatch> phase_;
  double read_seconds_ = 0;
  double iterate_seconds_ = 0;
  double write_seconds_ = 0;
};

/// Calls `f.template operator()<T, A>()` with what elements are stored in, and computed with.
///
/// \pre  they are stored in no fewer bits than f32
template <class F>
decltype(auto) with_numbers_of(Precision precision, F&& f) {
  switch (precision) {
    case Precision::f32: return f.template operator()<float, float>();
    case Precision::mixed: return f.template operator()<float, double>();
    default: return f.template operator()<double, double>();
  }
}

[[nodiscard]] nlohmann::ordered_json json_of(const sinkhorn::MarginalErrors& check);
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<sinkhorn::TransportStage>& stages);

/// Up to 64 of some numbers.
[[nodiscard]] std::string list_of(const std::vector<double>& numbers, int digits);

template <class A>
[[nodiscard]] std::vector<double> as_doubles(const std::vector<A>& numbers) {
  return {numbers.begin(), numbers.end()};
}

template <class T>
layout::DistributedMatrix<T> ScalingJob::read_dense(const InputFile& file) {
  return read_rows<T>(work(), file, lost_.emplace_back());
}

template <class T>
layout::SparseRows<T> ScalingJob::read_sparse_input() {
  const io::MatrixMarketHeader& header = *sparse_header(file_);
  work_->meter.stage("reading " + input(), text_bytes(header) / context().size(), text_bytes(header));
  return read_sparse<T>(context(), input(), header, work_->meter.progress(), lost_.emplace_back());
}

template <class A>
std::vector<A> ScalingJob::read_start() {
  if (options_.start.empty()) return {};
  InputFile file{{}, options_.start};
  if (extents_.dimensions > 0) file.describe(context(), io::arrays);
  const auto start =
      extents_.dimensions == 0 ? io::read_npy_vector(context(), options_.start) : read_all_rows<double>(work(), file);
  return mpi::agreed(context(), [&] {
    std::vector<A> numbers;
    for (const double value : start) {
      numbers.push_back(static_cast<A>(value));
      if ((numbers.back() == 0) == (value == 0) && std::isfinite(numbers.back()) == std::isfinite(value)) continue;
      throw ArgumentError(
          fmt::format("--start: element {} of {} is {}, beyond the range of f32; expected --precision f64",
                      numbers.size() - 1, options_.start, value));
    }
    return numbers;
  });
}

template <class T, class Plan>
sinkhorn::MarginalErrors ScalingJob::looked_at(const Plan& plan, const sinkhorn::CheckedMarginals& wanted) {
  auto sums = sinkhorn::marginal_sums<T>(context(), plan, wanted);
  const auto errors = sums.errors(context());
  if (settings.page.empty()) return errors;
  auto picture = mpi::agreed(context(), [&] { return picture_of<T>(plan, wanted); });
  page_.sketch = sketch_of(context(), std::move(picture), sums);
  return errors;
}

template <class T>
Index ScalingJob::bytes_of(const layout::SparseRows<T>& rows) {
  const Index each = Index{sizeof(T)} + Index{sizeof(rows.columns[0])};
  return each * mpi::all_reduce(context().comm(), rows.entries(), mpi::Operation::sum());
}

}  // namespace plait::cli
