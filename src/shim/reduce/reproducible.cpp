#include "shim/reduce/reproducible.hpp"

#include <cstdio>
#include <string_view>

#include <fmt/format.h>

#include "shim/own_rank.hpp"
#include "shim/summary.hpp"

namespace plait::shim::reduce {

namespace {

constexpr const char* variable = "PLAIT_REPRODUCIBLE";

bool read_setting() noexcept {
  const std::string_view setting = environment(variable);
  if (setting == "1") return true;
  if (setting.empty() || setting == "0") return false;
  OwnRank rank;
  rank.learn();
  if (rank.is_zero()) {
    std::fputs(fmt::format("plait: warning: environment variable {} is '{}', expected 0, 1 or nothing; sums are not "
                           "made reproducible\n",
                           variable, setting)
                   .c_str(),
               stderr);
  }
  return false;
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
