#include "bench/harness/benchmark.hpp"

#include <omp.h>

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/environment.hpp"

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
  if (job.peer) contenders.push_back(*job.peer);

  verify(context, description.name, job, contenders.front());
  if (job.peer) verify(context, description.name, job, *job.peer);
  auto seconds = measure(context.comm(), contenders, job.rewrite, repetitions);

  std::vector<Samples> samples;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (contenders[i].run) {
      for (double& sample : seconds[i]) sample /= job.instances;
    }
    samples.push_back({contenders[i].name, std::move(seconds[i])});
  }
  Record record = make_record(description.name, std::move(samples), job.limits.size());
  record.setup_seconds = mpi::all_reduce(context.comm(), job.setup_seconds, mpi::Operation::maximum());
  return record;
}

Repetitions repetitions_for(const Options& options) {
  if (options.repetitions) return Repetitions::exactly(*options.repetitions);
  return options.quick ? Repetitions::exactly(2) : Repetitions{};
}

// One core a rank, which is what the limits use, unless the user says otherwise.
void use_one_thread() {
  if (std::getenv("OMP_NUM_THREADS") == nullptr) omp_set_num_threads(1);
}

Report measure_all(mpi::Context& context, const Benchmark& benchmark, const Options& options) {
  use_one_thread();
  Report report;
  report.program = benchmark.name;
  report.description = benchmark.description;
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
    Record record = measure_case(context, description, repetitions_for(options));
    if (have_cores && !options.quick) {
      record.gate = description.gate;
      record.aim = description.aim;
    }
    say(table_line(record));
    report.records.push_back(std::move(record));
  }
  return report;
}

Report merged_files(const std::vector<std::string>& paths) {
  std::vector<Report> reports;
  for (const std::string& path : paths) reports.push_back(read_report(path));
  return merged(reports);
}

// Writes what was asked for; the exit status.
int deliver(const Report& report, const Options& options) {
  if (!options.json.empty()) write_file(options.json, to_json(report));
  if (!options.plot.empty()) write_file(options.plot, svg_plot(report));
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

int run_under_mpi(int& argc, char**& argv, const Benchmark& benchmark, const Options& options) {
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
    if (!options.merge.empty()) return deliver(merged_files(options.merge), options);
    return run_under_mpi(argc, argv, benchmark, options);
  } catch (const std::exception& error) {
    return complain(benchmark, error.what());
  }
}

}  // namespace plait::bench
