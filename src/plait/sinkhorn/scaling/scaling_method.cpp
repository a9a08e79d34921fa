#include "plait/sinkhorn/scaling/scaling_method.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::sinkhorn {

template <class A>
ScalingMethod<A>::ScalingMethod(mpi::Context& context, std::span<const CheckedMarginals> problems,
                                Iteration<A>& iteration, ScalingTask task, SumUp<A> sum_over_ranks)
    : Method(problems),
      context_(context),
      iteration_(iteration),
      task_(std::move(task)),
      columns_(problems.empty() ? 0 : problems.front().columns.size()),
      sums_(context, columns_ + static_cast<std::size_t>(scaling_riders), std::move(sum_over_ranks)),
      slots_(problems.size()) {
  where_.reserve(problems.size());
}

template <class A>
void ScalingMethod<A>::rows(std::span<const std::size_t> problems, std::span<Found> found) {
  sums_.clear(problems.size());
  where_.clear();
  for (const std::size_t k : problems) {
    slots_[k] = where_.size();
    where_.push_back({k, sums_of(k)});
  }
  iteration_.rows(where_);
  for (const std::size_t k : problems) {
    const Factors<A>& of = iteration_.problems()[k];
    const auto riders = sums_.of(slots_[k]).subspan(columns_);
    riders[0] = static_cast<A>(of.wanted_of_rows);
    riders[1] = static_cast<A>(of.starved_rows);
  }
  sums_.add_up();
  for (std::size_t n = 0; n < found.size(); ++n) {
    const auto riders = sums_.of(n).subspan(columns_);
    const auto [off, distance_of] = iteration_.distance(problems[n], sums_.of(n).first(columns_));
    const double whole = distance_of < 0 ? problem(problems[n]).total : distance_of;
    found[n] = {whole > 0 ? off / whole : off, riders[1] > 0};
  }
}

template <class A>
std::vector<std::size_t> ScalingMethod<A>::columns(std::span<const std::size_t> problems) {
  std::vector<std::size_t> out_of_range;
  for (const std::size_t k : problems) {
    iteration_.columns(k, sums_of(k));
    const auto wanted_of_rows = static_cast<double>(sums_.of(slots_[k])[columns_]);
    const bool is_in_range = iteration_.problems()[k].starved_columns == 0 && iteration_.translate(k, wanted_of_rows);
    if (!is_in_range) out_of_range.push_back(k);
  }
  return out_of_range;
}

template <class A>
std::vector<Feasibility> ScalingMethod<A>::look_for_proof(std::span<const std::size_t> problems) {
  if (!task_.prove) return Method::look_for_proof(problems);
  std::vector<std::vector<double>> heights;
  std::vector<RowHeights> asked;
  mpi::agreed(context_, [&] {
    heights.reserve(problems.size());
    for (const std::size_t k : problems) {
      const std::vector<A>& u = iteration_.problems()[k].u;
      heights.emplace_back(u.begin(), u.end());
      asked.push_back({&problem(k), heights.back()});
    }
  });
  return task_.prove(asked);
}

template <class A>
Method::Ending sums_out_of_range(Index iteration) {
  return {iterate::End::numbers,
          fmt::format("sums of rows or columns left the range of {} in iteration {}; the logarithmic domain "
                      "(plait transport) has no such limit",
                      std::is_same_v<A, double> ? "double" : "float", iteration)};
}

template <class A>
Method::Ending ScalingMethod<A>::out_of_range(std::size_t /*problem*/, Index iteration) const {
  return sums_out_of_range<A>(iteration);
}

template <class A>
void ScalingMethod<A>::save(iterate::Checkpoint& checkpoint) const {
  const Factors<A>& of = iteration_.problems().front();
  checkpoint.by_rank["u"].assign(of.u.begin(), of.u.end());
  checkpoint.shared["v"].assign(of.v.begin(), of.v.end());
}

template <class A>
void ScalingMethod<A>::resume(const iterate::Checkpoint& checkpoint) {
  Factors<A>& of = iteration_.problems().front();
  const auto& u = iterate::vector_of(checkpoint.by_rank, "u");
  const auto& v = iterate::vector_of(checkpoint.shared, "v");
  if (u.size() != of.u.size() || v.size() != of.v.size()) {
    throw ArgumentError(fmt::format("the state has factors for {} rows and {} columns, expected {} and {}", u.size(),
                                    v.size(), of.u.size(), of.v.size()));
  }
  const auto as_number = [](double factor) { return static_cast<A>(factor); };
  std::ranges::transform(u, of.u.begin(), as_number);
  std::ranges::transform(v, of.v.begin(), as_number);
}

template Method::Ending sums_out_of_range<double>(Index);
template Method::Ending sums_out_of_range<float>(Index);
template class ScalingMethod<double>;
template class ScalingMethod<float>;

}  // namespace plait::sinkhorn
