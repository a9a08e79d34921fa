#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/learn/network/network.hpp"
#include "plait/learn/quality.hpp"
#include "plait/learn/samples.hpp"
#include "plait/mpi/collectives.hpp"

#include "cli/host/job.hpp"

namespace plait::cli {

/// What jobs that learn from samples have in common: IN with --labels, --start, --held-out and --seed, and with
/// --predictions what a model says of others, or of IN. Without labels nothing is learnt: what --start has is the
/// model.
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

  [[nodiscard]] const std::string& input() const noexcept { return input_; }
  [[nodiscard]] bool has_labels() const noexcept { return !labels_path_.empty(); }  ///< once they are prepared
  [[nodiscard]] const std::string& start() const noexcept { return start_; }        ///< empty: from nothing
  [[nodiscard]] const std::string& labels() const noexcept { return labels_path_; }
  [[nodiscard]] const io::MatrixFile& file() const noexcept { return file_; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return static_cast<std::uint64_t>(seed_); }
  [[nodiscard]] double share_held_out() const noexcept { return held_out_; }

  /// Calls f<T>() for the type in which they are kept.
  template <class F>
  void typed(const F& f) const {
    file_.dtype == io::DType::f32 ? f.template operator()<float>() : f.template operator()<double>();
  }
  /// Reads them and calls f(samples). Collective.
  template <class F>
  void read(Work& work, learn::Model model, const F& f) const {
    typed([&]<class T>() {
      const auto matrix = work.read_rows<T>(input_, file_);
      const auto labels = work.read_rows<double>(labels_path_, labels_file_);
      const std::span<const double> own(labels.const_tiles()[0].data(), at(labels.const_tiles()[0].rows()));
      f(learn::Samples<T>(work.context, block(matrix), own, model, {held_out_, seed()}));
    });
  }

  /// What a model says of some rows: numbers, or labels of classes.
  template <class T>
  using Predict =
      std::function<void(learn::RowBlock<const T> rows, std::span<const Index> which, std::vector<double>& said)>;
  /// Writes what the model says of the samples of --predict, if that is wanted. Collective.
  template <class T>
  void predict(Work& work, bool tells_numbers, const Predict<T>& predict) {
    if (predictions_.empty()) return;
    tells_numbers ? predict_as<T, double>(work, predict) : predict_as<T, std::int32_t>(work, predict);
  }

  /// Facts and lines about how right the model is, and about files.
  void report(Report& report, const learn::Quality& quality, bool tells_numbers) const;
  void draw(Report& report, const learn::Quality& quality, bool tells_numbers) const;

 private:
  template <class T>
  static learn::RowBlock<const T> block(const layout::DistributedMatrix<T>& matrix) {
    const auto& tile = matrix.const_tiles()[0];
    return {tile.data(), tile.rows(), tile.columns(), tile.leading_dimension()};
  }
  /// How often each class was said, or numbers of each interval.
  void draw_said(Report& report, bool tells_numbers) const;
  [[nodiscard]] const std::string& others() const noexcept { return others_.empty() ? input_ : others_; }
  template <class T, class Label>
  void predict_as(Work& work, const Predict<T>& predict);
  template <class Label>
  void count(Work& work, std::span<const Label> own);

  const CLI::App* command_ = nullptr;     // until `check` has returned
  std::string to_learn_;                  // the first option given that only learning uses
  static constexpr Index intervals = 10;  // of numbers that were said
  std::string input_, labels_path_, start_, others_, predictions_;
  double held_out_ = 0;
  Index seed_ = 0;
  io::MatrixFile file_, labels_file_, others_file_;
  double least_said_ = 0, width_ = 0;  // of all numbers, and of an interval
  std::map<Index, Index> said_;        // how often, by class or interval: on rank 0, for the page
};

// Implementation.

template <class T, class Label>
void LabelledSamples::predict_as(Work& work, const Predict<T>& predict) {
  const auto matrix = work.read_rows<T>(others(), others_file_);
  const layout::Shape shape{others_file_.shape.rows, 1};
  auto result = work.allocated<Label>(
      mpi::agreed(work.context, [&] { return io::slab_layout(shape, StorageOrder::row_major, work.context.size()); }),
      predictions_);
  const auto all = block(matrix);
  const Index first = mpi::sum_below(work.context.comm(), all.rows);
  mpi::agreed(work.context, [&] {
    std::vector<double> said;
    Vector<Index> rows;
    for (Index i = 0; i < all.rows; ++i) {
      const std::span<const T> row(all.data + i * all.leading_dimension, at(all.columns));
      const auto wrong = std::ranges::find_if_not(row, [](T each) { return std::isfinite(each); });
      if (wrong != row.end()) {
        throw ArgumentError(fmt::format("{} has {} in row {}, column {} (counted from 0), expected finite numbers",
                                        others(), *wrong, first + i, wrong - row.begin()));
      }
      rows.push_back(i);
      if (rows.count() < learn::Network::predicted_at_once && i + 1 < all.rows) continue;
      predict(all, rows, said);
      for (Index r = 0; r < rows.count(); ++r) {
        if (!std::isfinite(said[at(r)])) {
          throw ArgumentError(
              fmt::format("the model's outputs leave the range of numbers for row {} of {} (counted from 0)",
                          first + rows[r], others()));
        }
        result.tiles()[0].data()[rows[r]] = static_cast<Label>(said[at(r)]);
      }
      rows.clear();
    }
  });
  if (!work.settings.page.empty()) {
    count(work, std::span<const Label>(result.const_tiles()[0].data(), at(all.rows)));
  }
  work.write(predictions_, result.layout(), Index{sizeof(Label)}, [&](const io::Progress& progress) {
    io::write_matrix_file(work.context, predictions_, {1, {shape.rows}}, result, progress);
  });
}

template <class Label>
void LabelledSamples::count(Work& work, std::span<const Label> own) {
  constexpr bool are_numbers = std::is_same_v<Label, double>;
  if constexpr (are_numbers) {
    constexpr double none = -std::numeric_limits<double>::infinity();
    double low = none, high = none;
    for (const double each : own) low = std::max(low, -each), high = std::max(high, each);
    least_said_ = -work.highest(low);
    width_ = (work.highest(high) - least_said_) / static_cast<double>(intervals);
  }
  std::map<Index, Index> counts;
  for (const Label each : own) {
    if constexpr (are_numbers) {
      const double place = width_ > 0 ? (each - least_said_) / width_ : 0;
      ++counts[std::min(static_cast<Index>(place), intervals - 1)];
    } else {
      ++counts[each];
    }
  }
  std::vector<std::array<Index, 2>> pairs;
  for (const auto& [which, count] : counts) pairs.push_back({which, count});
  for (const auto& [which, count] : mpi::gather(work.context.comm(), std::span<const std::array<Index, 2>>(pairs))) {
    said_[which] += count;
  }
}

}  // namespace plait::cli
