#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/learn/quality.hpp"
#include "plait/learn/samples.hpp"
#include "plait/mpi/collectives.hpp"

#include "cli/host/job.hpp"

namespace plait::cli {

/// What jobs that learn from samples have in common: IN with --labels, --held-out and --seed, and with --predict others
/// to say the labels of.
class LabelledSamples {
 public:
  void options(Options& options);
  /// Those about what is made of others.
  void prediction_options(Options& options);
  /// \throws UsageError
  void check() const;
  /// The bytes that this rank needs, while it learns and while it predicts. Collective.
  std::vector<Index> prepare(Work& work);

  [[nodiscard]] const std::string& input() const noexcept { return input_; }
  [[nodiscard]] const std::string& labels() const noexcept { return labels_path_; }
  [[nodiscard]] const io::MatrixFile& file() const noexcept { return file_; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return static_cast<std::uint64_t>(seed_); }
  [[nodiscard]] double share_held_out() const noexcept { return held_out_; }

  /// Reads them and calls f(samples). Collective.
  template <class F>
  void read(Work& work, learn::Model model, const F& f) const {
    const auto of = [&]<class T>() {
      const auto matrix = work.read_rows<T>(input_, file_);
      const auto labels = work.read_rows<double>(labels_path_, labels_file_);
      const std::span<const double> own(labels.const_tiles()[0].data(), at(labels.const_tiles()[0].rows()));
      f(learn::Samples<T>(work.context, block(matrix), own, model, {held_out_, seed()}));
    };
    file_.dtype == io::DType::f32 ? of.template operator()<float>() : of.template operator()<double>();
  }

  /// What a model says of some rows: numbers, or labels of classes.
  template <class T>
  using Predict =
      std::function<void(learn::RowBlock<const T> rows, std::span<const Index> which, std::vector<double>& said)>;
  /// Writes what the model says of the samples of --predict, if there are any. Collective.
  template <class T>
  void predict(Work& work, const learn::Samples<T>& samples, const Predict<T>& predict) const {
    if (predictions_.empty()) return;
    samples.model() == learn::Model::linear ? predict_as<T, double>(work, samples, predict)
                                            : predict_as<T, std::int32_t>(work, samples, predict);
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
  template <class T, class Label>
  void predict_as(Work& work, const learn::Samples<T>& samples, const Predict<T>& predict) const;

  std::string input_, labels_path_, others_, predictions_;
  double held_out_ = 0;
  Index seed_ = 0;
  io::MatrixFile file_, labels_file_, others_file_;
};

// Implementation.

template <class T, class Label>
void LabelledSamples::predict_as(Work& work, const learn::Samples<T>& samples, const Predict<T>& predict) const {
  const auto matrix = work.read_rows<T>(others_, others_file_);
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
                                        others_, *wrong, first + i, wrong - row.begin()));
      }
      rows.push_back(i);
      if (rows.count() < samples.rows_at_once() && i + 1 < all.rows) continue;
      predict(all, rows, said);
      for (Index r = 0; r < rows.count(); ++r) {
        result.tiles()[0].data()[rows[r]] = static_cast<Label>(said[at(r)]);
      }
      rows.clear();
    }
  });
  work.write(predictions_, result.layout(), Index{sizeof(Label)}, [&](const io::Progress& progress) {
    io::write_matrix_file(work.context, predictions_, {1, {shape.rows}}, result, progress);
  });
}

}  // namespace plait::cli
