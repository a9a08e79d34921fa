#include "bench/sinkhorn/sinkhorn_parts.hpp"

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/sinkhorn/rescaled_matrix.hpp"
#include "bench/sinkhorn/streaming_read.hpp"

namespace plait::bench {

namespace {

struct PartSetting {
  Algorithm algorithm;
  Part part;
  Index n;
  double density = 1;
};

Job set_up(const PartSetting& setting) {
  const auto matrix = std::make_shared<RescaledMatrix>(setting.n, setting.density);
  Job job;
  job.rewrite = [=] {
    matrix->rewrite();
    if (setting.part == Part::both) matrix->make(setting.algorithm);
  };
  job.run = [=] {
    if (setting.part == Part::rows) {
      matrix->rescale_rows();
    } else if (setting.part == Part::columns) {
      matrix->rescale_columns(setting.algorithm);
    } else {
      matrix->iterate();
    }
  };
  job.limits = streaming_reads(matrix->bytes());
  job.wrong_elements = [=] {
    return setting.algorithm == Algorithm::scaling ? matrix->wrong_plan() : matrix->wrong_sums(setting.part);
  };
  return job;
}

}  // namespace

std::vector<Case> sinkhorn_part_cases(mpi::Context& context, bool quick) {
  std::vector<Case> result;
  if (context.size() > 1) return result;
  const auto add = [&](const std::string& what, const PartSetting& setting) {
    Case one;
    one.name = fmt::format("{} {} double {} ranks=1", name(setting.algorithm), what, setting.n);
    one.set_up = [setting] { return set_up(setting); };
    one.repetitions = {5, 20, 1};
    result.push_back(std::move(one));
  };
  const std::vector<Index> extents = quick ? std::vector<Index>{67} : std::vector<Index>{2000, 4000, 8000, 16000};
  for (const Index n : extents) {
    add("rows", {Algorithm::typical, Part::rows, n});
    for (const Algorithm algorithm : {Algorithm::typical, Algorithm::by_rows, Algorithm::blocked}) {
      add("columns", {algorithm, Part::columns, n});
    }
  }
  const Index n = quick ? 67 : 4000;
  for (const double density : {0.95, 0.5, 0.05}) {
    for (const Algorithm algorithm : {Algorithm::typical, Algorithm::blocked, Algorithm::scaling}) {
      add(fmt::format("density={:g}%", 100 * density), {algorithm, Part::both, n, density});
    }
  }
  return result;
}

}  // namespace plait::bench
