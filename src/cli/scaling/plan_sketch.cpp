#include "cli/scaling/plan_sketch.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "plait/collective/calls.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::cli {

SumsSketch::SumsSketch(Index length) : length_(length), bins_(std::min(length, most_bins)) {
  highest_.resize(at(bins_));
  for (auto& highest : highest_) highest.fill(-std::numeric_limits<double>::infinity());
  sums_.resize(at(bins_));
}

void SumsSketch::add(Index i, double wanted, double reached) {
  const auto bin = at(i * bins_ / length_);
  const std::array numbers{-wanted, wanted, -reached, reached, std::abs(reached - wanted)};
  for (std::size_t k = 0; k < numbers.size(); ++k) highest_[bin][k] = std::max(highest_[bin][k], numbers[k]);
  sums_[bin][0] += wanted;
  sums_[bin][1] += reached;
}

void SumsSketch::unite(const mpi::Context& context) {
  if (bins_ == 0) return;
  mpi::all_reduce(context.comm(), std::span(highest_[0].data(), 5 * highest_.size()), mpi::Operation::maximum());
  mpi::all_reduce(context.comm(), std::span(sums_[0].data(), 2 * sums_.size()), mpi::Operation::sum());
}

SumsSketch::Bin SumsSketch::operator[](Index bin) const {
  const auto& highest = highest_[at(bin)];
  const auto& sums = sums_[at(bin)];
  const auto count = static_cast<double>(end_of(bin) - begin_of(bin));
  return {{-highest[0], sums[0] / count, highest[1]}, {-highest[2], sums[1] / count, highest[3]}, highest[4]};
}

PlanSketcher::PlanSketcher(const sinkhorn::CheckedMarginals& marginals)
    : marginals_(marginals),
      sketch_{MatrixPicture({marginals.all_rows, static_cast<Index>(marginals.columns.size())}),
              SumsSketch(marginals.all_rows), SumsSketch(static_cast<Index>(marginals.columns.size()))},
      columns_(marginals.columns.size()) {}

void PlanSketcher::end_row(Index i, double sum) {
  sketch_.rows.add(marginals_.first_row + i, marginals_.rows[at(i)], sum);
}

PlanSketch PlanSketcher::taken(mpi::Context& context) {
  collective::allreduce(context, std::span<double>(columns_), simd::ReduceOperation::sum);
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    sketch_.columns.add(static_cast<Index>(j), marginals_.columns[j], columns_[j]);
  }
  sketch_.rows.unite(context);
  sketch_.picture.unite(context);
  return std::move(sketch_);
}

}  // namespace plait::cli
