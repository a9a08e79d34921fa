// How fast stochastic methods come near what they minimise, for k-means: error over time, and scaling.
//
//   ./dev bench learn                                          on one rank and on two
//   ./dev bench learn --rate 1gbit --ranks 1,2,4               a node of the emulated cluster for each rank
//   ./dev bench learn --points 1000000 --clusters 10           as many, with so many clusters
//
// Each rank has its part of the points. Compared are batch (Lloyd's iteration), minibatch (a reduction for each batch),
// SimuParallelSGD (each rank by itself, then the mean) and ASGD (the same with states of others). Time is that of the
// slowest rank, without the objectives that only the figures need. The error is how much the objective is above the
// least that any of them found. Beside the report is a page with the curves.

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/kmeans/solver.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/environment.hpp"

#include "bench/harness/machine.hpp"
#include "bench/harness/mpi_name.hpp"
#include "bench/harness/report.hpp"
#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/page.hpp"

namespace {

using namespace plait;
using nlohmann::json;
using Curve = std::vector<std::array<double, 2>>;  // seconds and the objective, after each iteration

constexpr Index dimension = 10;
constexpr double near_error = 0.03;

struct Options {
  Index points = 10'000'000;
  std::vector<Index> clusters{10, 100};
  Index epochs = 6;
  Index batch = 500;
  std::string json, page, commit = "unknown";
  std::vector<std::string> merge;
  bool quick = false, list_ranks = false, list_link_rate = false;
};

struct Method {
  std::string name;
  std::string mark;  // the class of its curve
};
const std::vector<Method> methods{
    {"batch", "peer"}, {"minibatch", "network"}, {"SimuParallelSGD", "node"}, {"ASGD", "plait"}};

Index blob_of(Index row, Index clusters) {
  return static_cast<Index>(random_bits(1, static_cast<std::uint64_t>(row)) % static_cast<std::uint64_t>(clusters));
}

/// The first point of each blob, so that all methods have one place to go to.
std::vector<double> first_of_blobs(const kmeans::Points<double>& points, Index clusters) {
  std::vector<Index> rows(at(clusters), -1);
  for (Index row = points.count() - 1; row >= 0; --row) rows[at(blob_of(row, clusters))] = row;
  std::erase(rows, -1);
  return points.rows(rows);
}

/// Points around as many centres as there are clusters, those of a rank: they overlap.
std::vector<double> blobs(const mpi::Context& context, Index all, Index clusters) {
  const Index begin = all * context.rank() / context.size();
  const Index end = all * (context.rank() + 1) / context.size();
  std::vector<double> x;
  x.reserve(at((end - begin) * dimension));
  for (Index i = begin; i < end; ++i) {
    const auto row = static_cast<std::uint64_t>(i);
    const auto blob = static_cast<std::uint64_t>(blob_of(i, clusters));
    for (std::uint64_t c = 0; c < dimension; ++c) {
      const double radius = std::sqrt(-2 * std::log(1 - random_uniform(3, row * dimension + c)));
      const double angle = 6.283185307179586 * random_uniform(4, row * dimension + c);
      x.push_back(4 * random_uniform(2, blob * dimension + c) + radius * std::cos(angle));
    }
  }
  return x;
}

template <class Solver, class Extra>
Curve curve_of(mpi::Context& context, Solver& solver, const Extra& extra) {
  Curve curve;
  mpi::barrier(context.comm());
  const Stopwatch watch;
  double shared = 0;  // what all ranks spent on telling each other their times
  while (solver.advance()) {
    const double own = watch.seconds() - shared - extra();
    const Stopwatch telling;
    curve.push_back({mpi::all_reduce(context.comm(), own, mpi::Operation::maximum()), solver.objectives().back()});
    shared += telling.seconds();
  }
  return curve;
}

Curve run(mpi::Context& context, const kmeans::Points<double>& points, const std::vector<double>& start,
          const std::string& method, const Options& options) {
  constexpr Index parts = 10;  // of an epoch, after each of which the error is looked at
  const bool is_batch = method == "batch";
  kmeans::Options its{.limits = {0, (is_batch ? 15 : parts) * options.epochs}, .batch = options.batch};
  its.epoch = std::max<Index>(1, options.points / parts);
  if (!is_batch) its.draw = method == "minibatch" ? kmeans::Draw::batches : kmeans::Draw::own_batches;
  if (method == "SimuParallelSGD") its.exchange = iterate::Exchange::nothing;
  kmeans::Solver<double> solver(points, start, its);
  return curve_of(context, solver, [&] { return is_batch ? 0.0 : solver.objective_seconds(); });
}

json measured(mpi::Context& context, const Options& options) {
  json runs = json::array();
  for (const Index clusters : options.clusters) {
    const std::vector<double> x = blobs(context, options.points, clusters);
    const kmeans::Points<double> points(context,
                                        {x.data(), static_cast<Index>(x.size()) / dimension, dimension, dimension});
    const std::vector<double> start = first_of_blobs(points, clusters);
    for (const Method& method : methods) {
      runs.push_back({{"method", method.name},
                      {"clusters", clusters},
                      {"ranks", context.size()},
                      {"curve", run(context, points, start, method.name, options)}});
    }
  }
  return {{"program", "learn"},
          {"commit", options.commit},
          {"mpi", bench::mpi_name()},
          {"points", options.points},
          {"cpu", bench::this_machine().cpu},
          {"load_average", bench::load_average()},
          {"batch", options.batch},
          {"runs", runs}};
}

/// Of the objectives of all runs with so many clusters.
double least_of(const json& runs, Index clusters) {
  double least = HUGE_VAL;
  for (const json& run : runs) {
    if (run["clusters"] != clusters) continue;
    for (const auto& [seconds, objective] : run["curve"].get<Curve>()) least = std::min(least, objective);
  }
  return least;
}

/// When the error stays below that; infinite if it does not.
double seconds_to(const Curve& curve, double least, double error) {
  double seconds = HUGE_VAL;
  for (auto each = curve.rbegin(); each != curve.rend() && (*each)[1] / least - 1 <= error; ++each)
    seconds = (*each)[0];
  return seconds;
}

std::string in_words(double seconds) { return std::isinf(seconds) ? "-" : fmt::format("{:.3g}", seconds); }

std::string page_of(const json& report) {
  using Point = cli::AxisPlot::Point;
  const json& runs = report["runs"];
  std::set<Index> clusters, ranks;
  for (const json& run : runs) {
    clusters.insert(run["clusters"].get<Index>());
    ranks.insert(run["ranks"].get<Index>());
  }
  std::string keys;
  for (const auto& [name, mark] : methods) keys += cli::key(mark, name);
  std::vector<std::string> figures;
  std::vector<std::vector<std::string>> rows{{"clusters", "ranks", "method", "iterations", "error at the end",
                                              fmt::format("seconds to {:g} %", 100 * near_error)}};
  for (const Index k : clusters) {
    const double least = least_of(runs, k);
    std::map<Index, std::map<std::string, std::vector<Point>>> errors;  // over time, by ranks and method
    std::map<std::string, std::vector<Point>> scaling;
    for (const json& run : runs) {
      if (run["clusters"] != k) continue;
      const auto curve = run["curve"].get<Curve>();
      const auto name = run["method"].get<std::string>();
      const auto of = run["ranks"].get<Index>();
      for (const auto& [seconds, objective] : curve) {
        errors[of][name].push_back({seconds, std::max(objective / least - 1, 1e-6)});
      }
      const double seconds = seconds_to(curve, least, near_error);
      scaling[name].push_back({static_cast<double>(of), std::isinf(seconds) ? std::nan("") : seconds});
      rows.push_back({fmt::format("{}", k), fmt::format("{}", of), name, fmt::format("{}", curve.size()),
                      fmt::format("{:.2g}", curve.back()[1] / least - 1), in_words(seconds)});
    }
    const auto plot = [&](const std::string& heading, const cli::PlotAxis& x, const std::string& y,
                          const auto& curves) {
      std::vector<double> numbers;
      for (const auto& [name, its] : curves) {
        for (const Point& each : its) numbers.push_back(each.y);
      }
      cli::AxisPlot picture(x, cli::logarithmic_axis(y, numbers, false), 260, heading);
      for (const auto& [name, mark] : methods) {
        if (curves.contains(name)) picture.curve(mark, y, curves.at(name));
      }
      figures.push_back(fmt::format("<section><h2>{}</h2><p>{}</p>{}</section>", heading, keys, picture.svg()));
    };
    for (const auto& [of, curves] : errors) {
      std::vector<double> times;
      for (const auto& [name, its] : curves) {
        for (const Point& each : its) times.push_back(each.x);
      }
      plot(fmt::format("Error over time, k = {}, {} rank{}", k, of, of == 1 ? "" : "s"),
           cli::logarithmic_axis("seconds", times, false), "error", curves);
    }
    if (ranks.size() > 1) {
      plot(fmt::format("Time to {:g} %, k = {}", 100 * near_error, k),
           {"ranks", cli::Scale::counts, 1, static_cast<double>(*ranks.rbegin())}, "seconds", scaling);
    }
  }
  const std::string summary = fmt::format(
      "{} points of {} coordinates, batches of {}, {}. The error is how much the sum of squared distances is above the "
      "least that was found.",
      report["points"].get<Index>(), dimension, report["batch"].get<Index>(), report["mpi"].get<std::string>());
  return cli::page({"k-means by stochastic methods", "./dev bench learn", summary},
                   cli::side_by_side(figures) + cli::table(rows));
}

void print(const json& report) {
  fmt::print("{:>4} {:>5}  {:<16} {:>10} {:>12} {:>13}\n", "k", "ranks", "method", "iterations", "error",
             fmt::format("seconds to {:g} %", 100 * near_error));
  for (const json& run : report["runs"]) {
    const auto curve = run["curve"].get<Curve>();
    const double least = least_of(report["runs"], run["clusters"].get<Index>());
    fmt::print("{:>4} {:>5}  {:<16} {:>10} {:>12.2g} {:>13}\n", run["clusters"].get<Index>(), run["ranks"].get<Index>(),
               run["method"].get<std::string>(), curve.size(), curve.back()[1] / least - 1,
               in_words(seconds_to(curve, least, near_error)));
  }
}

json read(const std::string& path) {
  std::ifstream file(path);
  return json::parse(file);
}

int run_all(int argc, char** argv, const Options& options) {
  json report;
  if (options.merge.empty()) {
    const mpi::Environment environment(argc, argv, MPI_COMM_WORLD);
    mpi::Context context(MPI_COMM_WORLD);
    report = measured(context, options);
    if (context.rank() != 0) return 0;
  } else {
    report = read(options.merge[0]);
    for (std::size_t i = 1; i < options.merge.size(); ++i) {
      const json part = read(options.merge[i]);
      for (const json& run : part["runs"]) report["runs"].push_back(run);
    }
  }
  print(report);
  if (!options.json.empty()) bench::write_file(options.json, report.dump() + "\n");
  std::string page = options.page;
  if (page.empty() && !options.merge.empty() && !options.json.empty()) {
    page = std::filesystem::path(options.json).replace_extension(".html").string();
  }
  if (!page.empty()) {
    bench::write_file(page, page_of(report));
    fmt::print("{}\n", page);
  }
  // What converges at all is near in the end.
  for (const json& run : report["runs"]) {
    const double least = least_of(report["runs"], run["clusters"].get<Index>());
    if (!(run["curve"].get<Curve>().back()[1] < 2 * least)) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App program("k-means by Lloyd's iteration and by stochastic methods, with and without exchange: error over time",
                   "bench_learn");
  program.add_flag("--quick", options.quick, "few points: checks that it runs, not how fast");
  program.add_option("--points", options.points, "on all ranks, of 10 coordinates; 10000000 by default")
      ->check(CLI::Range(1000, 1'000'000'000));
  program.add_option("--clusters", options.clusters, "10,100 by default")->delimiter(',');
  program
      .add_option("--epochs", options.epochs, "of stochastic methods; batch has 15 iterations for each; 6 by default")
      ->check(CLI::Range(1, 1000));
  program.add_option("--batch", options.batch, "points of a minibatch; 500 by default")
      ->check(CLI::Range(1, 1'000'000));
  program.add_option("--json", options.json, "write the report")->type_name("FILE");
  program.add_option("--plot", options.page, "write the page, which lies beside the report of a merge by default")
      ->type_name("FILE.html");
  program.add_option("--commit", options.commit, "of the sources, for the report");
  program.add_flag("--list-ranks", options.list_ranks, "only say on how many ranks it wants to run");
  program.add_flag("--list-link-rate", options.list_link_rate, "only say which links it wants: none");
  program.add_option("--merge", options.merge, "take these reports instead of measuring")->type_name("FILE...");
  CLI11_PARSE(program, argc, argv);
  if (options.list_ranks) fmt::print("1,2\n");
  if (options.list_ranks || options.list_link_rate) return 0;
  if (options.quick) options.points = 4000, options.clusters = {5}, options.batch = 50;
  try {
    return run_all(argc, argv, options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_learn: error: {}\n", error.what());
    return 1;
  }
}
