#include "plait/redistribute/communication_volume.hpp"
#include "plait/redistribute/options.hpp"
#include "plait/redistribute/relabel/incoming.hpp"

#include "cli/host/job.hpp"
#include "cli/host/layouts.hpp"
#include "cli/pictures/matrix_picture.hpp"
#include "cli/pictures/script.hpp"
#include "cli/pictures/svg.hpp"
#include "cli/redistribute/relabeled_plan.hpp"

namespace plait::cli {

namespace {

constexpr double side = 380;  // of a picture
constexpr double left = 80;
constexpr double top = 88;
constexpr double gap = 90;
constexpr double scale_width = 150;

/// What moves is positive, what stays negative.
struct DrawnVolume {
  MatrixPicture picture;
  Index moved = 0;
};

DrawnVolume volume_of(redistribute::Incoming& incoming, int ranks, std::span<const int> rank_of) {
  DrawnVolume volume{MatrixPicture({ranks, ranks})};
  for (int role = 0; role < incoming.ranks(); ++role) {
    const int to = rank_of.empty() ? role : rank_of[static_cast<std::size_t>(role)];
    for (const auto& [from, package] : incoming.of(role)) {
      const auto bytes = static_cast<double>(package.bytes);
      volume.picture.add_up(from, to, from == to ? -bytes : bytes);
      if (from != to) volume.moved += package.bytes;
    }
  }
  return volume;
}

/// Draws how much each rank (row) sends to each other (column) as an SVG file, aside and renamed: darker is more, and
/// what stays on its rank has another color. Many ranks share a square. With `rank_of`, a second picture beside it
/// shows the same after relabeling.
///
/// \param command  that draws it, which stands below
void write_communication_plot(const std::string& path, std::string_view heading, std::string_view command,
                              redistribute::Incoming& incoming, int ranks, std::span<const int> rank_of) {
  std::vector<std::string> titles{"Volume between ranks"};
  std::vector<DrawnVolume> volumes{volume_of(incoming, ranks, {})};
  if (!rank_of.empty()) {
    titles = {"Before relabeling", "After relabeling"};
    volumes.push_back(volume_of(incoming, ranks, rank_of));
  }
  std::vector<MatrixPicture> pictures;
  for (const DrawnVolume& volume : volumes) pictures.push_back(volume.picture);
  const Shading shading(pictures);
  const CellWords words{.down = "from rank",
                        .across = "to rank",
                        .positive = "moves",
                        .negative = "stays on its rank",
                        .number = [](double bytes) { return bytes_text(static_cast<Index>(std::abs(bytes))); }};
  std::string text;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const double x = left + static_cast<double>(i) * (side + gap);
    text += svg::text(x + side / 2, top - 28, titles[i], "class=\"heading\" text-anchor=\"middle\"") +
            svg::text(x + side / 2, top - 10, bytes_text(volumes[i].moved) + " move", "text-anchor=\"middle\"") +
            cells_svg(pictures[i], shading, words, x, top, side, side);
  }
  const double right = left + static_cast<double>(volumes.size()) * (side + gap);
  const double width = right - gap + scale_width;
  text += scale_svg(shading, words, right - gap + 28, top);
  double bottom = top + side + 44;
  const auto note = [&](std::string_view line) { text += svg::text(16, bottom += 16, line, "class=\"small\""); };
  if (ranks > MatrixPicture::most_cells) note("A square is the sum over neighbouring ranks.");
  const std::string line = fmt::format("plait {}: {}", PLAIT_VERSION, command);
  const auto fits = static_cast<std::size_t>(width / 6.8);  // letters
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t space = at + fits < line.size() ? line.rfind(' ', at + fits) : std::string::npos;
    const std::size_t end = space == std::string::npos || space <= at ? at + fits : space + 1;
    note(std::string_view(line).substr(at, end - at));
    at = end;
  }
  text += fmt::format("<script><![CDATA[{}]]></script>\n", script);
  text_aside(path, svg::file(width, bottom + 12, heading, text)).publish();
}

/// What a redistribution would move.
class Plan : public LoneJob {
 public:
  void options(Options& options) override {
    options.describe(
        "Compute what a redistribution would move, and what relabeling saves",
        "Nothing is moved, and no launcher is needed: layouts may have any number of ranks.\n\n" + layout_help() + R"(
Example: from a grid numbered by rows to one numbered by columns, and what renumbering the ranks saves
  plait plan --shape 100000x100000 --from block-cyclic:5000x5000@10x10 \
    --to block-cyclic:10000x10000@10x10,order=col --relabel --plot volume.svg)");
    add_value(options, "--shape", shape_, parse_shape, "ROWSxCOLUMNS", "The shape of B")->required();
    add_value(options, "--from", from_, layout::LayoutSpec::parse, "LAYOUT", "How the ranks hold B before")->required();
    add_value(options, "--to", to_, layout::LayoutSpec::parse, "LAYOUT", "How the ranks hold A after; of op(B)'s shape")
        ->required();
    add_value(options, "--dtype", dtype_, io::parse_dtype, "TYPE",
              fmt::format("Type of the elements, one of {}; f64 by default", io::all_dtype_names()));
    add_value(options, "--op", op_, parse_op, "OP", op_words);
    add_flag(options, "--relabel", relabel_, "Let ranks change roles in --to so that the least data moves");
    add_value(options, "--ranks-per-node", ranks_per_node_, parse_positive_count, "COUNT",
              "Ranks in a row that share a node: prints the traffic between nodes, which --relabel minimises first");
    options
        .writes_named("--plot", plot_, "Draw how much each rank sends to each other, with --relabel before and after",
                      "an SVG file", ".svg")
        ->group(group::run);
    options.host({.machine = false, .quiet = false, .progress = false});
  }

  void check() override {
    declare_layout_file(files, "--from", from_);
    declare_layout_file(files, "--to", to_);
  }

  void run(Report& report) override {
    const layout::Layout from = layout_of_option("--from", from_, shape_);
    const layout::Layout to = layout_of_option("--to", to_, redistribute::apply(op_, shape_));
    const redistribute::SizedPair pair{{from, to, op_}, io::bytes(dtype_)};
    for (const auto& [option, layout] : {std::pair("--from", &from), std::pair("--to", &to)}) {
      constexpr int most_ranks = 10'000'000;
      if (layout->ranks() <= most_ranks) continue;
      throw UsageError("{}: {} ranks, expected at most {}: a plan looks at each of them", option, layout->ranks(),
                       most_ranks);
    }
    const Stopwatch watch;
    redistribute::Incoming incoming({&pair, 1});
    const int ranks = std::max(from.ranks(), to.ranks());
    const auto volume = redistribute::communication_volume(incoming);
    KnownNodes nodes{{}, network_weight(model::default_machine())};
    for (int rank = 0; ranks_per_node_ > 0 && rank < ranks; ++rank) {
      nodes.node_of.push_back(static_cast<int>(rank / ranks_per_node_));
    }
    std::optional<Index> network_bytes;
    if (nodes.are_several()) network_bytes = redistribute::bytes_between_nodes(incoming, nodes.node_of);
    const double seconds = watch.seconds();
    std::optional<RelabeledPlan> relabeled;
    if (relabel_) relabeled = relabeled_plan(pair, ranks, nodes);

    const Index bytes = layout::elements(shape_) * pair.element_bytes;
    const std::string subject =
        fmt::format("{} of B, {}, {}: {} on {}", report.fact("op", name(op_)),
                    layout::to_string(report.fact("shape", shape_)), report.fact("dtype", io::name(dtype_)),
                    bytes_text(report.fact("bytes", bytes)), counted(report.fact("ranks", ranks), "rank"));
    if (!plot_.empty()) {
      const std::span<const int> rank_of = relabeled ? relabeled->relabeling.rank_of : std::span<const int>();
      write_communication_plot(plot_, subject, settings.line, incoming, ranks, rank_of);
    }
    report.head(subject);
    report.label(11);
    report.line("from", report.fact("from", from_.text()));
    report.line("to", report.fact("to", to_.text()));
    report_volume(report, "", volume);
    report.line("moves", volume_text(volume));
    if (network_bytes)
      report.line("", bytes_text(report.fact("network_bytes", *network_bytes)) + " of that between nodes");
    report.line("stays", bytes_text(report.fact("kept_bytes", bytes - volume.bytes)));
    if (relabeled) {
      report.line("relabeled", volume_text(relabeled->after));
      report.line("", report_relabeled(report, *relabeled));
    }
    report.line("memory", "B {}, A {} and staging of {} on the fullest ranks",
                bytes_text(report.fact("memory.source_bytes", largest_share(from) * pair.element_bytes)),
                bytes_text(report.fact("memory.target_bytes", largest_share(to) * pair.element_bytes)),
                bytes_text(report.fact("memory.staging_bytes", redistribute::Options{}.memory_budget)));
    report.line("planned in", seconds_text(report.fact("seconds", seconds)));
    if (!report.fact_or_null("plot", plot_).empty()) report.line("plot", plot_);
  }

 private:
  static Index largest_share(const layout::Layout& layout) {
    Index most = 0;
    for (int rank = 0; rank < layout.ranks(); ++rank) most = std::max(most, layout.elements_of(rank));
    return most;
  }

  static std::string volume_text(const redistribute::CommunicationVolume& volume) {
    return fmt::format("{} in {}; at most {} sent or received by a rank", bytes_text(volume.bytes),
                       counted(volume.messages, "message"), bytes_text(volume.largest_rank_bytes));
  }

  layout::LayoutSpec from_, to_;
  layout::Shape shape_;
  io::DType dtype_ = io::DType::f64;
  redistribute::Op op_ = redistribute::Op::identity;
  bool relabel_ = false;
  Index ranks_per_node_ = 0;  // 0: unknown
  std::string plot_;          // empty: none
};

}  // namespace

PLAIT_JOB(plan, Plan)

}  // namespace plait::cli
