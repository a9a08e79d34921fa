#pragma once

#include <map>

#include "plait/learn/network/network.hpp"
#include "plait/learn/samples.hpp"

#include "cli/host/job.hpp"

namespace plait::cli {

/// What jobs that learn from samples have in common: IN with --labels, --start, --held-out and --seed, and with
/// --predictions or --predict what a model says of others, or of IN. Without labels nothing is learnt: what --start has
/// is the model.
class LabelledSamples {
 public:
  void options(Options& options);
  /// Those about what is made of others.
  void prediction_options(Options& options);
  /// \param steps  how many there are to be, by that option
  /// \throws UsageError
  void check(const char* option, Index steps);
  /// The bytes that this rank needs, while it learns and while it predicts. Collective.
  std::vector<Index> prepare(Work& work);
  /// The same with `more` in both phases, which were not known then. Collective.
  void expect_memory(Work& work, Index more) const;
  /// Of a checkpoint, with the settings of the job beside those of the samples.
  [[nodiscard]] Checkpoints::Identity identity(nlohmann::json settings, const std::string& limit) const;

  [[nodiscard]] const InputFile& input() const noexcept { return input_; }
  [[nodiscard]] bool has_labels() const noexcept { return static_cast<bool>(labels_); }  ///< once they are prepared
  [[nodiscard]] const std::string& start() const noexcept { return start_; }             ///< empty: from nothing
  [[nodiscard]] std::uint64_t seed() const noexcept { return static_cast<std::uint64_t>(seed_); }

  /// Reads them and calls f. Collective.
  void read(Work& work, learn::Model model, const std::function<void(const learn::Samples&)>& f) const;

  /// What a model says of some rows: numbers, or labels of classes.
  using Predict = std::function<void(const learn::Rows& rows, std::span<const Index> which, std::vector<double>& said)>;
  /// Writes what the model says of the samples of --predict, or of IN, and tells how right it is, as far as that is
  /// wanted. Collective.
  void predict(Work& work, bool tells_numbers, const Predict& predict);

  /// Facts about the samples; returns "10 samples of 3 columns".
  [[nodiscard]] std::string report_input(Report& report) const;
  /// Facts and lines about how right the model is, and about files.
  void report(Report& report, const learn::Quality& quality, bool tells_numbers) const;
  void draw(Report& report, const learn::Quality& quality, bool tells_numbers) const;

 private:
  /// Reads this rank's rows of a file, in the type in which samples are kept, and calls f with them. Collective.
  void with_rows(Work& work, const InputFile& file, const std::function<void(const learn::Rows&)>& f) const;
  /// How often each class was said, or numbers of each interval.
  void draw_said(Report& report, bool tells_numbers) const;
  [[nodiscard]] bool predicts() const noexcept { return others_ || !predictions_.empty(); }
  [[nodiscard]] const InputFile& others() const noexcept { return others_ ? others_ : input_; }
  template <class Label>
  void predict_as(Work& work, const learn::Rows& all, const Predict& predict);
  /// Compares what was said of this rank's others with their labels. Collective.
  template <class Label>
  void score(Work& work, std::span<const Label> own);
  template <class Label>
  void count(Work& work, std::span<const Label> own);

  const CLI::App* command_ = nullptr;     // until `check` has returned
  std::string without_steps_;             // "--epochs 0"; empty where that was given
  std::string to_learn_;                  // the first option given that only learning uses
  static constexpr Index intervals = 10;  // of numbers that were said
  InputFile input_, labels_;
  InputFile others_;  // of --predict; none: IN
  InputFile labels_of_others_;
  std::string start_, predictions_;
  double held_out_ = 0;
  Index seed_ = 0;
  Index learning_bytes_ = 0, predicting_bytes_ = 0;  // of this rank
  double score_of_others_ = 0;
  double least_said_ = 0, width_ = 0;  // of all numbers, and of an interval
  std::map<Index, Index> said_;        // how often, by class or interval: on rank 0, for the page
};

}  // namespace plait::cli
