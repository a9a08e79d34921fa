#include "cli/learn/labelled_samples.hpp"

#include <limits>

#include "plait/base/rounding.hpp"

#include "cli/pictures/page.hpp"
#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

double parse_held_out(const std::string& text) {
  const double share = parse_share(text);
  if (share < 1) return share;
  throw ArgumentError(fmt::format("'{}' leaves no sample to learn from; expected a share below 1", text));
}

/// R² divides by the variance of the labels.
std::string score_text(double score, int digits) {
  return std::isfinite(score) ? fmt::format("{:.{}g}", score, digits) : "undefined";
}

}  // namespace

void LabelledSamples::options(Options& options) {
  command_ = &static_cast<CLI::App&>(options);
  options
      .reads("IN", input_, fmt::format("The samples: {} of real numbers; .svm files become dense", matrix_file),
             io::columns)
      ->required();
  options.reads("--labels", labels_,
                "A label of each sample: numbers, or for classes whole ones; those of a .svm file where none is given",
                io::columns);
  options.reads("--start", start_,
                "Weights to begin with, as -o writes them; without labels, IN is what --predictions tells of by them");
}

void LabelledSamples::prediction_options(Options& options) {
  options
      .writes("--predictions", predictions_, kind::matrix, "What the model says of the samples of --predict, or of IN")
      ->group(group::one_of);
  options
      .reads("--predict", others_,
             "Other samples, as many columns, to say the labels of, or to tell how many are right", io::columns)
      ->group(group::one_of);
  options.reads("--predict-labels", labels_of_others_,
                "Their labels, to tell how many are right; those of a .svm file where none is given", io::columns);
  add_value(options, "--held-out", held_out_, parse_held_out, "SHARE",
            "Samples to look at afterwards, and not to learn from, as 20% or 0.2, drawn at random; 0 by default");
  add_value(options, "--seed", seed_, parse_count_from_0, "NUMBER", "Of random numbers; 0 by default");
}

void LabelledSamples::check(const char* option, Index steps) {
  if (!others_ && labels_of_others_) {
    throw UsageError("--predict-labels is given, but not --predict; the labels of IN are those of --labels");
  }
  if (steps == 0 && start_.empty()) throw UsageError("{} is 0, but there is no --start", option);
  without_steps_ = steps == 0 ? "" : fmt::format("{} 0", option);
  constexpr std::array<std::string_view, 7> to_predict{"IN",      "--start", "--predictions", "--output",
                                                       "--model", "--net",   "--image"};
  for (const CLI::Option* each : command_->get_options()) {
    if (each->count() == 0 || each->get_group() == group::run) continue;
    if (std::ranges::find(to_predict, each->get_name()) != to_predict.end()) continue;
    to_learn_ = each->get_name();
    break;
  }
}

std::vector<Index> LabelledSamples::prepare(Work& work) {
  if (!labels_ && input_.kind == io::FileKind::svm) labels_ = input_;
  if (labels_) {
    if (labels_.kind == io::FileKind::svm) labels_ = io::labels_of(labels_);
  } else if (start_.empty() || predictions_.empty()) {
    throw ArgumentError(
        fmt::format("{} has no labels, expected them in a file of --labels, or --start and --predictions, which tell "
                    "what a model says of it",
                    input_.path));
  } else if (!to_learn_.empty()) {
    throw UsageError("{} is given, but {} has no labels (--labels): nothing is learnt, and --predictions tells of {}",
                     to_learn_, input_.path, input_.path);
  }
  if (!labels_of_others_ && others_.kind == io::FileKind::svm) labels_of_others_ = others_;
  if (labels_of_others_.kind == io::FileKind::svm) labels_of_others_ = io::labels_of(labels_of_others_);
  if (others_ && !labels_of_others_ && predictions_.empty()) {
    throw UsageError("--predict is given, but neither --predictions nor its labels (--predict-labels)");
  }
  mpi::agreed(work.context, [&] {
    const auto expect = [&](const InputFile& file, layout::Shape shape, const std::string& what) {
      expect_real(file);
      if (file.shape == shape) return;
      throw ArgumentError(fmt::format("{} is {}, expected {}: {}", work.files.called(file.path), io::shape_text(file),
                                      layout::to_string(shape), what));
    };
    const auto [rows, columns] = input_.shape;
    expect_real(input_);
    if (labels_) expect(labels_, {rows, 1}, "a label for each row of " + input_.path);
    if (others_) {
      others_ = io::with_columns_of(input_.path, input_, others_.path, others_);
      expect(others_, {others_.shape.rows, columns},
             fmt::format("the columns of {}, which is {}", input_.path, io::shape_text(input_)));
    }
    if (labels_of_others_) {
      expect(labels_of_others_, {others_.shape.rows, 1}, "a label for each row of " + others_.path);
    }
    const auto phase = [&](const io::MatrixFile& file) {
      return quotient_up(file.shape.rows, work.context.size()) *
             (file.shape.columns * (Index{sizeof(double)} + io::bytes(file.dtype)) + 32);
    };
    learning_bytes_ = labels_ ? phase(input_) : 0;
    predicting_bytes_ = predicts() ? learning_bytes_ + phase(others()) : 0;
  });
  return {learning_bytes_, predicting_bytes_};
}

void LabelledSamples::expect_memory(Work& work, Index more) const {
  work.expect_memory({learning_bytes_ + more, predicting_bytes_ + more});
}

Checkpoints::Identity LabelledSamples::identity(nlohmann::json settings, const std::string& limit) const {
  settings["held out"] = held_out_;
  settings["seed"] = seed();
  return {{input_.path, labels_.path, start_}, std::move(settings), 0, limit};
}

std::string LabelledSamples::report_input(Report& report) const {
  report.fact("input", input_);
  report.fact_or_null("labels", labels_.path);
  report.fact_or_null("start", start_);
  return fmt::format("{} of {}", counted(report.fact("samples", input_.shape.rows), "sample"),
                     counted(report.fact("columns", input_.shape.columns), "column"));
}

void LabelledSamples::with_rows(Work& work, const InputFile& file,
                                const std::function<void(const learn::Rows&)>& f) const {
  const auto read = [&]<class T>() {
    const auto matrix = work.read_rows<T>(file);
    const auto& tile = matrix.const_tiles()[0];
    f({tile.data(), tile.rows(), tile.columns(), tile.leading_dimension()});
  };
  input_.dtype == io::DType::f32 ? read.template operator()<float>() : read.template operator()<double>();
}

void LabelledSamples::read(Work& work, learn::Model model, const std::function<void(const learn::Samples&)>& f) const {
  with_rows(work, input_, [&](const learn::Rows& rows) {
    const auto labels = work.read_rows<double>(labels_);
    const std::span<const double> own(labels.const_tiles()[0].data(), at(rows.count()));
    const std::vector<ErrorWord> words{
        {"the data ", input_.path}, {"labels ", labels_.path}, {"are held out", "--held-out"}};
    work.in_words(words, [&] { f(learn::Samples(work.context, rows, own, model, {held_out_, seed()})); });
  });
}

void LabelledSamples::predict(Work& work, bool tells_numbers, const Predict& predict) {
  if (!predicts()) return;
  with_rows(work, others(), [&](const learn::Rows& rows) {
    tells_numbers ? predict_as<double>(work, rows, predict) : predict_as<std::int32_t>(work, rows, predict);
  });
}

template <class Label>
void LabelledSamples::predict_as(Work& work, const learn::Rows& all, const Predict& predict) {
  auto result = work.allocated<Label>(work.slabs({others().shape.rows, 1}), "what is said of " + others().path);
  const Index first = mpi::sum_below(work.context.comm(), all.count());
  mpi::agreed(work.context, [&] {
    std::vector<double> said;
    std::vector<double> row(at(all.columns()));
    Vector<Index> rows;
    for (Index i = 0; i < all.count(); ++i) {
      all.take(i, row.data());
      const auto wrong = std::ranges::find_if_not(row, [](double each) { return std::isfinite(each); });
      if (wrong != row.end()) {
        throw ArgumentError(fmt::format("{} has {} in row {}, column {} (counted from 0), expected finite numbers",
                                        others().path, *wrong, first + i, wrong - row.begin()));
      }
      rows.push_back(i);
      if (rows.count() < learn::Network::predicted_at_once && i + 1 < all.count()) continue;
      predict(all, rows, said);
      for (Index r = 0; r < rows.count(); ++r) {
        if (!std::isfinite(said[at(r)])) {
          throw ArgumentError(
              fmt::format("the model's outputs leave the range of numbers for row {} of {} (counted from 0)",
                          first + rows[r], others().path));
        }
        result.tiles()[0].data()[rows[r]] = static_cast<Label>(said[at(r)]);
      }
      rows.clear();
    }
  });
  const std::span<const Label> own(result.const_tiles()[0].data(), at(all.count()));
  if (labels_of_others_) score(work, own);
  if (!work.settings.page.empty()) count(work, own);
  if (!predictions_.empty()) work.write_array(predictions_, {1, {others().shape.rows}}, result);
}

template <class Label>
void LabelledSamples::score(Work& work, std::span<const Label> own) {
  const auto labels = work.read_rows<double>(labels_of_others_);
  const double* const right = labels.const_tiles()[0].data();
  learn::Score score(std::is_same_v<Label, double> ? learn::Model::linear : learn::Model::logistic,
                     work.highest(own.empty() ? -std::numeric_limits<double>::infinity() : right[0]));
  const Index first = mpi::sum_below(work.context.comm(), std::ssize(own));
  mpi::agreed(work.context, [&] {
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (!std::isfinite(right[i])) {
        throw ArgumentError(fmt::format("{} has {} in row {} (counted from 0), expected finite numbers",
                                        labels_of_others_.path, right[i], first + static_cast<Index>(i)));
      }
      score.add(static_cast<double>(own[i]), right[i]);
    }
  });
  score_of_others_ = score.of_all(work.context);
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

void LabelledSamples::report(Report& report, const learn::Quality& quality, bool tells_numbers) const {
  report.fact_or_null("predictions", predictions_);
  if (!has_labels()) {
    report.line("start", "{}{}", start_, tells_numbers ? "" : "; classes are counted from 0");
    return;
  }
  if (!start_.empty()) {
    const Index training = input_.shape.rows - quality.samples_held_out;
    report.line("start", start_ + (without_steps_.empty()
                                       ? ", as it is"
                                       : fmt::format(", then fitted on {} of {}; with {} it only predicts",
                                                     counted(training, "sample"), input_.path, without_steps_)));
  }
  const std::string key = tells_numbers ? "r2" : "accuracy";
  std::string words =
      fmt::format("{} of {}", score_text(report.fact(key + ".training", quality.training), 6), input_.path);
  if (report.fact("held_out", quality.samples_held_out) > 0) {
    report.fact(key + ".held_out", quality.held_out);
    words += fmt::format(", {} of {} held out", score_text(quality.held_out, 6),
                         counted(quality.samples_held_out, "sample"));
  }
  if (labels_of_others_) {
    words += fmt::format(", {} of {}", score_text(report.fact(key + ".predicted", score_of_others_), 6), others_.path);
  }
  report.line(tells_numbers ? "R^2" : "accuracy", words);
}

void LabelledSamples::draw_said(Report& report, bool tells_numbers) const {
  report.tile(fmt::format("{}", others().shape.rows), "samples of " + svg::escaped(others().path) + " predicted");
  constexpr std::size_t most_drawn = 50;
  std::vector<std::pair<Index, Index>> drawn(said_.begin(), said_.end());
  std::ranges::stable_sort(drawn, std::greater(), &std::pair<Index, Index>::second);
  const Index most = drawn.empty() ? 1 : drawn.front().second;
  drawn.resize(std::min(drawn.size(), most_drawn));
  std::ranges::sort(drawn);
  std::vector<std::vector<std::string>> rows{{tells_numbers ? "number" : "class", "samples", ""}};
  for (const auto& [which, count] : drawn) {
    const double from = least_said_ + width_ * static_cast<double>(which);
    rows.push_back({tells_numbers ? fmt::format("{:.6g} to {:.6g}", from, from + width_) : fmt::format("{}", which),
                    fmt::format("{}", count),
                    fmt::format("<svg class=\"bar\" aria-hidden=\"true\" viewBox=\"0 0 100 10\" "
                                "preserveAspectRatio=\"none\" stroke-width=\"10\"><path class=\"compute\" d=\"M0 "
                                "5h{:.1f}\"/></svg>",
                                100 * static_cast<double>(count) / static_cast<double>(most))});
  }
  const std::string left_out = drawn.size() == said_.size()
                                   ? ""
                                   : fmt::format("<p>The {} classes that are said most often, of {} that are.</p>\n",
                                                 drawn.size(), said_.size());
  report.figure(fmt::format("<h2>What is said of {}</h2>\n{}{}", svg::escaped(others().path), left_out, table(rows)));
}

void LabelledSamples::draw(Report& report, const learn::Quality& quality, bool tells_numbers) const {
  if (predicts()) draw_said(report, tells_numbers);
  const std::string what = tells_numbers ? "R²" : "accuracy";
  if (labels_of_others_) {
    report.tile(score_text(score_of_others_, 4), what + " of " + svg::escaped(others_.path));
  }
  if (!has_labels()) return;
  report.tile(score_text(quality.training, 4), what + " of samples to learn from");
  if (quality.samples_held_out > 0) {
    report.tile(score_text(quality.held_out, 4),
                fmt::format("{} of {} held out", what, counted(quality.samples_held_out, "sample")));
  }
}

}  // namespace plait::cli
