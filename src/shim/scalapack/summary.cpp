#include "shim/scalapack/summary.hpp"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/log_setting.hpp"
#include "plait/simd/isa.hpp"

#include "shim/settings.hpp"

namespace plait::shim::scalapack {

namespace {

constexpr std::size_t name_width = 10;

/// Lets plait use the best instruction set where PLAIT_ISA can't be met: that is no reason to serve nothing.
/// \pre     no other thread runs, and plait has done nothing
/// \return  a line that says what is wrong with the variable; empty where nothing is
// Plait reads the variable until it finds it valid, once, so it is hidden for that long. It stays for other processes:
// the launcher may have this library loaded, too, and hands it on to those that will tell.
std::string settled_isa() {
  try {
    static_cast<void>(simd::selected_isa());
    return "";
  } catch (const Error& error) {
    constexpr const char* variable = "PLAIT_ISA";
    const std::string setting(environment(variable));
    ::unsetenv(variable);
    const simd::Isa best = simd::selected_isa();
    ::setenv(variable, setting.c_str(), 1);
    return fmt::format("plait: warning: {}; {} is used\n", error.what(), simd::name(best));
  }
}

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
