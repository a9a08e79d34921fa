#pragma once

#include <cstddef>
#include <span>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/sinkhorn/coffee/scale_in_place.hpp"
#include "plait/sinkhorn/scaling/rows.hpp"

namespace plait::bench {

/// The library's iteration by factors, without messages, as iterations in place are.
template <class T, class A>
class FactorIteration final : public sinkhorn::InPlaceIteration<A> {
 public:
  FactorIteration(matrix_view<const T> rows, std::span<const double> row_marginals,
                  std::span<const double> column_marginals)
      : sinkhorn::InPlaceIteration<A>(row_marginals, column_marginals), rows_(rows) {}

  void rows(std::span<A> sums) override {
    auto& of = this->factors();
    const sinkhorn::BatchVectors<A> vectors{of.v.data(), of.u.data(), sums};
    sinkhorn::RowsSwept swept;
    rows_.sweep({&vectors, 1}, {&swept, 1},
                [&of](std::size_t, Index i, A sum, sinkhorn::RowsSwept&) { return of.of_row(i, sum); });
  }
  void columns(std::span<const A> sums) override { rescale(0, sums, 0); }
  [[nodiscard]] Index steps(Index /*columns*/) const override { return 1; }
  void rescale(Index /*first*/, std::span<const A> sums, Index /*step*/) override {
    for (std::size_t j = 0; j < sums.size(); ++j) this->factors().v[j] = this->factors().of_column(j, sums[j]);
  }

 private:
  sinkhorn::DenseRows<T, A> rows_;
};

}  // namespace plait::bench
