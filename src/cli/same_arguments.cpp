#include "cli/same_arguments.hpp"

#include <array>
#include <cstdint>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/base/random.hpp"
#include "plait/mpi/collectives.hpp"

#include "cli/options/usage_error.hpp"

namespace plait::cli {

namespace {

// Of all words but the program's name, which may differ between nodes.
Index fingerprint(int argc, const char* const* argv) {
  std::uint64_t print = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    for (const char c : word) print = random_bits(print, static_cast<unsigned char>(c));
    print = random_bits(print, 256);  // where the word ends
  }
  return static_cast<Index>(print);
}

}  // namespace

void expect_same_arguments(const mpi::Context& context, int argc, const char* const* argv) {
  const Index own = fingerprint(argc, argv);
  std::array<Index, 2> minima{own, ~own};  // ~ turns the order around
  mpi::all_reduce(context.comm(), minima, mpi::Operation::minimum());
  if (minima[0] == ~minima[1]) return;
  throw UsageError("the ranks were started with different arguments; expected the same on each of them");
}

}  // namespace plait::cli
