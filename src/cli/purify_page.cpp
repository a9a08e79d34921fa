#include "cli/purify_page.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/page_parts.hpp"
#include "cli/purify_report.hpp"
#include "cli/quantities.hpp"

namespace plait::cli {

namespace {

using purify::Iterate;

/// Errors by step on a logarithmic scale.
class ConvergencePlot {
 public:
  explicit ConvergencePlot(std::size_t steps) : steps_(std::max(steps, std::size_t{2})) {}

  void add(std::string_view mark, const std::vector<double>& errors) {
    std::string path;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", x(i), y(errors[i]));
    }
    curves_ += fmt::format("<path class=\"{}\" stroke-width=\"2\" d=\"{}\"/>\n", mark, path);
  }

  [[nodiscard]] std::string svg() const {
    std::string text = fmt::format(
        "<svg style=\"max-width:{0}px\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"Errors by step\">\n",
        width + 20, height + 30);
    for (int power = highest; power >= lowest; power -= 4) {
      const double at = y(std::pow(10.0, power));
      text += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/><text x=\"0\" y=\"{:.1f}\">1e{:+}</text>\n", left,
                          at, width, at + 4, power);
    }
    const std::size_t every = std::max(std::size_t{1}, steps_ / 12);
    for (std::size_t i = 0; i < steps_; i += every) {
      text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x(i), height + 16, i);
    }
    return text + curves_ + "</svg>\n";
  }

 private:
  [[nodiscard]] double x(std::size_t step) const {
    return left + 8 + (width - left - 16) * static_cast<double>(step) / static_cast<double>(steps_ - 1);
  }
  [[nodiscard]] static double y(double error) {
    const double power = std::clamp(std::log10(std::max(std::abs(error), 1e-300)), double{lowest}, double{highest});
    return 8 + (height - 16) * (highest - power) / (highest - lowest);
  }

  static constexpr int width = 760;
  static constexpr int height = 300;
  static constexpr int left = 50;
  static constexpr int highest = 4;
  static constexpr int lowest = -16;
  std::size_t steps_;
  std::string curves_;
};

std::string convergence(const PurifyTask& task, const PurifyOutcome& outcome) {
  std::vector<double> idempotency;
  std::vector<double> trace;
  for (const Iterate& iterate : outcome.state.iterates) {
    idempotency.push_back(iterate.idempotency_error);
    trace.push_back(iterate.trace - static_cast<double>(task.occupied));
  }
  ConvergencePlot plot(idempotency.size());
  plot.add("network", trace);
  plot.add("compute", idempotency);
  return "<h2>Convergence</h2>\n<p>" + key("compute", "‖X - X²‖") + key("network", "error of the trace") + "</p>\n" +
         plot.svg() +
         "<p class=\"soft\">By step, on a logarithmic scale. The iteration ends where the errors do not fall by order "
         "2 "
         "any more, which only rounding prevents.</p>\n";
}

/// Sizes of elements in steps of a decade, neighbours of one shade as one rectangle.
std::string picture(const Picture& picture) {
  if (picture.cells == 0) return {};
  constexpr int shades = 8;
  constexpr int side = 640;
  const double largest = *std::max_element(picture.sizes.begin(), picture.sizes.end());
  const auto shade = [&](double size) {
    if (!(size > 0) || !(largest > 0)) return 0;
    return std::clamp(shades - static_cast<int>(std::floor(-std::log10(size / largest))), 0, shades);
  };
  const double width = static_cast<double>(side) / static_cast<double>(picture.cells);
  std::vector<std::string> paths(shades + 1);
  for (Index row = 0; row < picture.cells; ++row) {
    const auto at = [&](Index column) {
      return shade(picture.sizes[static_cast<std::size_t>(row * picture.cells + column)]);
    };
    for (Index begin = 0; begin < picture.cells;) {
      Index end = begin + 1;
      while (end < picture.cells && at(end) == at(begin)) ++end;
      paths[static_cast<std::size_t>(at(begin))] +=
          fmt::format("M{:.2f} {:.2f}h{:.2f}", static_cast<double>(begin) * width,
                      (static_cast<double>(row) + 0.5) * width, static_cast<double>(end - begin) * width);
      begin = end;
    }
  }
  std::string text = fmt::format(
      "<h2>The density matrix</h2>\n<svg style=\"max-width:{0}px\" viewBox=\"0 0 {0} {0}\" role=\"img\" "
      "aria-label=\"Sizes of the elements of the density matrix\" shape-rendering=\"crispEdges\">\n"
      "<path class=\"grid\" d=\"M0 0H{0}V{0}H0Z\"/>\n",
      side);
  for (int level = 1; level <= shades; ++level) {
    const std::string& path = paths[static_cast<std::size_t>(level)];
    if (path.empty()) continue;
    text += fmt::format("<path class=\"compute\" stroke-width=\"{:.2f}\" opacity=\"{:.3f}\" d=\"{}\"/>\n", width + 0.05,
                        static_cast<double>(level) / shades, path);
  }
  return text + fmt::format(
                    "</svg>\n<p class=\"soft\">The darkest elements are of the size {:.3g}; each shade less is "
                    "a factor of ten. A cell shows the largest of its elements.</p>\n",
                    largest);
}

std::string head(const PurifyOptions& options, const PurifyTask& task, const PurifyOutcome& outcome) {
  std::string text = fmt::format("<h1>{}</h1>\n<p class=\"soft\">{} electrons in {} of {} states, by {}; {}</p>\n",
                                 escaped(options.input), *options.electrons, task.occupied, task.states,
                                 name(task.method), counted(static_cast<Index>(outcome.trace.ranks.size()), "rank"));
  text += "<div class=\"tiles\">\n" + tile(fmt::format("{:.10g}", outcome.energy), "energy");
  if (task.occupied > 0 && task.occupied < task.states) {
    text += tile(fmt::format("{:.6g}", outcome.frontier.gap()), "gap");
  }
  text += tile(fmt::format("{}", outcome.state.iterates.size() - 1), "steps");
  text += tile(flops_text(outcome), "in products");
  text += tile(hidden_text(outcome), "of the communication hidden under computation");
  return text + "</div>\n";
}

std::string results(const PurifyTask& task, const PurifyOutcome& outcome) {
  std::vector<std::vector<std::string>> rows{{"", "value"}};
  rows.push_back({"tr(DH), times the electrons of a state", fmt::format("{:.12g}", outcome.energy)});
  if (task.occupied > 0 && task.occupied < task.states) {
    rows.push_back({"highest occupied state", fmt::format("{:.8g}", outcome.frontier.highest_occupied)});
    rows.push_back({"lowest empty state", fmt::format("{:.8g}", outcome.frontier.lowest_empty)});
    rows.push_back({"chemical potential", fmt::format("{:.8g} to {:.8g}", outcome.chemical_potentials.low,
                                                      outcome.chemical_potentials.high)});
  }
  rows.push_back({"error of the trace", fmt::format("{:.2e}", outcome.trace_error)});
  rows.push_back({task.overlap ? "‖DSD - D‖" : "‖D² - D‖", fmt::format("{:.2e}", outcome.idempotency_error)});
  rows.push_back({"commutator with H", fmt::format("{:.2e}", outcome.commutator_error)});
  rows.push_back({"products", fmt::format("{}", outcome.multiplications)});
  rows.push_back({"volume / lower bound", volume_text(outcome)});
  return "<h2>Results</h2>\n" + table(rows);
}

}  // namespace

std::string purify_page(const PurifyOptions& options, const PurifyTask& task, const PurifyOutcome& outcome) {
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
             "content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
             escaped(options.input), page_style) +
         head(options, task, outcome) + convergence(task, outcome) + picture(outcome.picture) + results(task, outcome) +
         timeline_section(outcome.trace, outcome.overlap.span) + "</body>\n</html>\n";
}

}  // namespace plait::cli
