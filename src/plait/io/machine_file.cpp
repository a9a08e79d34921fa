#include "plait/io/machine_file.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "plait/base/error.hpp"
#include "plait/io/text/text_file.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::io {

namespace {

using model::BandwidthCurve;
using nlohmann::json;

constexpr std::string_view format_name = "plait-machine";
constexpr Index longest_file = Index{1} << 20;
constexpr const char* product_rate = "product_flops_per_second";

/// A value in the file, and the way to it: "network.streams[0].one_way".
class Value {
 public:
  Value(const json& value, std::string key, const std::string& path)
      : value_(value), key_(std::move(key)), path_(path) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw FileError(fmt::format("{}: {}{}{}", path_, key_, key_.empty() ? "" : " ", what));
  }

  /// \param optional  a key that may be there, too
  void expect_keys(const std::vector<std::string_view>& keys, std::string_view optional = {}) const {
    if (!value_.is_object()) fail(fmt::format("is {}, expected an object", shown(value_)));
    for (const std::string_view key : keys) {
      if (!value_.contains(key)) fail(fmt::format("has no key {}, expected {}", key, fmt::join(keys, ", ")));
    }
    for (const auto& [key, value] : value_.items()) {
      if (key == optional || std::ranges::find(keys, key) != keys.end()) continue;
      fail(fmt::format("has the key {}, expected {}", shown(json(key)), fmt::join(keys, ", ")));
    }
  }

  [[nodiscard]] bool has(const char* key) const { return value_.contains(key); }
  [[nodiscard]] Value at(const char* key) const {
    return {value_.at(key), key_.empty() ? key : fmt::format("{}.{}", key_, key), path_};
  }

  [[nodiscard]] std::vector<Value> elements() const {
    if (!value_.is_array()) fail(fmt::format("is {}, expected an array", shown(value_)));
    std::vector<Value> all;
    all.reserve(value_.size());
    for (std::size_t i = 0; i < value_.size(); ++i) all.emplace_back(value_[i], fmt::format("{}[{}]", key_, i), path_);
    return all;
  }

  [[nodiscard]] std::string text() const {
    if (!value_.is_string()) fail(fmt::format("is {}, expected a text", shown(value_)));
    return value_.get<std::string>();
  }

  [[nodiscard]] bool truth() const {
    if (!value_.is_boolean()) fail(fmt::format("is {}, expected true or false", shown(value_)));
    return value_.get<bool>();
  }

  [[nodiscard]] double number() const {
    if (!value_.is_number()) fail(fmt::format("is {}, expected a number", shown(value_)));
    return value_.get<double>();
  }

  [[nodiscard]] Index whole(Index highest = std::numeric_limits<int>::max()) const {
    const bool fits = value_.is_number_unsigned() && value_.get<std::uint64_t>() >= 1 &&
                      value_.get<std::uint64_t>() <= static_cast<std::uint64_t>(highest);
    if (!fits) fail(fmt::format("is {}, expected a whole number from 1 to {}", shown(value_), highest));
    return value_.get<Index>();
  }

 private:
  const json& value_;
  std::string key_;
  const std::string& path_;
};

BandwidthCurve curve_at(const Value& value) {
  std::vector<BandwidthCurve::Point> points;
  for (const Value& point : value.elements()) {
    const std::vector<Value> pair = point.elements();
    if (pair.size() != 2) point.fail(fmt::format("has {} numbers, expected [bytes, bytes per second]", pair.size()));
    points.push_back({pair[0].whole(std::numeric_limits<Index>::max()), pair[1].number()});
  }
  try {
    return BandwidthCurve(std::move(points));
  } catch (const ArgumentError& error) {
    value.fail(fmt::format("is no curve: {}", error.what()));
  }
}

model::Link link_at(const Value& value) {
  value.expect_keys({"measured", "latency_seconds", "streams"});
  model::Link link{
      .measured = value.at("measured").truth(), .latency_seconds = value.at("latency_seconds").number(), .streams = {}};
  for (const Value& streams : value.at("streams").elements()) {
    streams.expect_keys({"ranks", "one_way", "both_ways"});
    link.streams.push_back({static_cast<int>(streams.at("ranks").whole()), curve_at(streams.at("one_way")),
                            curve_at(streams.at("both_ways"))});
  }
  return link;
}

void expect_format(const Value& file) {
  const Value format = file.at("format");
  if (format.text() != format_name) format.fail(fmt::format("is not \"{}\"", format_name));
  const Value version = file.at("version");
  if (version.whole() == machine_file_version) return;
  version.fail(fmt::format("is {}, expected {}: measure the machine again", version.whole(), machine_file_version));
}

std::string text_of(const BandwidthCurve& curve) {
  std::vector<std::string> points;
  for (const auto& point : curve.points()) {
    points.push_back(fmt::format("[{}, {}]", point.message_bytes, point.bytes_per_second));
  }
  return fmt::format("[{}]", fmt::join(points, ", "));
}

std::string text_of(const model::Link& link) {
  std::vector<std::string> streams;
  streams.reserve(link.streams.size());
  for (const model::Streams& of : link.streams) {
    streams.push_back(fmt::format("      {{\"ranks\": {},\n       \"one_way\": {},\n       \"both_ways\": {}}}",
                                  of.ranks, text_of(of.one_way), text_of(of.both_ways)));
  }
  return fmt::format("{{\n    \"measured\": {},\n    \"latency_seconds\": {},\n    \"streams\": [\n{}\n    ]\n  }}",
                     link.measured, link.latency_seconds, fmt::join(streams, ",\n"));
}

}  // namespace

std::string machine_text(const model::Machine& machine) {
  const std::string description = json(machine.description).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string text = fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"description\": {},\n", format_name,
                                 machine_file_version, description);
  const auto line = [&text](std::string_view key, const auto& value) {
    text += fmt::format("  \"{}\": {},\n", key, value);
  };
  line("ranks_per_node", machine.ranks_per_node);
  line("cores_per_node", machine.cores_per_node);
  line("numa_nodes", machine.numa_nodes);
  line("combine_bytes_per_second", machine.combine_bytes_per_second);
  line("read_bytes_per_second", machine.read_bytes_per_second);
  line("copy_bytes_per_second", machine.copy_bytes_per_second);
  line(product_rate, machine.product_flops_per_second);
  line("node", text_of(machine.node));
  return text + fmt::format("  \"network\": {}\n}}\n", text_of(machine.network));
}

model::Machine parse_machine(std::string_view text, const std::string& path) {
  const json value = parse_strictly(text, [&](const std::string& what) { throw FileError(path + ": " + what); });
  const Value file(value, "", path);
  file.expect_keys({"format", "version", "description", "ranks_per_node", "cores_per_node", "numa_nodes",
                    "combine_bytes_per_second", "read_bytes_per_second", "copy_bytes_per_second", "node", "network"},
                   product_rate);
  expect_format(file);
  const bool has_products = file.has(product_rate);
  model::Machine machine{.description = file.at("description").text(),
                         .ranks_per_node = static_cast<int>(file.at("ranks_per_node").whole()),
                         .cores_per_node = static_cast<int>(file.at("cores_per_node").whole()),
                         .numa_nodes = static_cast<int>(file.at("numa_nodes").whole()),
                         .combine_bytes_per_second = file.at("combine_bytes_per_second").number(),
                         .read_bytes_per_second = file.at("read_bytes_per_second").number(),
                         .copy_bytes_per_second = file.at("copy_bytes_per_second").number(),
                         .product_flops_per_second = has_products ? file.at(product_rate).number()
                                                                  : model::default_machine().product_flops_per_second,
                         .node = link_at(file.at("node")),
                         .network = link_at(file.at("network"))};
  if (!has_products) machine.description += "; rate of products assumed";
  try {
    expect_valid(machine);
  } catch (const ArgumentError& error) {
    file.fail(error.what());
  }
  return machine;
}

model::Machine read_machine(mpi::Context& context, const std::string& path) {
  const std::string text = read_text(context, path, longest_file, "a machine in JSON");
  return mpi::agreed(context, [&] { return parse_machine(text, path); });
}

}  // namespace plait::io
