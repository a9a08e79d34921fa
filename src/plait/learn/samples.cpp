#include "plait/learn/samples.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/learn/row_sums.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::learn {

namespace {

constexpr double most = 0x1p200;  // so that squares of sums of products are finite
constexpr std::size_t most_classes = 1000;

}  // namespace

template <class T>
Samples<T>::Samples(mpi::Context& context, RowBlock<const T> own, std::span<const double> targets, Model model,
                    HeldOut held_out)
    : context_(context), own_(own), model_(model), held_out_(held_out) {
  mpi::agreed(context, [&](mpi::Alike& alike) {
    alike.add("number of columns", own.columns);
    alike.add("model", model);
    alike.add("share that is held out", held_out.share);
    alike.add("seed", held_out.seed);
    if (static_cast<Index>(targets.size()) != own.rows) {
      throw ArgumentError(
          fmt::format("there are {} targets, expected {}, one for each sample", targets.size(), own.rows));
    }
    if (!(held_out.share >= 0 && held_out.share < 1)) {
      throw ArgumentError(
          fmt::format("the share that is held out is {}, expected one from 0 to below 1", held_out.share));
    }
    targets_.assign(targets.begin(), targets.end());
  });
  count_ = mpi::all_reduce(context.comm(), own.rows, mpi::Operation::sum());
  first_ = mpi::sum_below(context.comm(), own.rows);
  if (count_ == 0 || own.columns == 0) {
    throw ArgumentError(fmt::format("the data are {} x {}, expected samples with numbers", count_, own.columns));
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

template <class T>
void Samples<T>::look_at_numbers() {
  mpi::agreed(context_, [&] {
    largest_.assign(at(dimension() + 1), 0);
    for (Index i = 0; i < own_.rows; ++i) {
      const T* row = own_.data + i * own_.leading_dimension;
      bool is_right = true;
      for (Index c = 0; c < dimension(); ++c) {
        const double size = std::abs(double{row[c]});
        is_right &= size <= most;
        largest_[at(c)] = std::max(largest_[at(c)], size);
      }
      if (!is_right) {
        Index c = 0;
        while (std::abs(double{row[c]}) <= most) ++c;
        throw ArgumentError(fmt::format(
            "the data have {} in row {}, column {} (counted from 0), expected finite numbers of at most {:.3g}", row[c],
            first_ + i, c, most));
      }
      const double target = targets_[i];
      const bool is_class = target == std::floor(target) && std::abs(target) < 0x1p31;
      if (model_ == Model::linear ? !(std::abs(target) <= most) : !is_class) {
        throw ArgumentError(
            fmt::format("the labels have {} in row {} (counted from 0), expected {}", target, first_ + i,
                        model_ == Model::linear ? "finite numbers" : "whole numbers below 2^31, one for each class"));
      }
      largest_.back() = std::max(largest_.back(), std::abs(target));
    }
  });
  mpi::all_reduce(context_.comm(), std::span<double>(largest_), mpi::Operation::maximum());
  largest_target_ = largest_.back();
  largest_.pop_back();
}

/// Puts the places of classes into their targets.
template <class T>
void Samples<T>::find_classes() {
  std::set<double> found;
  for (Index i = 0; i < own_.rows && found.size() <= most_classes; ++i) found.insert(targets_[i]);
  // One after the other, the least of all ranks that is above the last.
  while (classes_.size() <= most_classes) {
    const auto next = classes_.empty() ? found.begin() : found.upper_bound(classes_.back());
    const double own = next == found.end() ? HUGE_VAL : *next;
    const double least = mpi::all_reduce(context_.comm(), own, mpi::Operation::minimum());
    if (least == HUGE_VAL) break;
    classes_.push_back(least);
  }
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

template <class T>
void Samples<T>::sum_up() {
  const Index columns = dimension() + 1;  // the targets come last
  const auto n = static_cast<double>(training_);
  RowSums sums;
  mpi::agreed(context_, [&] { variances_.assign(at(columns), 0); });
  std::vector<double> bounds = largest_;
  bounds.push_back(model_ == Model::linear ? largest_target_ : static_cast<double>(classes_.size()));
  // f(sum, x) is what is added up.
  const auto add_up = [&](const auto& f) {
    Vector<double> numbers;
    for_each_block(false, [&](std::span<const Index> rows) {
      numbers.clear();
      for (const Index i : rows) {
        const T* row = own_.data + i * own_.leading_dimension;
        for (Index c = 0; c < dimension(); ++c) numbers.push_back(f(c, double{row[c]}));
        numbers.push_back(f(dimension(), targets_[i]));
      }
      sums.add(numbers.data(), static_cast<Index>(rows.size()), 0);
    });
    sums.merge(context_);
  };
  sums.begin(bounds, 0, 1, count_);
  add_up([](Index, double x) { return x; });
  for (Index c = 0; c < columns; ++c) means_.push_back(sums(0, c) / n);
  for (double& bound : bounds) bound *= 4 * bound;
  sums.begin(bounds, 0, 1, count_);
  add_up([&](Index c, double x) { return (x - means_[at(c)]) * (x - means_[at(c)]); });
  for (std::size_t c = 0; c < variances_.size(); ++c) {
    const double variance = sums(0, static_cast<Index>(c)) / n;
    variances_[c] = std::sqrt(variance) > 0x1p-50 * std::abs(means_[c]) ? variance : 0;  // else all are one number
  }
  target_variance_ = variances_.back();
  means_.pop_back();
  variances_.pop_back();
}

template class Samples<float>;
template class Samples<double>;

}  // namespace plait::learn
