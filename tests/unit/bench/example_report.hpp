#pragma once

#include "bench/harness/report.hpp"

namespace plait::bench {

/// 4 s of plait against 2 s of the best limit: half of it, and thrice as fast as the peer.
inline Record example_record(bool with_peer = true) {
  std::vector<Samples> samples{{"plait", {4, 4, 8}}, {"memcpy", {3, 3, 3}}, {"stream_copy", {2, 2, 2}}};
  if (with_peer) samples.push_back({"Rival", {12, 12, 12}});
  Record record = make_record("tran f64 8x8 2x1>1x2 ranks=2", samples, 2);
  record.setup_seconds = 0.125;
  record.costs = {{"plait", 6}, {"Rival", 8}, {"other", 5}};
  record.gate = {0.25, 1.0};
  record.aim.fraction_of_limit = 0.75;
  return record;
}

inline Report example_report() {
  Report report;
  report.program = "example";
  report.description = "Shows \"how\"";
  report.commit = "abc";
  report.machine = {"CPU <&> Co", 2, "avx2"};
  report.load_average = 0.5;
  report.mpi = "Open MPI 4.1.4";
  report.records = {example_record(), example_record(false)};
  report.records[1].gate = {};
  return report;
}

}  // namespace plait::bench
