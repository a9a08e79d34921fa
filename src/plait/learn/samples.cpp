#include "plait/learn/samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/collective/group_sums.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::learn {

namespace {

constexpr double most = 0x1p200;  // so that squares of sums of products are finite
constexpr std::size_t most_classes = 1000;

}  // namespace

void Rows::take(Index row, double* to) const {
  const auto copy = [&](const auto* from) {
    for (Index c = 0; c < columns_; ++c) to[c] = double{from[c]};
  };
  const std::byte* const from = bytes(row).data();
  element_bytes_ == Index{sizeof(float)} ? copy(reinterpret_cast<const float*>(from))
                                         : copy(reinterpret_cast<const double*>(from));
}

Samples::Samples(mpi::Context& context, const Rows& own, std::span<const double> targets, Model model, HeldOut held_out)
    : context_(context), own_(own), model_(model), held_out_(held_out) {
  mpi::agreed(context, [&](mpi::Alike& alike) {
    own.element_bytes() == Index{sizeof(float)} ? alike.add_type<float>() : alike.add_type<double>();
    alike.add("number of columns", own.columns());
    alike.add("model", model);
    alike.add("share that is held out", held_out.share);
    alike.add("seed", held_out.seed);
    if (static_cast<Index>(targets.size()) != own.count()) {
      throw ArgumentError(
          fmt::format("there are {} targets, expected {}, one for each sample", targets.size(), own.count()));
    }
    if (!(held_out.share >= 0 && held_out.share < 1)) {
      throw ArgumentError(
          fmt::format("the share that is held out is {}, expected one from 0 to below 1", held_out.share));
    }
    targets_.assign(targets.begin(), targets.end());
  });
  count_ = mpi::all_reduce(context.comm(), own.count(), mpi::Operation::sum());
  first_ = mpi::sum_below(context.comm(), own.count());
  if (count_ == 0 || own.columns() == 0) {
    throw ArgumentError(fmt::format("the data are {} x {}, expected samples with numbers", count_, own.columns()));
  }
  for_each_block(false, [&](std::span<const Index> rows) { training_ += static_cast<Index>(rows.size()); });
  training_ = mpi::all_reduce(context.comm(), training_, mpi::Operation::sum());
  if (training_ == 0) {
    throw ArgumentError(fmt::format("all of the {} samples are held out, expected some to learn from", count_));
  }
  look_at_numbers();
  if (model != Model::linear) find_classes();
  sum_up();
}

void Samples::look_at_numbers() {
  mpi::agreed(context_, [&] {
    std::vector<double> row(at(dimension()));
    for (Index i = 0; i < own_.count(); ++i) {
      own_.take(i, row.data());
      const auto wrong = std::ranges::find_if_not(row, [](double x) { return std::abs(x) <= most; });
      if (wrong != row.end()) {
        throw ArgumentError(fmt::format(
            "the data have {} in row {}, column {} (counted from 0), expected finite numbers of at most {:.3g}", *wrong,
            first_ + i, wrong - row.begin(), most));
      }
      const double target = targets_[i];
      const bool is_class = target == std::floor(target) && std::abs(target) < 0x1p31;
      if (model_ == Model::linear ? !(std::abs(target) <= most) : !is_class) {
        throw ArgumentError(fmt::format("the labels have {} in row {} (counted from 0), expected {}", target,
                                        first_ + i,
                                        model_ == Model::linear ? fmt::format("finite numbers of at most {:.3g}", most)
                                                                : "whole numbers below 2^31, one for each class"));
      }
    }
  });
}

/// Puts the places of classes into their targets.
void Samples::find_classes() {
  std::set<double> found;
  for (Index i = 0; i < own_.count() && found.size() <= most_classes; ++i) found.insert(targets_[i]);
  const std::vector<double> own(found.begin(), found.end());
  for (const double each : mpi::gather_on_all(context_.comm(), std::span<const double>(own))) found.insert(each);
  classes_.assign(found.begin(), found.end());
  if (classes_.size() > most_classes) {
    throw ArgumentError(
        fmt::format("the labels have more than {} different values, expected as many as there are "
                    "classes; a linear model takes any numbers",
                    most_classes));
  }
  if (classes_.size() == 1) {
    throw ArgumentError(fmt::format("all labels are {}, expected two classes or more", classes_[0]));
  }
  std::vector<Index> sizes(classes_.size());
  for (double& target : targets_) {
    target = static_cast<double>(std::ranges::lower_bound(classes_, target) - classes_.begin());
  }
  for_each_block(false, [&](std::span<const Index> rows) {
    for (const Index i : rows) ++sizes[at(label(i))];
  });
  mpi::all_reduce(context_.comm(), std::span<Index>(sizes), mpi::Operation::sum());
  const auto missing = std::ranges::find(sizes, Index{0});
  if (missing == sizes.end()) return;
  throw ArgumentError(
      fmt::format("class {} has no sample to learn from, as all of its are held out; expected one at least",
                  classes_[static_cast<std::size_t>(missing - sizes.begin())]));
}

void Samples::sum_up() {
  const Index columns = dimension() + 1;  // the targets come last
  const auto n = static_cast<double>(training_);
  Vector<double> numbers;
  mpi::agreed(context_, [&] {
    for (auto* each : {&lowest_, &highest_, &means_, &deviations_}) each->assign(at(columns), -HUGE_VAL);
    numbers.reserve(at(rows_at_once() * columns));
  });
  // Calls f(numbers, rows) with f_of(column, x) of all to learn from.
  const auto for_all = [&](const auto& f_of, const auto& f) {
    for_each_block(false, [&](std::span<const Index> rows) {
      numbers.resize(static_cast<Index>(rows.size()) * columns);
      double* to = numbers.data();
      for (const Index i : rows) {
        own_.take(i, to);
        to[dimension()] = targets_[i];
        for (Index c = 0; c < columns; ++c, ++to) *to = f_of(c, *to);
      }
      f(numbers.data(), static_cast<Index>(rows.size()));
    });
  };
  // Means of f_of(column, x).
  const auto average = [&](std::span<const double> bounds, const auto& f_of, std::vector<double>& to) {
    auto sums =
        mpi::agreed(context_, [&] { return collective::GroupSums(collective::window_within(bounds, 0, count_), 1); });
    for_all(f_of, [&](const double* its, Index rows) { sums.add(its, rows, 0); });
    sums.merge(context_);
    for (Index c = 0; c < columns; ++c) to[at(c)] = sums.rounded(0, c) / n;
  };
  for_all([](Index, double x) { return x; },
          [&](const double* its, Index rows) {
            for (Index i = 0; i < rows * columns; ++i) {
              const std::size_t c = at(i % columns);
              lowest_[c] = std::max(lowest_[c], -its[i]);
              highest_[c] = std::max(highest_[c], its[i]);
            }
          });
  for (auto* each : {&lowest_, &highest_}) {
    mpi::all_reduce(context_.comm(), std::span<double>(*each), mpi::Operation::maximum());
  }
  std::vector<double> bounds(at(columns));
  for (Index c = 0; c < columns; ++c) {
    lowest_[at(c)] *= -1;
    bounds[at(c)] = reach(c, 0);
  }
  average(bounds, [](Index, double x) { return x; }, means_);
  std::vector<double> reaches(at(columns));
  for (Index c = 0; c < columns; ++c) {
    double& mean = means_[at(c)];
    mean = std::clamp(mean, lowest_[at(c)], highest_[at(c)]);  // the number itself, where all are one
    reaches[at(c)] = reach(c, means_[at(c)]);
    bounds[at(c)] = reaches[at(c)] > 0 ? 1 : 0;
  }
  // Squares of shares of the largest one: they neither vanish nor overflow.
  const auto square = [&](Index c, double x) {
    const double share = reaches[at(c)] > 0 ? (x - means_[at(c)]) / reaches[at(c)] : 0;
    return share * share;
  };
  average(bounds, square, deviations_);
  for (Index c = 0; c < columns; ++c) {
    const double deviation = reaches[at(c)] * std::sqrt(deviations_[at(c)]);
    deviations_[at(c)] = deviation > 0x1p-50 * std::abs(means_[at(c)]) ? deviation : 0;
  }
}

Dealt deal(const Samples& samples, std::span<const Index> which, std::span<const Index> ranks,
           std::span<const Index> numbers) {
  mpi::Context& context = samples.context();
  Dealt sent, received;
  Vector<Index> counts;
  mpi::agreed(context, [&] {
    counts.resize(context.size());
    std::vector<std::size_t> order(which.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return ranks[i]; });
    for (const std::size_t i : order) {
      ++counts[ranks[i]];
      const auto row = samples.own().bytes(which[i]);
      sent.rows.insert(sent.rows.end(), row.begin(), row.end());
      sent.targets.push_back(samples.target(which[i]));
      sent.numbers.push_back(numbers[i]);
    }
  });
  const mpi::Communicator& comm = context.comm();
  received.targets = mpi::all_to_all(comm, std::span<const double>(sent.targets), counts);
  received.numbers = mpi::all_to_all(comm, std::span<const Index>(sent.numbers), counts);
  for (Index& each : counts) each *= samples.dimension() * samples.own().element_bytes();
  received.rows = mpi::all_to_all(comm, std::span<const std::byte>(sent.rows), counts);
  return received;
}

void Score::add(double said, double target) {
  ++count_;
  if (model_ != Model::linear) {
    if (said == target) sums_[0].add(1);
    return;
  }
  const double rest = target - middle_;
  sums_[0].add((said - target) * (said - target));
  sums_[1].add(rest);
  sums_[2].add(rest * rest);
}

double Score::of_all(mpi::Context& context) {
  collective::merge(context, sums_);
  count_ = mpi::all_reduce(context.comm(), count_, mpi::Operation::sum());
  const auto n = static_cast<double>(count_);
  const auto first = sums_[0].rounded<double>();
  if (count_ == 0 || model_ != Model::linear) return first / n;
  const auto sum = sums_[1].rounded<double>();
  sums_[2].add(-sum / n * sum);
  return 1 - first / sums_[2].rounded<double>();
}

Quality quality_of(const Samples& samples,
                   const std::function<void(std::span<const Index> rows, std::vector<double>& said)>& predict) {
  const bool is_linear = samples.model() == Model::linear;
  const Score none(samples.model(), is_linear ? samples.means().back() : 0);
  std::array scores{none, none};
  std::vector<double> said;
  for (const bool is_held_out : {false, true}) {
    samples.for_each_block(is_held_out, [&](std::span<const Index> rows) {
      predict(rows, said);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const Index row = rows[i];
        scores[is_held_out ? 1 : 0].add(said[i],
                                        is_linear ? samples.target(row) : samples.classes()[at(samples.label(row))]);
      }
    });
  }
  const double training = scores[0].of_all(samples.context());
  const double held_out = scores[1].of_all(samples.context());
  return {training, held_out, scores[1].count()};
}

}  // namespace plait::learn
