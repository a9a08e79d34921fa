// plait repartition: parts of a graph that are balanced again.
#include "plait/partition/repartition.hpp"

#include "cli/partition/graph_job.hpp"
#include "cli/pictures/axis_plot.hpp"

namespace plait::cli {

namespace {

class Repartition : public PartsJob {
 public:
  void options(Options& options) override {
    options.describe(
        "Balance the parts of a graph again, and trade the cut for what moves",
        R"(The ways to do that of which none other has both less cut and less moved are printed. Of those that move as
much as --moved-at-most allows, the one with the least cut is written. What belongs to the vertices, --move brings to
where the new parts have it.

Example:
  mpirun -n 4 plait repartition mesh.graph --from old.npy --weights w.npy --moved-at-most 10% -o new.npy
  mpirun -n 4 plait repartition mesh.graph --from old.npy --weights w.npy -o new.npy --move u.h5:/u --moved new.h5:/u)");
    add_graph_with_weights(options);
    options.reads("--from", old_path_, "The parts so far: a .npy vector, or a number a line")->required();
    add_parts(options, "How many parts, by default as many as --from has; of fewer, the last ones are dissolved");
    const auto parse_moved = [](std::string_view text) { return parse_share(text); };
    add_value(options, "--moved-at-most", most_moved_, parse_moved, "SHARE",
              "How much of the data may move, of the sizes of vertices or else of their number, as 10% or 0.1; all by "
              "default");
    rows_.declare(options, "as --move-order says");
    add_choice(options, "--move-order", are_rows_by_parts_, {{"parts", true}, {"vertices", false}}, "ORDER",
               "How rows of --move follow each other: {}, where parts are those of --from, part 0 first");
    options.host({.machine = false, .page = "the parts, how they touch, and the ways to choose from"});
  }

  void draw(Report& report, Work& work) override {
    PartsJob::draw(report, work);
    report.figure(front_picture());
  }

 private:
  std::vector<int> find(Work& work) override {
    parts_ = parts_.value_or(old_parts());
    sizes_ = view_.total_size();
    if (are_rows_by_parts_) rows_before_ = old_;
    found_by_ = partition::repartition(work.context, view_, points_, old_, {*parts_, imbalance_, most_moved_, seed_});
    return std::move(found_by_.part);
  }
  [[nodiscard]] std::string result() const override {
    return fmt::format("{}, {}", counted(*parts_, "part"), found_by_.way.name);
  }

  void report_own(Report& report) const override {
    const auto& [name, cut, moved] = found_by_.way;
    const partition::Quality before = partition::quality_of(view_, old_, old_parts());
    report.fact("from.path", old_path_);
    report.line("before", "cut {}, imbalance {:.2f} %", report.fact("from.cut", before.cut),
                100 * report.fact("from.imbalance", before.imbalance));
    report.line("parts", "{}, {}", *parts_, report.fact("way", name));
    report_quality(report);
    const bool could_be_less = most_moved_ == 1 && found_by_.front.size() > 1;
    report.line("moved", "{} of the data{}", percent(report.fact("moved", moved)),
                could_be_less ? "; less with --moved-at-most" : "");
    report.fact("moved_share", share(moved));
    auto front = nlohmann::ordered_json::array();
    for (const auto& way : found_by_.front) {
      const std::string words = fmt::format("cut {}, moved {}", way.cut, percent(way.moved));
      report.line(front.empty() ? "ways" : "", words + ": " + way.name);
      report.row(way.name, words);
      front.push_back({{"way", way.name}, {"cut", way.cut}, {"moved", way.moved}});
    }
    report.fact("front", front);
    report.tile(percent(moved), "of the data moved");
    report.tile(fmt::format("{}", before.cut), fmt::format("the cut before, of {}", counted(before.parts, "part")));
  }

  [[nodiscard]] int old_parts() const { return old_.empty() ? 1 : std::ranges::max(old_) + 1; }
  [[nodiscard]] double share(Index moved) const {
    return static_cast<double>(moved) / static_cast<double>(std::max(Index{1}, sizes_));
  }
  [[nodiscard]] std::string percent(Index moved) const { return percent_text(share(moved), 1); }

  [[nodiscard]] std::string front_picture() const {
    const auto point = [&](const partition::Way& way) -> AxisPlot::Point {
      return {100 * share(way.moved), static_cast<double>(way.cut)};
    };
    const auto low = point(found_by_.front.front());  // that moves least and cuts most
    const auto high = point(found_by_.front.back());
    AxisPlot plot(axis_around("data moved, %", Scale::linear, low.x, high.x, 1),
                  axis_around("cut", Scale::counts, high.y - (low.y - high.y) / 8, low.y, 2), 360,
                  "cut and data moved of each way");
    for (const auto& way : found_by_.front) {
      const bool is_taken = way.name == found_by_.way.name;
      plot.point(is_taken ? "plait" : "peer", point(way), 6,
                 fmt::format("{}: cut {}, moved {}", way.name, way.cut, percent(way.moved)));
      if (is_taken) plot.note(point(way), way.name);  // names of all would overlap
    }
    return fmt::format(
        "<h2>Ways to choose from</h2>\n{}<p class=\"soft\">None other has both less cut and less moved. Blue: the one "
        "that was taken, with the least cut of those that move at most {:g} %. Names where the pointer rests.</p>\n",
        plot.svg(), 100 * most_moved_);
  }

  bool are_rows_by_parts_ = true;
  double most_moved_ = 1;
  Index sizes_ = 0;                  // of all vertices
  partition::Repartition found_by_;  // but for the parts
};

}  // namespace

PLAIT_JOB(repartition, Repartition)

}  // namespace plait::cli
