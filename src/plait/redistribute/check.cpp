#include "plait/redistribute/check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "plait/base/dtype.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::redistribute {

namespace {

constexpr double standard_deviations = 16;

// A random number for a place: the product of one for the row and one for the column would let exchanged rows of equal
// sums pass, so both go into one.
std::uint64_t weight(Index row, Index column) {
  return random_bits(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column));
}

template <class T>
T conjugate(T value) {
  if constexpr (requires { value.imag(); }) return std::conj(value);
  return value;
}

// The bits of an element, spread over 64.
template <class T>
std::uint64_t bits_of(T value) {
  std::array<std::uint64_t, 2> words{0, 0};
  std::memcpy(words.data(), &value, sizeof(T));
  return words[0] + random_bits(words[1], 1);
}

template <class T>
std::complex<long double> widened(T value) {
  if constexpr (requires { value.imag(); }) {
    return {value.real(), value.imag()};
  } else {
    return {static_cast<long double>(value), 0};
  }
}

}  // namespace

template <class T>
void Check<T>::add(Sums& sums, Op op, const layout::DistributedMatrix<T>& matrix) const {
  const bool swaps = transposes(op);
  const bool conjugated = conjugates(op);
  matrix.for_each_element([&](Index row, Index column, const T& element) {
    const std::uint64_t w = swaps ? weight(column, row) : weight(row, column);
    const T value = conjugated ? conjugate(element) : element;
    if (is_copy()) {
      sums.exact[0] += random_bits(w, bits_of(value));
    } else if constexpr (std::is_integral_v<T>) {
      // Rotated, the weights have other lowest bits, which are all that counts for errors in the highest.
      for (std::size_t k = 0; k < sums.exact.size(); ++k) {
        sums.exact[k] += std::rotl(w, static_cast<int>(8 * k)) * static_cast<std::uint64_t>(value);
      }
    } else {
      const std::complex<Wide> z = widened(value);
      const Wide sign = (w >> 63) != 0 ? 1 : -1;
      sums.weighted[0] += sign * z.real();
      sums.weighted[1] += sign * z.imag();
      sums.squares += std::norm(z);
    }
  });
}

template <class T>
void Check<T>::read_source(const layout::DistributedMatrix<T>& source) {
  if (alpha_ != T{0}) add(source_, op_, source);
}
template <class T>
void Check<T>::read_target_before(const layout::DistributedMatrix<T>& target) {
  if (beta_ != T{0}) add(before_, Op::identity, target);
}
template <class T>
void Check<T>::read_target_after(const layout::DistributedMatrix<T>& target) {
  elements_ = layout::elements(target.layout().shape());
  add(after_, Op::identity, target);
}

template <class T>
auto Check<T>::verdict(mpi::Context& context) const -> Verdict {
  std::array<std::uint64_t, 24> exact{};
  auto next = exact.begin();
  for (const Sums* each : {&source_, &before_, &after_}) next = std::copy(each->exact.begin(), each->exact.end(), next);
  std::array<Wide, 9> sums{source_.weighted[0], source_.weighted[1], source_.squares,
                           before_.weighted[0], before_.weighted[1], before_.squares,
                           after_.weighted[0],  after_.weighted[1],  after_.squares};
  mpi::all_reduce(context.comm(), exact, mpi::Operation::sum());
  mpi::all_reduce(context.comm(), sums, mpi::Operation::sum());

  if (is_copy()) return exact[0] == exact[16] ? Verdict::passed : Verdict::failed;
  if constexpr (std::is_integral_v<T>) {
    for (std::size_t k = 0; k < 8; ++k) {
      const auto expected =
          static_cast<std::uint64_t>(alpha_) * exact[k] + static_cast<std::uint64_t>(beta_) * exact[8 + k];
      if (static_cast<std::make_unsigned_t<T>>(expected) != static_cast<std::make_unsigned_t<T>>(exact[16 + k])) {
        return Verdict::failed;
      }
    }
    return Verdict::passed;
  } else {
    using Limits = std::numeric_limits<decltype(std::abs(T{}))>;
    const std::complex<Wide> alpha = widened(alpha_);
    const std::complex<Wide> beta = widened(beta_);
    const std::complex<Wide> expected =
        alpha * std::complex<Wide>(sums[0], sums[1]) + beta * std::complex<Wide>(sums[3], sums[4]);
    const Wide difference = std::abs(std::complex<Wide>(sums[6], sums[7]) - expected);
    // Rounding in T adds up as a random walk, that of the sums themselves as one of partial sums that walk already;
    // below the normal numbers it is absolute.
    const Wide steps = std::sqrt(static_cast<Wide>(elements_));
    const Wide size = std::sqrt(std::norm(alpha) * sums[2] + std::norm(beta) * sums[5]);
    const Wide tolerance =
        size * (standard_deviations * Limits::epsilon() + 2 * std::numeric_limits<Wide>::epsilon() * steps) +
        standard_deviations * steps * Limits::denorm_min();
    if (!std::isfinite(tolerance) || !std::isfinite(difference)) return Verdict::undecided;
    return difference <= tolerance ? Verdict::passed : Verdict::failed;
  }
}

#define PLAIT_CHECK_OF(T) template class Check<T>;
PLAIT_FOR_EACH_DTYPE(PLAIT_CHECK_OF)
#undef PLAIT_CHECK_OF

}  // namespace plait::redistribute
