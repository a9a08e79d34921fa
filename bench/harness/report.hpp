#pragma once

#include <string>
#include <vector>

#include "bench/harness/machine.hpp"
#include "bench/harness/record.hpp"

namespace plait::bench {

/// All that one benchmark found on one machine: what is written to a JSON file.
struct Report {
  std::string program;      // the benchmark's name
  std::string description;  // what it measures
  std::string commit;       // of the sources
  Machine machine;
  std::string mpi;          // and its version
  bool quick = false;       // then the figures mean nothing
  double load_average = 0;  // of the machine, when the first run began
  std::vector<Record> records;
  friend bool operator==(const Report&, const Report&) = default;
};

/// The JSON form, one record to a line. docs/performance.md tells what its keys mean.
[[nodiscard]] std::string to_json(const Report& report);

/// \throws ArgumentError  if the text is no such report, or one of another schema
[[nodiscard]] Report from_json(const std::string& text);

/// \throws FileError
[[nodiscard]] Report read_report(const std::string& path);
void write_file(const std::string& path, const std::string& text);

/// The reports of runs on different numbers of ranks as one, with the load average of the first.
///
/// \pre  there is one
/// \throws ArgumentError  unless program, commit, machine, MPI and length of all are the same
[[nodiscard]] Report merged(const std::vector<Report>& reports);

}  // namespace plait::bench
