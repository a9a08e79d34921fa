#include "cli/scaling/plan_sketch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "plait/collective/calls.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::cli {

namespace {

// Parts of a sketch's vectors, a number for each bin in each.
enum SketchPart : unsigned char { minus_wanted, wanted_most, minus_reached, reached_most, difference, sketch_parts };

}  // namespace

SumsSketch::SumsSketch(Index length)
    : length_(length),
      bins_(std::min(length, most_bins)),
      largest_(static_cast<std::size_t>(bins_) * sketch_parts, -std::numeric_limits<double>::infinity()),
      sums_(static_cast<std::size_t>(bins_) * 2) {}

double& SumsSketch::most(std::size_t part, Index bin) {
  return largest_[part * static_cast<std::size_t>(bins_) + static_cast<std::size_t>(bin)];
}

double SumsSketch::most(std::size_t part, Index bin) const {
  return largest_[part * static_cast<std::size_t>(bins_) + static_cast<std::size_t>(bin)];
}

void SumsSketch::add(Index i, double wanted, double reached) {
  const Index bin = i * bins_ / length_;
  const auto raise = [&](std::size_t part, double number) { most(part, bin) = std::max(most(part, bin), number); };
  raise(minus_wanted, -wanted);
  raise(wanted_most, wanted);
  raise(minus_reached, -reached);
  raise(reached_most, reached);
  raise(difference, std::abs(reached - wanted));
  sums_[static_cast<std::size_t>(bin)] += wanted;
  sums_[static_cast<std::size_t>(bins_ + bin)] += reached;
}

void SumsSketch::unite(const mpi::Context& context) {
  mpi::all_reduce(context.comm(), std::span<double>(largest_), mpi::Operation::maximum());
  mpi::all_reduce(context.comm(), std::span<double>(sums_), mpi::Operation::sum());
}

SumsSketch::Bin SumsSketch::operator[](Index bin) const {
  const Index end = bin + 1 < bins_ ? begin_of(bin + 1) : length_;
  const auto count = static_cast<double>(end - begin_of(bin));
  return {{-most(minus_wanted, bin), sums_[static_cast<std::size_t>(bin)] / count, most(wanted_most, bin)},
          {-most(minus_reached, bin), sums_[static_cast<std::size_t>(bins_ + bin)] / count, most(reached_most, bin)},
          most(difference, bin)};
}

PlanSketcher::PlanSketcher(const sinkhorn::CheckedMarginals& marginals)
    : marginals_(marginals),
      sketch_{MatrixPicture({marginals.all_rows, static_cast<Index>(marginals.columns.size())}),
              SumsSketch(marginals.all_rows), SumsSketch(static_cast<Index>(marginals.columns.size()))},
      columns_(marginals.columns.size()) {}

void PlanSketcher::end_row(Index i, double sum) {
  sketch_.rows.add(marginals_.first_row + i, marginals_.rows[static_cast<std::size_t>(i)], sum);
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

template <class T>
PlanSketch sketch_of(mpi::Context& context, matrix_view<const T> plan, const sinkhorn::CheckedMarginals& marginals) {
  auto sketcher = mpi::agreed(context, [&] { return PlanSketcher(marginals); });
  for (Index i = 0; i < plan.rows(); ++i) {
    sketcher.add(
        i, std::span<const T>(plan.data() + i * plan.leading_dimension(), static_cast<std::size_t>(plan.columns())));
  }
  return sketcher.taken(context);
}

template <class T>
PlanSketch sketch_of(mpi::Context& context, const layout::SparseRows<T>& plan,
                     const sinkhorn::CheckedMarginals& marginals) {
  auto sketcher = mpi::agreed(context, [&] { return PlanSketcher(marginals); });
  for (Index i = 0; i < plan.rows(); ++i) sketcher.add_entries(i, plan.columns_of(i), plan.values_of(i));
  return sketcher.taken(context);
}

template PlanSketch sketch_of(mpi::Context&, matrix_view<const double>, const sinkhorn::CheckedMarginals&);
template PlanSketch sketch_of(mpi::Context&, matrix_view<const float>, const sinkhorn::CheckedMarginals&);
template PlanSketch sketch_of(mpi::Context&, matrix_view<const simd::BFloat16>, const sinkhorn::CheckedMarginals&);
template PlanSketch sketch_of(mpi::Context&, const layout::SparseRows<double>&, const sinkhorn::CheckedMarginals&);
template PlanSketch sketch_of(mpi::Context&, const layout::SparseRows<float>&, const sinkhorn::CheckedMarginals&);

}  // namespace plait::cli
