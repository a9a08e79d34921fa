#include "plait/learn/samples.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
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
    alike.add_type<T>();
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
    for (Index i = 0; i < own_.rows; ++i) {
      const T* row = own_.data + i * own_.leading_dimension;
      bool is_right = true;
      for (Index c = 0; c < dimension(); ++c) {
        is_right &= std::abs(double{row[c]}) <= most;
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
    }
  });
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
  Vector<double> numbers;
  mpi::agreed(context_, [&] {
    for (auto* each : {&lowest_, &highest_, &means_, &deviations_}) each->assign(at(columns), -HUGE_VAL);
    numbers.reserve(at(rows_at_once() * columns));
  });
  // Calls f(numbers, rows) with f_of(column, x) of all to learn from.
  const auto for_all = [&](const auto& f_of, const auto& f) {
    for_each_block(false, [&](std::span<const Index> rows) {
      numbers.clear();
      for (const Index i : rows) {
        const T* row = own_.data + i * own_.leading_dimension;
        for (Index c = 0; c < dimension(); ++c) numbers.push_back(f_of(c, double{row[c]}));
        numbers.push_back(f_of(dimension(), targets_[i]));
      }
      f(numbers.data(), static_cast<Index>(rows.size()));
    });
  };
  const auto add_up = [&](std::span<const double> bounds, const auto& f_of) {
    RowSums sums;
    sums.begin(bounds, 0, 1, count_);
    for_all(f_of, [&](const double* its, Index rows) { sums.add(its, rows, 0); });
    sums.merge(context_);
    return sums;
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
  const RowSums sums = add_up(bounds, [](Index, double x) { return x; });
  std::vector<double> reaches(at(columns));
  for (Index c = 0; c < columns; ++c) {
    means_[at(c)] =
        std::clamp(sums(0, c) / n, lowest_[at(c)], highest_[at(c)]);  // the number itself, where all are one
    reaches[at(c)] = reach(c, means_[at(c)]);
    bounds[at(c)] = reaches[at(c)] > 0 ? 1 : 0;
  }
  // Squares of shares of the largest one: they neither vanish nor overflow.
  const RowSums squares = add_up(bounds, [&](Index c, double x) {
    const double share = reaches[at(c)] > 0 ? (x - means_[at(c)]) / reaches[at(c)] : 0;
    return share * share;
  });
  for (Index c = 0; c < columns; ++c) {
    const double deviation = reaches[at(c)] * std::sqrt(squares(0, c) / n);
    deviations_[at(c)] = deviation > 0x1p-50 * std::abs(means_[at(c)]) ? deviation : 0;
  }
}

template <class T>
Dealt<T> deal(const Samples<T>& samples, std::span<const Index> which, std::span<const Index> ranks,
              std::span<const Index> numbers) {
  mpi::Context& context = samples.context();
  const RowBlock<const T> own = samples.own();
  Dealt<T> sent, received;
  Vector<Index> counts;
  mpi::agreed(context, [&] {
    counts.resize(context.size());
    std::vector<std::size_t> order(which.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return ranks[i]; });
    for (const std::size_t i : order) {
      ++counts[ranks[i]];
      const T* const row = own.data + which[i] * own.leading_dimension;
      sent.rows.insert(sent.rows.end(), row, row + own.columns);
      sent.targets.push_back(samples.target(which[i]));
      sent.numbers.push_back(numbers[i]);
    }
  });
  const mpi::Communicator& comm = context.comm();
  received.targets = mpi::all_to_all(comm, std::span<const double>(sent.targets), counts);
  received.numbers = mpi::all_to_all(comm, std::span<const Index>(sent.numbers), counts);
  for (Index& each : counts) each *= own.columns;
  received.rows = mpi::all_to_all(comm, std::span<const T>(sent.rows), counts);
  return received;
}

#define PLAIT_INSTANTIATE(T) \
  template class Samples<T>; \
  template Dealt<T> deal(const Samples<T>&, std::span<const Index>, std::span<const Index>, std::span<const Index>);
PLAIT_INSTANTIATE(float)
PLAIT_INSTANTIATE(double)
#undef PLAIT_INSTANTIATE

}  // namespace plait::learn
