#include "shim/reduce/log.hpp"

#include <cstdio>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/log_setting.hpp"

#include "shim/settings.hpp"

namespace plait::shim::reduce {

namespace {

constexpr std::array<std::string_view, routine_count> names{"MPI_Reduce_local",
                                                            "MPI_Reduce",
                                                            "MPI_Allreduce",
                                                            "MPI_Reduce_scatter",
                                                            "MPI_Reduce_scatter_block",
                                                            "MPI_Scan",
                                                            "MPI_Exscan",
                                                            "MPI_Ireduce",
                                                            "MPI_Iallreduce",
                                                            "MPI_Ireduce_scatter",
                                                            "MPI_Ireduce_scatter_block",
                                                            "MPI_Iscan",
                                                            "MPI_Iexscan",
                                                            "MPI_Reduce_init",
                                                            "MPI_Allreduce_init",
                                                            "MPI_Reduce_scatter_init",
                                                            "MPI_Reduce_scatter_block_init",
                                                            "MPI_Scan_init",
                                                            "MPI_Exscan_init"};
constexpr std::array<std::string_view, outcome_count> reasons{
    "",
    "plait has no such operation on this type",
    "this MPI makes persistent requests itself",
    "nothing to combine, or arguments that MPI judges",
    "too little data, or not enough calls yet, to gain time",
    "no call before it in which all ranks meet, such as MPI_Barrier or MPI_Allreduce",
    "several nodes, two groups of ranks, or ranks without plait",
    "too little shared memory, or too many communicators",
    "not reproducible: plait has no exact form of this routine, or not before a blocking sum",
    "not reproducible: plait has no exact form of this operation on this type",
    "not reproducible: two groups of ranks",
    "not reproducible: too little memory, or too many communicators"};
constexpr std::size_t name_width = 29;

}  // namespace

Log::Log() : wanted_(log_setting().summary) {}

Log::~Log() {
  if (rank_.is_zero()) std::fputs((wanted_ ? text() : complaint_about_log()).c_str(), stderr);
}

void Log::add(Routine routine, Outcome outcome, Index bytes) noexcept {
  Count& count = counts_[static_cast<std::size_t>(routine)][static_cast<std::size_t>(outcome)];
  count.calls.fetch_add(1, std::memory_order_relaxed);
  count.bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void Log::tell(Routine routine, Outcome why, std::optional<int> rank) noexcept {
  if (told_.load(std::memory_order_relaxed) || !(rank ? *rank == 0 : rank_.is_zero())) return;
  if (told_.exchange(true)) return;
  std::fputs(fmt::format("plait: warning: {} is {}; other calls may not be, either\n",
                         names[static_cast<std::size_t>(routine)], reasons[static_cast<std::size_t>(why)])
                 .c_str(),
             stderr);
}

void Log::tell_at_odds(std::string_view what) noexcept {
  if (told_.exchange(true)) return;
  std::fputs(fmt::format("plait: warning: {}\n", what).c_str(), stderr);
}

std::string Log::text() const {
  std::string text = fmt::format("plait served MPI's reductions of rank 0{}{}:\n", isa_.empty() ? "" : " with ", isa_);
  const std::size_t title_length = text.size();
  for (std::size_t routine = 0; routine < routine_count; ++routine) {
    const Count& served = counts_[routine][static_cast<std::size_t>(Outcome::served)];
    if (served.calls > 0) text += served_text(names[routine], name_width, served.calls, served.bytes) + "\n";
  }
  if (text.size() == title_length) text += "  none\n";
  for (std::size_t routine = 0; routine < routine_count; ++routine) {
    for (std::size_t outcome = 1; outcome < outcome_count; ++outcome) {
      const Index calls = counts_[routine][outcome].calls;
      if (calls == 0) continue;
      text += fmt::format("  {:<{}} {:>16}  passed on to MPI: {}\n", names[routine], name_width, calls_text(calls),
                          reasons[outcome]);
    }
  }
  return text;
}

}  // namespace plait::shim::reduce
