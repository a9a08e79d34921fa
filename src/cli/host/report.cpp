#include "cli/host/report.hpp"

#include "plait/mpi/environment.hpp"

#include "cli/host/text.hpp"
#include "cli/pictures/page.hpp"

namespace plait::cli {

std::string moved_text(const Moved& moved) {
  std::string text = fmt::format("{} in {}", bytes_text(moved.bytes), seconds_text(moved.seconds));
  if (moved.bytes == 0 || moved.seconds <= 0) return text;
  return text + ", " + rate_text(moved.bytes, moved.seconds);
}

nlohmann::ordered_json json_of(const Moved& moved) {
  const double rate = moved.seconds > 0 ? static_cast<double>(moved.bytes) / moved.seconds : 0.0;
  return {{"bytes", moved.bytes}, {"seconds", moved.seconds}, {"bytes_per_second", rate}};
}

nlohmann::ordered_json json_of(const InputFile& file) {
  return {{"path", file.path}, {"format", io::name(file.kind)}, {"order", order_name(file.order)}};
}

nlohmann::ordered_json output_json(const std::string& path) {
  return path.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json{{"path", path}};
}

nlohmann::ordered_json json_of(const MemoryEstimate& memory) {
  return {{"largest_rank_bytes", memory.largest_rank}, {"fullest_node_bytes", memory.fullest_node}};
}

std::string_view order_name(StorageOrder order) { return order == StorageOrder::row_major ? "C" : "F"; }

std::string_view status_of(iterate::End end) {
  if (end == iterate::End::converged) return "converged";
  if (end == iterate::End::finished) return "finished";
  return end == iterate::End::limit ? "iteration limit" : "numerical limit";
}

nlohmann::ordered_json scalar_json(const Scalar& scalar, io::DType dtype) {
  return io::with_dtype(dtype, [&]<class T>() -> nlohmann::ordered_json {
    if constexpr (std::is_integral_v<T>) return scalar.as<T>();
    const auto value = scalar.rounded();
    if constexpr (std::is_floating_point_v<T>) return value.real();
    return {value.real(), value.imag()};
  });
}

Report::Report(const std::string& command, std::string line)
    : json_{{"command", command}, {"version", PLAIT_VERSION}}, line_(std::move(line)) {}

Report::Report(const mpi::Context& context, const std::string& command, std::string line)
    : Report(command, std::move(line)) {
  json_.update({{"mpi", mpi::library_version()}, {"ranks", context.size()}, {"nodes", context.topology().nodes()}});
}

void Report::put(std::string_view key, const nlohmann::ordered_json& value) {
  nlohmann::ordered_json* place = &json_;
  for (auto dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
    place = &(*place)[std::string(key.substr(0, dot))];
    key.remove_prefix(dot + 1);
  }
  place = &(*place)[std::string(key)];
  if (place->is_object() && value.is_object()) {
    place->update(value);
  } else {
    *place = value;
  }
}

void Report::line(std::string_view what, std::string_view words) {
  summary_ += fmt::format("{:{}}{:<{}}{}\n", "", indent_, what, label_width_, words);
}

void Report::iterations(const Iterated& iterated, std::string_view more) {
  const auto& [state, seconds, resumed_at] = iterated;
  line("status", fmt::format("{}: {}", fact("status", status_of(state.end)), fact("reason", state.reason)));
  line("iterated", fmt::format("{} in {}{}", counted(fact("iterations", state.step), "iteration"),
                               seconds_text(fact("iterate_seconds", seconds)), more));
  if (fact("resumed_at", resumed_at) > 0) line("resumed", fmt::format("after iteration {}", resumed_at));
  tile(fmt::format("{}", state.step), state.step == 1 ? "iteration" : "iterations");
}

void Report::file(std::string_view what, const std::string& path) {
  if (!fact_or_null(what, path).empty()) line(what, path);
}

void Report::page_head(std::string subject, std::string summary) {
  subject_ = std::move(subject);
  page_summary_ = std::move(summary);
}

void Report::tile(std::string_view number, std::string_view words) {
  tiles_ += fmt::format("<div><b>{}</b>{}</div>\n", number, words);
}

void Report::print(bool json, bool quiet) const {
  if (json) {
    print_result(json_line(json_));
  } else if (!quiet) {
    print_result(summary_);
  }
}

std::string Report::page() const {
  std::string body = tiles_.empty() ? "" : "<div class=\"tiles\">\n" + tiles_ + "</div>\n";
  std::vector<std::string> figures = figures_;
  if (!rows_.empty()) {
    std::vector<std::vector<std::string>> rows{{"", "value"}};
    rows.insert(rows.end(), rows_.begin(), rows_.end());
    figures.push_back("<h2>Results</h2>\n" + table(rows));
  }
  if (!figures.empty()) body += side_by_side(figures);
  return cli::page({subject_, line_, page_summary_}, body + sections_);
}

}  // namespace plait::cli
