#include "plait/mpi/agreed.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::mpi {

namespace {

// What travels: of fixed size, so that telling of a lack of memory needs no memory.
struct Report {
  int kind = 0;
  int peer = -1;
  std::array<char, 4000> text{};

  void set_text(const char* what) noexcept { std::strncpy(text.data(), what, text.size() - 1); }
};

Report describe(const std::exception_ptr& failure) noexcept {
  Report report;
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    report.kind = static_cast<int>(current_error_kind());
    report.set_text(current_error_kind() == ErrorKind::out_of_memory ? "out of memory" : error.what());
    if (const auto* peer = dynamic_cast<const PeerFailed*>(&error)) report.peer = peer->rank();
    if (const auto* own = dynamic_cast<const OutOfMemory*>(&error)) report.set_text(own->what());
  } catch (...) {
    report.kind = static_cast<int>(ErrorKind::other);
    report.set_text("an exception of unknown type");
  }
  return report;
}

}  // namespace

void agree(Context& context, const std::exception_ptr& failure, std::span<Index> minima) {
  PLAIT_ASSERT(minima.size() <= most_minima, "only a few values ride along");
  context.expect_all_ranks();
  const Communicator& comm = context.comm();
  std::array<Index, 1 + most_minima> values{};
  values[0] = failure ? comm.rank() : comm.size();
  std::copy(minima.begin(), minima.end(), values.begin() + 1);
  if (comm.size() > 1) all_reduce(comm, std::span<Index>(values).first(1 + minima.size()), Operation::minimum());
  std::copy_n(values.begin() + 1, minima.size(), minima.begin());
  const int lowest = static_cast<int>(values[0]);
  if (lowest == comm.size()) return;

  context.catch_up_with_tags();
  throw_failure_of(comm, lowest, failure);
}

void throw_failure_of(const Communicator& comm, int lowest, const std::exception_ptr& failure) {
  const Report own = failure ? describe(failure) : Report();
  Report report = own;
  broadcast(comm, std::span<Report>(&report, 1), lowest);
  const bool is_own = failure && own.kind == report.kind && own.text == report.text;
  const bool is_of_all = all_reduce(comm, is_own ? 1 : 0, Operation::minimum()) == 1;
  const std::string where = is_of_all ? "" : "rank " + std::to_string(lowest) + ": ";
  throw_error(static_cast<ErrorKind>(report.kind), where + report.text.data(), report.peer);
}

void agree(Context& context, const std::exception_ptr& failure, const Alike& arguments) {
  std::array<Index, 2> extremes{arguments.digest(), -arguments.digest()};
  agree(context, failure, extremes);
  if (extremes[0] != -extremes[1]) arguments.throw_difference(context);
}

void expect_alike(Context& context, std::initializer_list<NamedValue> values, const std::exception_ptr& failure) {
  PLAIT_ASSERT(2 * values.size() <= most_minima, "only a few values ride along");
  std::array<Index, most_minima> extremes{};
  std::size_t count = 0;
  for (const NamedValue& value : values) {
    extremes[count++] = value.value;
    extremes[count++] = -value.value;
  }
  agree(context, failure, std::span<Index>(extremes).first(count));
  const Index* extreme = extremes.data();
  for (const NamedValue& value : values) {
    const Index least = *extreme++;
    const Index highest = -*extreme++;
    if (least == highest) continue;
    throw ArgumentError(std::string(value.name) + ": " + std::to_string(least) + " on one rank, " +
                        std::to_string(highest) + " on another, expected the same on all");
  }
}

}  // namespace plait::mpi
