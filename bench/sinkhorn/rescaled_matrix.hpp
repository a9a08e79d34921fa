#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/memory.hpp"
#include "plait/sinkhorn/coffee/scale_in_place.hpp"

namespace plait::bench {

enum class Algorithm : unsigned char { typical, by_rows, blocked, scaling };
enum class Part : unsigned char { rows, columns, both };

[[nodiscard]] std::string_view name(Algorithm algorithm);

/// A matrix of which the given share of the entries is not 0, in no order, and what the algorithms do with it. All its
/// marginals are 1.
class RescaledMatrix {
 public:
  RescaledMatrix(Index n, double density);

  void rewrite() const;

  /// Begins an iteration.
  void make(Algorithm algorithm);
  void iterate();

  /// Sums each row up and divides by it: the part of an iteration that reads along the rows anyway.
  void rescale_rows();
  /// The other part, as each algorithm does it.
  void rescale_columns(Algorithm algorithm);

  /// Of the sums of rows, columns, or columns after both.
  [[nodiscard]] Index wrong_sums(Part part) const;
  /// Of the columns of diag(u) K diag(v).
  [[nodiscard]] Index wrong_plan() const;

  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(elements_.span()); }

 private:
  [[nodiscard]] matrix_view<double> view() const { return {elements_.data(), n_, n_, n_, StorageOrder::row_major}; }
  [[nodiscard]] double value(Index i, Index j) const;
  template <class F>
  void for_each_block(F&& f);

  Index n_;
  double density_;
  Array<double> elements_;
  std::vector<double> marginals_;
  std::vector<double> sums_;
  std::unique_ptr<sinkhorn::InPlaceIteration<double>> iteration_;
};

}  // namespace plait::bench
