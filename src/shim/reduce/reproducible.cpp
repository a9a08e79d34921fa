#include "shim/reduce/reproducible.hpp"

#include <cstdio>

#include "shim/own_rank.hpp"
#include "shim/settings.hpp"

namespace plait::shim::reduce {

namespace {

bool read_setting() noexcept {
  const ReproducibleSetting setting = reproducible_setting();
  OwnRank rank;
  rank.learn();
  if (rank.is_zero()) std::fputs(setting.complaint.c_str(), stderr);
  return setting.is_wanted;
}

bool is_rounded(simd::Element element) noexcept {
  switch (element) {
    case simd::Element::float16:
    case simd::Element::bfloat16:
    case simd::Element::float32:
    case simd::Element::float64:
    case simd::Element::long_double:
    case simd::Element::complex64:
    case simd::Element::complex128: return true;
    default: return false;
  }
}

}  // namespace

bool is_reproducible_wanted() noexcept {
  static const bool wanted = read_setting();
  return wanted;
}

bool depends_on_order(const std::optional<mpi::PredefinedReduction>& reduction) noexcept {
  if (!reduction) return true;
  const bool rounds =
      reduction->operation == simd::ReduceOperation::sum || reduction->operation == simd::ReduceOperation::prod;
  return rounds && is_rounded(reduction->element);
}

}  // namespace plait::shim::reduce
