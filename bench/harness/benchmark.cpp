#include "bench/harness/benchmark.hpp"

#include <malloc.h>
#include <omp.h>

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <optional>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/environment.hpp"

#include "bench/harness/extent_plot.hpp"
#include "bench/harness/heat_map.hpp"
#include "bench/harness/options.hpp"
#include "bench/harness/plot.hpp"
#include "bench/harness/report.hpp"
#include "bench/harness/table.hpp"

namespace plait::bench {

namespace {

/// Thrown on all ranks alike.
class WrongResult : public Error {
 public:
  explicit WrongResult(const std::string& text) : Error(ErrorKind::other, text) {}
};

void verify(const mpi::Context& context, const std::string& name, const Job& job, const Contender& contender) {
  job.rewrite();
  contender.run();
  const Index wrong = mpi::all_reduce(context.comm(), job.wrong_elements(), mpi::Operation::sum());
  if (wrong != 0) throw WrongResult(fmt::format("{}: {} has {} wrong elements", name, contender.name, wrong));
}

Record measure_case(const mpi::Context& context, const Case& description, const Repetitions& repetitions) {
  const Job job = description.set_up();
  std::vector<Contender> contenders{{"plait", job.run}};
  contenders.insert(contenders.end(), job.limits.begin(), job.limits.end());
  if (job.floor) contenders.push_back(*job.floor);
  if (job.peer) contenders.push_back(*job.peer);

  std::vector<std::pair<std::string, double>> costs;
  const auto look_at = [&](const Contender& contender) {
    verify(context, description.name, job, contender);
    if (job.cost) costs.emplace_back(contender.name, job.cost());
  };
  look_at(contenders.front());
  if (job.peer) look_at(*job.peer);
  for (const Contender& other : job.others) {
    if (job.cost) look_at(other);
  }
  const std::size_t compared = contenders.size();
  contenders.insert(contenders.end(), job.others.begin(), job.others.end());
  auto seconds = measure(context.comm(), contenders, job.rewrite, repetitions);

  std::vector<Samples> samples;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (contenders[i].run) {
      for (double& sample : seconds[i]) sample /= job.instances;
    }
    samples.push_back({contenders[i].name, std::move(seconds[i])});
  }
  std::vector<Samples> others(samples.begin() + static_cast<std::ptrdiff_t>(compared), samples.end());
  samples.resize(compared);
  Record record =
      make_record(description.name, std::move(samples), job.limits.size(), job.floor ? Floor::given : Floor::none);
  std::ranges::move(others, std::back_inserter(record.samples));
  record.costs = std::move(costs);
  record.setup_seconds = mpi::all_reduce(context.comm(), job.setup_seconds, mpi::Operation::maximum());
  return record;
}

/// The mean that the case asks for, of what was measured; nothing if something was not.
std::optional<Record> mean_case(const Case& description, const std::vector<Record>& measured) {
  std::vector<Record> parts;
  for (const std::string& name : description.mean_of) {
    const auto found = std::ranges::find(measured, name, &Record::name);
    if (found == measured.end()) return std::nullopt;
    parts.push_back(*found);
  }
  return geometric_mean(description.name, parts);
}

Repetitions repetitions_for(const Case& description, const Options& options) {
  if (options.repetitions) return Repetitions::exactly(*options.repetitions);
  return options.quick ? Repetitions::exactly(2) : description.repetitions;
}

// One core a rank, which is what the limits use, unless the user says otherwise.
void use_one_thread() {
  if (std::getenv("OMP_NUM_THREADS") == nullptr) omp_set_num_threads(1);
}

constexpr const char* what_is_freed =
    "What is freed stays with the process, so that who allocates in each call, as some peers do, finds warm memory";

// As in a program that has called a contender before.
void keep_what_is_freed() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
}

Report measure_all(mpi::Context& context, const Benchmark& benchmark, const Options& options) {
  use_one_thread();
  keep_what_is_freed();
  Report report;
  report.program = benchmark.name;
  report.description = fmt::format("{}. {}", benchmark.description, what_is_freed);
  report.commit = options.commit;
  report.machine = this_machine();
  report.mpi = mpi::library_version();
  report.quick = options.quick;
  report.load_average = load_average();
  const bool have_cores = context.topology().node().size() <= report.machine.cores;
  const auto say = [&](const std::string& line) {
    if (context.rank() == 0) std::fputs(line.c_str(), stdout), std::fflush(stdout);
  };
  say(table_head());
  for (const Case& description : benchmark.cases(context, options.quick)) {
    if (options.filter && !std::regex_search(description.name, *options.filter)) continue;
    auto record = description.mean_of.empty()
                      ? measure_case(context, description, repetitions_for(description, options))
                      : mean_case(description, report.records);
    if (!record) continue;
    if (have_cores && !options.quick) record->gate = measurable(*record, description.gate);
    if (!options.quick) record->aim = measurable(*record, description.aim);
    say(table_line(*record));
    report.records.push_back(std::move(*record));
  }
  say(fmt::format("{}.\n", what_is_freed));
  return report;
}

Report merged_files(const Options& options) {
  std::vector<Report> reports;
  for (const std::string& path : options.merge) reports.push_back(read_report(path));
  Report all = merged(reports);
  if (options.filter) {
    std::erase_if(all.records, [&](const Record& record) { return !std::regex_search(record.name, *options.filter); });
  }
  return all;
}

// Writes what was asked for; the exit status.
int deliver(const Report& report, const Options& options) {
  if (!options.json.empty()) write_file(options.json, to_json(report));
  if (!options.plot.empty()) write_file(options.plot, svg_plot(report));
  if (!options.extent_plot.empty()) write_file(options.extent_plot, svg_extent_plot(report));
  if (!options.heat_map.empty()) write_file(options.heat_map, svg_heat_map(report));
  if (!options.gate) return 0;
  int status = 0;
  for (const Record& record : report.records) {
    if (meets(record, record.gate)) continue;
    std::fputs(("missed gate: " + record.name + "\n").c_str(), stderr);
    status = 1;
  }
  return status;
}

int complain(const Benchmark& benchmark, const char* text) {
  std::fputs(fmt::format("bench_{}: error: {}\n", benchmark.name, text).c_str(), stderr);
  return 1;
}

/// MPI_Init, and MPI_Finalize at the end.
class PlainMpi {
 public:
  PlainMpi(int& argc, char**& argv) { MPI_Init(&argc, &argv); }
  PlainMpi(const PlainMpi&) = delete;
  PlainMpi& operator=(const PlainMpi&) = delete;
  ~PlainMpi() { MPI_Finalize(); }
};

int run_under_mpi(int& argc, char**& argv, const Benchmark& benchmark, const Options& options) {
  std::optional<PlainMpi> plain;
  if (benchmark.starts_mpi_plainly) plain.emplace(argc, argv);
  const mpi::Environment environment(argc, argv, MPI_COMM_WORLD);
  try {
    mpi::Context context(MPI_COMM_WORLD);
    int status = 0;
    try {
      const Report report = measure_all(context, benchmark, options);
      if (context.rank() == 0) status = deliver(report, options);
    } catch (const WrongResult& error) {
      status = context.rank() == 0 ? complain(benchmark, error.what()) : 1;
    }
    return status;
  } catch (const std::exception& error) {
    complain(benchmark, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);  // other ranks may know nothing of it, and wait
    return 1;
  }
}

}  // namespace

int run_benchmark(int argc, char** argv, const Benchmark& benchmark) {
  const auto parsed = parse_options(argc, argv, benchmark.name, benchmark.description);
  if (const auto* message = std::get_if<Message>(&parsed)) {
    std::fputs(message->text.c_str(), message->status == 0 ? stdout : stderr);
    return message->status;
  }
  const Options& options = std::get<Options>(parsed);
  if (options.list_ranks) {
    std::fputs(fmt::format("{}\n", fmt::join(benchmark.ranks, " ")).c_str(), stdout);
    return 0;
  }
  if (options.list_link_rate) {
    std::fputs(fmt::format("{}\n", benchmark.link_rate).c_str(), stdout);
    return 0;
  }
  try {
    if (!options.merge.empty()) return deliver(merged_files(options), options);
    return run_under_mpi(argc, argv, benchmark, options);
  } catch (const std::exception& error) {
    return complain(benchmark, error.what());
  }
}

}  // namespace plait::bench
