// A benchmark with two cases; the second one's result is wrong, on the last rank only.

#include "bench/harness/benchmark.hpp"

namespace {

using namespace plait;

bench::Job job_with(Index wrong) {
  bench::Job job;
  job.rewrite = [] {};
  job.run = [] {};
  job.limits = {{"nothing", [] {}}};
  job.wrong_elements = [=] { return wrong; };
  return job;
}

std::vector<bench::Case> cases(mpi::Context& context, bool /*quick*/) {
  const Index wrong = context.rank() == context.size() - 1 ? 3 : 0;
  return {{"right", {}, {}, [] { return job_with(0); }}, {"wrong", {}, {}, [=] { return job_with(wrong); }}};
}

}  // namespace

int main(int argc, char** argv) {
  return plait::bench::run_benchmark(argc, argv, {"wrong", "Is wrong on purpose", {2}, cases});
}
