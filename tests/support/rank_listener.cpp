#include "support/rank_listener.hpp"

#include <mpi.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/prefixed.hpp"

namespace plait::test {
namespace {

std::string full_name(const ::testing::TestInfo& test) {
  return std::string(test.test_suite_name()) + "." + test.name();
}

/// FNV-1a, which every rank computes alike.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char character : text) value = (value ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
  return value;
}

/// What each rank tells the others about its test.
struct Verdict {
  std::uint64_t test;
  std::uint64_t failed;
  std::uint64_t skipped;
};

template <class Predicate>
std::string ranks_where(const std::vector<Verdict>& verdicts, Predicate holds) {
  std::ostringstream text;
  const char* separator = "";
  for (std::size_t rank = 0; rank < verdicts.size(); ++rank) {
    if (!holds(verdicts[rank])) continue;
    text << separator << rank;
    separator = ", ";
  }
  return text.str();
}

}  // namespace

void RankListener::OnTestStart(const ::testing::TestInfo& test) {
  test_ = full_name(test);
  watchdog_.watch(test_);
}

void RankListener::OnTestPartResult(const ::testing::TestPartResult& part) {
  if (world_.rank() == 0 || agreeing_ || part.passed() || part.skipped()) return;
  std::ostringstream text;
  text << test_ << "\n" << part;
  print_prefixed(world_.rank(), text.str());
}

void RankListener::OnTestEnd(const ::testing::TestInfo& test) {
  const Verdict mine{hash(test_), test.result()->Failed() ? 1U : 0U, test.result()->Skipped() ? 1U : 0U};
  std::vector<Verdict> all(static_cast<std::size_t>(world_.ranks()));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, world_.verdicts());
  watchdog_.watch("the step after " + test_);

  agreeing_ = true;
  const auto other = ranks_where(all, [&](const Verdict& verdict) { return verdict.test != all[0].test; });
  if (!other.empty()) ADD_FAILURE() << "another test than on rank 0 was run on rank " << other;

  const auto failed = ranks_where(all, [](const Verdict& verdict) { return verdict.failed != 0; });
  if (!failed.empty() && mine.failed == 0) ADD_FAILURE() << "failed on rank " << failed << ", see there";

  const auto skipped = ranks_where(all, [](const Verdict& verdict) { return verdict.skipped != 0; });
  const auto ran = ranks_where(all, [](const Verdict& verdict) { return verdict.skipped == 0; });
  if (!skipped.empty() && !ran.empty()) ADD_FAILURE() << "skipped on rank " << skipped << ", but run on rank " << ran;
  agreeing_ = false;
}

}  // namespace plait::test
