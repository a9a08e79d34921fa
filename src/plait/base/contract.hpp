#pragma once

#include <stdexcept>

/// Contracts inside the library. A broken one is plait's own mistake, never the user's: users get a `plait::Error`.
///
/// Levels by the cost of the check, chosen when plait is built (`PLAIT_ASSERT_LEVEL`): 1 light, a few instructions;
/// 2 heavy, more than the work that it guards; 3 communicating, needs every rank of a communicator.

#ifndef PLAIT_ASSERT_LEVEL
#define PLAIT_ASSERT_LEVEL 1
#endif

namespace plait {

class ContractViolation : public std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void contract_violated(const char* condition, const char* why, const char* file, int line);

}  // namespace plait

#define PLAIT_CHECK_CONTRACT_(condition, why)          \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::plait::contract_violated(#condition, why, __FILE__, __LINE__))
#define PLAIT_SKIP_CONTRACT_(condition, why) static_cast<void>(sizeof(static_cast<bool>(condition)))

#if PLAIT_ASSERT_LEVEL >= 1
#define PLAIT_ASSERT(condition, why) PLAIT_CHECK_CONTRACT_(condition, why)
#else
#define PLAIT_ASSERT(condition, why) PLAIT_SKIP_CONTRACT_(condition, why)
#endif

#if PLAIT_ASSERT_LEVEL >= 2
#define PLAIT_ASSERT_HEAVY(condition, why) PLAIT_CHECK_CONTRACT_(condition, why)
#else
#define PLAIT_ASSERT_HEAVY(condition, why) PLAIT_SKIP_CONTRACT_(condition, why)
#endif

#if PLAIT_ASSERT_LEVEL >= 3
#define PLAIT_ASSERT_COMMUNICATING(condition, why) PLAIT_CHECK_CONTRACT_(condition, why)
#else
#define PLAIT_ASSERT_COMMUNICATING(condition, why) PLAIT_SKIP_CONTRACT_(condition, why)
#endif
