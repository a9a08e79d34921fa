#include "bench/harness/table.hpp"

#include <utility>

#include <fmt/format.h>

namespace plait::bench {

namespace {

// Three digits, as seconds_text writes them: a fraction, a speedup, or a time in its unit.
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

std::string text(const Figure& figure) {
  return fmt::format("{} [{}, {}]", three_digits(figure.median), three_digits(figure.spread.low),
                     three_digits(figure.spread.high));
}

std::string line(const std::string& name, const std::string& seconds, const std::string& limit,
                 const std::string& fraction, const std::string& peer, const std::string& speedup,
                 const std::string& gate, const std::string& aim) {
  return fmt::format("{:<58} {:>8} {:>8} {:<18} {:>8} {:<18} {:<6} {}\n", name, seconds, limit, fraction, peer, speedup,
                     gate, aim);
}

}  // namespace

std::string seconds_text(double seconds) {
  if (seconds >= 0.9995) return three_digits(seconds) + " s";
  if (seconds >= 0.9995e-3) return three_digits(seconds * 1e3) + " ms";
  if (seconds >= 0.9995e-6 || seconds == 0) return three_digits(seconds * 1e6) + " us";
  return three_digits(seconds * 1e9) + " ns";
}

std::string verdict(const Record& record, const Goal& goal) {
  if (goal.empty()) return "-";
  return meets(record, goal) ? "met" : "missed";
}

std::string table_head() {
  return line("case", "plait", "limit", "limit / plait", "peer", "peer / plait", "gate", "aim");
}

std::string table_line(const Record& record) {
  const auto& peer = record.comparison;
  std::string text_of_line =
      line(record.name, seconds_text(record.seconds.median), seconds_text(record.limit_seconds),
           text(record.fraction_of_limit), peer ? seconds_text(peer->seconds) : "-", peer ? text(peer->speedup) : "-",
           verdict(record, record.gate), verdict(record, record.aim));
  const char* separator = "  cost: ";
  for (const auto& [contender, cost] : record.costs) {
    text_of_line.insert(text_of_line.size() - 1,
                        fmt::format("{}{} {:g}", std::exchange(separator, ", "), contender, cost));
  }
  return text_of_line;
}

}  // namespace plait::bench
