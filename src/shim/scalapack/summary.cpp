#include "shim/scalapack/summary.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "plait/base/log_setting.hpp"

#include "shim/scalapack/settled_isa.hpp"
#include "shim/summary.hpp"

namespace plait::shim::scalapack {

namespace {

constexpr std::size_t name_width = 10;

}  // namespace

Summary& Summary::of_program() {
  static Summary summary;
  return summary;
}

Summary::Summary() : wanted_(log_setting().summary), complaint_about_isa_(settled_isa()) {}

Summary::~Summary() {
  if (rank_.is_zero()) std::fputs((complaint_about_isa_ + (wanted_ ? text() : complaint_about_log())).c_str(), stderr);
}

void Summary::served(const std::string& routine, Index bytes, double seconds) {
  if (!wanted_) return;
  rank_.learn();
  Served& sum = served_[routine];
  ++sum.calls;
  sum.bytes += bytes;
  sum.seconds += seconds;
}

void Summary::passed_on(const std::string& routine, const std::string& why) {
  if (!wanted_) return;
  rank_.learn();
  ++passed_on_[{routine, why}];
}

std::string Summary::text() const {
  std::string text = "plait served ScaLAPACK calls of rank 0:\n";
  for (const auto& [routine, sum] : served_) {
    text += fmt::format("{}  {:10.6f} s\n", served_text(routine, name_width, sum.calls, sum.bytes), sum.seconds);
  }
  if (served_.empty()) text += "  none\n";
  for (const auto& [what, number] : passed_on_) {
    text += fmt::format("  {:<{}} {:>16}  passed on to ScaLAPACK: {}\n", what.first, name_width, calls_text(number),
                        what.second);
  }
  return text;
}

}  // namespace plait::shim::scalapack
