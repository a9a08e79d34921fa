#include "plait/partition/repartition.hpp"

#include "plait/partition/quality.hpp"

#include "cli/host/job.hpp"
#include "cli/partition/graph_input.hpp"
#include "cli/partition/moved_rows.hpp"
#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/plane.hpp"

namespace plait::cli {

namespace {

/// Balances the parts of a graph again.
class RepartitionJob : public Job {
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
    input_.declare(options);
    options.reads("--from", from_, "The parts so far: a .npy vector, or a number a line")->required();
    add_value(options, "-k,--parts", parts_, parse_parts, "COUNT",
              "How many parts, by default as many as --from has; of fewer, the last ones are dissolved");
    add_numbers_output(options, output_, "The part of each vertex");
    add_balance(options, how_.imbalance, how_.seed);
    add_value(
        options, "--moved-at-most", how_.most_moved, [](const std::string& text) { return parse_share(text); }, "SHARE",
        "How much of the data may move, of the sizes of vertices or else of their number, as 10% or 0.1; all by "
        "default");
    moved_rows_.declare(options, "as --move-order says");
    add_choice(options, "--move-order", move_order_, {{"parts", RowOrder::parts}, {"vertices", RowOrder::vertices}},
               "ORDER", "How rows of --move follow each other: {}, where parts are those of --from, part 0 first");
    options.host({.machine = false, .page = "the parts, how they touch, and the ways to choose from"});
  }

  void check() override { moved_rows_.check(); }

  std::vector<Index> prepare(Work& work) override {
    moved_rows_.describe(work);
    return {};
  }

  void run(Work& work) override {
    input_.read(work, from_);
    moved_rows_.expect_rows(work, input_.view().vertices());
    const auto old = input_.parts();
    const int old_parts = old.empty() ? 1 : std::ranges::max(old) + 1;
    how_.parts = parts_.value_or(old_parts);
    work.meter.stage("repartitioning", 0, 0);
    seconds_ =
        work.timed([&] { result_ = partition::repartition(work.context, input_.view(), input_.points(), old, how_); });
    write_numbers(work, output_, result_.part);
    input_.write_vtu(work, result_.part);
    moved_rows_.move(work, move_order_ == RowOrder::parts ? old : std::span<const int>(), result_.part);
    quality_ = partition::quality_of(input_.view(), result_.part, how_.parts);
    before_ = partition::quality_of(input_.view(), old, old_parts);
    for (Index v = 0; v < input_.view().vertices(); ++v) sizes_ += input_.view().size(v);
  }

  void report(Report& report, Work& work) override {
    input_.report(report, fmt::format("{}, {}", counted(how_.parts, "part"), result_.way.name));
    report.label(12);
    report.fact("from.path", from_);
    report.line("before", "cut {}, imbalance {:.2f} %", report.fact("from.cut", before_.cut),
                100 * report.fact("from.imbalance", before_.imbalance));
    report.line("parts", "{}, {}", how_.parts, report.fact("way", result_.way.name));
    GraphInput::report_quality(report, quality_, how_.imbalance);
    report.line("moved", "{} of the data", share(report.fact("moved", result_.way.moved)));
    report.fact("moved_share",
                static_cast<double>(result_.way.moved) / static_cast<double>(std::max(Index{1}, sizes_)));
    auto front = nlohmann::ordered_json::array();
    for (const auto& way : result_.front) {
      report.line(&way == result_.front.data() ? "ways" : "", "cut {}, moved {}: {}", way.cut, share(way.moved),
                  way.name);
      report.row(way.name, "cut {}, moved {}", way.cut, share(way.moved));
      front.push_back({{"way", way.name}, {"cut", way.cut}, {"moved", way.moved}});
    }
    report.fact("front", front);
    report.tile(share(result_.way.moved), "of the data moved");
    report.tile(fmt::format("{}", before_.cut), fmt::format("the cut before, of {}", counted(before_.parts, "part")));
    report.fact("seed", how_.seed);
    report.line("partitioned", "in " + seconds_text(report.fact("partition_seconds", seconds_)));
    moved_rows_.report(report);
    report.line("total", seconds_text(report.fact("seconds", work.seconds)));
    report.line("output", report.fact("output.path", output_));
    report.fact_or_null("report", settings.page);
  }

  void draw(Report& report, Work& /*work*/) override {
    input_.draw(report, result_.part, how_.parts);
    report.figure(front_picture());
  }

 private:
  [[nodiscard]] std::string share(Index moved) const {
    return percent_text(static_cast<double>(moved), static_cast<double>(std::max(Index{1}, sizes_)));
  }

  [[nodiscard]] std::string front_picture() const {
    const auto percent = [&](const partition::Way& way) {
      return 100 * static_cast<double>(way.moved) / static_cast<double>(std::max(Index{1}, sizes_));
    };
    const auto cut = [](const partition::Way& way) { return static_cast<double>(way.cut); };
    const auto& first = result_.front.front();  // that moves least and cuts most
    const auto& last = result_.front.back();
    AxisPlot plot(axis_around("data moved, %", Scale::linear, percent(first), percent(last), 1),
                  axis_around("cut", Scale::counts, cut(last) - (cut(first) - cut(last)) / 8, cut(first), 2), 360,
                  "cut and data moved of each way");
    for (const auto& way : result_.front) {
      const bool is_taken = way.name == result_.way.name;
      const AxisPlot::Point at{percent(way), cut(way)};
      plot.point(is_taken ? "plait" : "peer", at, 6,
                 fmt::format("{}: cut {}, moved {}", way.name, way.cut, share(way.moved)));
      plot.note(at, way.name + (is_taken ? " (taken)" : ""));
    }
    return fmt::format(
        "<h2>Ways to choose from</h2>\n{}<p class=\"soft\">None other has both less cut and less moved. Blue: the one "
        "that was taken, with the least cut of those that move at most {:g} %.</p>\n",
        plot.svg(), 100 * how_.most_moved);
  }

  GraphInput input_;
  MovedRows moved_rows_;
  RowOrder move_order_ = RowOrder::parts;
  partition::RepartitionOptions how_;
  std::optional<int> parts_;
  std::string from_;
  std::string output_;
  partition::Repartition result_;
  partition::Quality quality_;
  partition::Quality before_;
  Index sizes_ = 0;
  double seconds_ = 0;
};

}  // namespace

PLAIT_JOB(repartition, RepartitionJob)

}  // namespace plait::cli
