#include "bench/harness/machine.hpp"

#include <gtest/gtest.h>

#include "plait/simd/isa.hpp"

namespace plait::bench {
namespace {

TEST(Machine, it_has_cores_and_names) {
  const Machine machine = this_machine();
  EXPECT_GE(machine.cores, 1);
  EXPECT_FALSE(machine.cpu.empty());
  EXPECT_EQ(simd::parse_isa(machine.isa), simd::selected_isa());
  EXPECT_GE(load_average(), 0);
}

}  // namespace
}  // namespace plait::bench
