#include "plait/collective/reproducible_sum.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>

#include "plait/mpi/collectives.hpp"
#include "plait/simd/exact/reproducible_sum.hpp"

namespace plait::collective {

namespace {

using simd::ExactSum;

template <class T>
void add_parts(std::span<ExactSum> sums, std::span<const T> addends) {
  if constexpr (simd::SummableReal<T>) {
    simd::add_to(sums[0], addends);
  } else {
    // Vectors take numbers that lie side by side.
    using Real = typename T::value_type;
    std::array<std::array<Real, 2048>, 2> parts;
    while (!addends.empty()) {
      const std::size_t count = std::min(addends.size(), parts[0].size());
      for (std::size_t i = 0; i < count; ++i) {
        parts[0][i] = addends[i].real();
        parts[1][i] = addends[i].imag();
      }
      for (std::size_t part = 0; part < 2; ++part) {
        simd::add_to(sums[part], std::span<const Real>(parts[part].data(), count));
      }
      addends = addends.subspan(count);
    }
  }
}

}  // namespace

void merge(mpi::Context& context, std::span<ExactSum> sums) {
  std::array<ExactSum::State, 16> states;  // so that there is no memory that a rank may fail to get
  while (!sums.empty()) {
    const std::size_t count = std::min(sums.size(), states.size());
    for (std::size_t i = 0; i < count; ++i) states[i] = sums[i].state();
    mpi::all_reduce(context.comm(), std::span<std::int64_t>(states[0].data(), count * ExactSum::word_count),
                    mpi::Operation::sum());
    for (std::size_t i = 0; i < count; ++i) sums[i].set_state(states[i]);
    sums = sums.subspan(count);
  }
}

template <Summable T>
T reproducible_sum(mpi::Context& context, std::span<const T> addends) {
  std::array<ExactSum, simd::SummableReal<T> ? 1 : 2> sums;
  add_parts(std::span<ExactSum>(sums), addends);
  merge(context, sums);
  if constexpr (simd::SummableReal<T>) {
    return sums[0].template rounded<T>();
  } else {
    using Real = typename T::value_type;
    return {sums[0].template rounded<Real>(), sums[1].template rounded<Real>()};
  }
}

template float reproducible_sum(mpi::Context&, std::span<const float>);
template double reproducible_sum(mpi::Context&, std::span<const double>);
template std::complex<float> reproducible_sum(mpi::Context&, std::span<const std::complex<float>>);
template std::complex<double> reproducible_sum(mpi::Context&, std::span<const std::complex<double>>);

void reproducible_sum(mpi::Context& context, DType dtype, const void* addends, Index count, void* result) {
  FieldDTypes::with(dtype, [&]<class T>() {
    const T sum = reproducible_sum(context, std::span(static_cast<const T*>(addends), at(count)));
    std::memcpy(result, &sum, sizeof(T));
  });
}

ReproducibleSum::ReproducibleSum(mpi::Context& context) {
  if (context.topology().nodes() == 1) {
    node_.emplace(context);
  } else {
    messages_.emplace(context);
  }
}

void ReproducibleSum::allreduce(const void* in, void* out, Index n, simd::Element element) {
  const Combine combine = Combine::reproducible_sum(element);
  if (node_) return node_->allreduce(in, out, n, combine);
  messages_->allreduce(in, out, n, combine);
}

void ReproducibleSum::reduce(const void* in, void* out, Index n, int root, simd::Element element) {
  const Combine combine = Combine::reproducible_sum(element);
  if (node_) return node_->reduce(in, out, n, root, combine);
  messages_->reduce(in, out, n, root, combine);
}

}  // namespace plait::collective
