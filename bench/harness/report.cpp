#include "bench/harness/report.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"

namespace plait::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "plait-bench-1";

Json json(const Interval& interval) { return Json::array({interval.low, interval.high}); }

Json json(const Goal& goal) {
  if (goal.empty()) return nullptr;
  Json value = Json::object();
  if (goal.fraction_of_limit) value["fraction_of_limit"] = *goal.fraction_of_limit;
  if (goal.speedup_over_peer) value["speedup_over_peer"] = *goal.speedup_over_peer;
  if (goal.cost_over_best) value["cost_over_best"] = *goal.cost_over_best;
  return value;
}

// With whether it is met, for readers that don't compare themselves.
Json json(const Record& record, const Goal& goal) {
  Json value = json(goal);
  if (!goal.empty()) value["met"] = meets(record, goal);
  return value;
}

Json json(const Record& record) {
  Json value;
  value["case"] = record.name;
  value["seconds"] = record.seconds.median;
  value["spread"] = json(record.seconds.spread);
  value["setup_seconds"] = record.setup_seconds;
  value["limit"] = record.limit;
  value["limit_seconds"] = record.limit_seconds;
  value["fraction_of_limit"] = record.fraction_of_limit.median;
  value["fraction_of_limit_spread"] = json(record.fraction_of_limit.spread);
  const auto& peer = record.comparison;
  value["peer"] = peer ? Json(peer->peer) : Json();
  value["peer_seconds"] = peer ? Json(peer->seconds) : Json();
  value["speedup_over_peer"] = peer ? Json(peer->speedup.median) : Json();
  value["speedup_over_peer_spread"] = peer ? json(peer->speedup.spread) : Json();
  value["gate"] = json(record, record.gate);
  value["aim"] = json(record, record.aim);
  for (const auto& [contender, cost] : record.costs) value["costs"][contender] = cost;
  value["samples"] = Json::object();
  for (const Samples& samples : record.samples) value["samples"][samples.contender] = samples.seconds;
  return value;
}

Interval interval_from(const Json& value) { return {value.at(0).get<double>(), value.at(1).get<double>()}; }

Goal goal_from(const Json& value) {
  Goal goal;
  if (value.contains("fraction_of_limit")) goal.fraction_of_limit = value["fraction_of_limit"].get<double>();
  if (value.contains("speedup_over_peer")) goal.speedup_over_peer = value["speedup_over_peer"].get<double>();
  if (value.contains("cost_over_best")) goal.cost_over_best = value["cost_over_best"].get<double>();
  return goal;
}

Record record_from(const Json& value) {
  Record record;
  value.at("case").get_to(record.name);
  record.seconds = {value.at("seconds").get<double>(), interval_from(value.at("spread"))};
  value.at("setup_seconds").get_to(record.setup_seconds);
  value.at("limit").get_to(record.limit);
  value.at("limit_seconds").get_to(record.limit_seconds);
  record.fraction_of_limit = {value.at("fraction_of_limit").get<double>(),
                              interval_from(value.at("fraction_of_limit_spread"))};
  if (!value.at("peer").is_null()) {
    record.comparison = Comparison{
        value["peer"].get<std::string>(), value.at("peer_seconds").get<double>(),
        Figure{value.at("speedup_over_peer").get<double>(), interval_from(value.at("speedup_over_peer_spread"))}};
  }
  record.gate = goal_from(value.at("gate"));
  record.aim = goal_from(value.at("aim"));
  if (value.contains("costs")) {
    for (const auto& [contender, cost] : value["costs"].items()) record.costs.emplace_back(contender, cost);
  }
  for (const auto& [contender, seconds] : value.at("samples").items()) {
    record.samples.push_back({contender, seconds.get<std::vector<double>>()});
  }
  return record;
}

}  // namespace

std::string to_json(const Report& report) {
  Json head;
  head["schema"] = schema;
  head["program"] = report.program;
  head["description"] = report.description;
  head["commit"] = report.commit;
  head["machine"] = {{"cpu", report.machine.cpu}, {"cores", report.machine.cores}, {"isa", report.machine.isa}};
  head["mpi"] = report.mpi;
  head["quick"] = report.quick;
  head["load_average"] = report.load_average;

  std::string text = "{\n";
  for (const auto& [key, value] : head.items()) text += fmt::format("  {}: {},\n", Json(key).dump(), value.dump());
  text += "  \"records\": [";
  const char* separator = "\n    ";
  for (const Record& record : report.records) {
    text += separator + json(record).dump();
    separator = ",\n    ";
  }
  return text + "\n  ]\n}\n";
}

Report from_json(const std::string& text) {
  try {
    const Json value = Json::parse(text);
    if (value.at("schema") != schema) {
      throw ArgumentError(fmt::format("the schema is {}, expected \"{}\"", value["schema"].dump(), schema));
    }
    Report report;
    value.at("program").get_to(report.program);
    value.at("description").get_to(report.description);
    value.at("commit").get_to(report.commit);
    const Json& machine = value.at("machine");
    machine.at("cpu").get_to(report.machine.cpu);
    machine.at("cores").get_to(report.machine.cores);
    machine.at("isa").get_to(report.machine.isa);
    value.at("mpi").get_to(report.mpi);
    value.at("quick").get_to(report.quick);
    value.at("load_average").get_to(report.load_average);
    for (const Json& record : value.at("records")) report.records.push_back(record_from(record));
    return report;
  } catch (const Json::exception& error) {
    throw ArgumentError(fmt::format("no report of a benchmark: {}", error.what()));
  }
}

Report read_report(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || !text) throw FileError(path + ": can't be read");
  try {
    return from_json(text.str());
  } catch (const ArgumentError& error) {
    throw FileError(path + ": " + error.what());
  }
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw FileError(path + ": can't be written");
}

Report merged(const std::vector<Report>& reports) {
  PLAIT_ASSERT(!reports.empty(), "there is something to merge");
  const auto head = [&](Report report) {
    report.records.clear();
    report.load_average = reports[0].load_average;
    return report;
  };
  Report all = head(reports[0]);
  for (const Report& report : reports) {
    if (head(report) != head(reports[0])) {
      throw ArgumentError(fmt::format(
          "reports of different benchmarks, commits, machines, MPIs or lengths can't be "
          "merged: {} of {} with {}, and {} of {} with {}",
          reports[0].program, reports[0].commit, reports[0].mpi, report.program, report.commit, report.mpi));
    }
    all.records.insert(all.records.end(), report.records.begin(), report.records.end());
  }
  return all;
}

}  // namespace plait::bench
