#include "cli/partition/graph_job.hpp"

#include <limits>
#include <numeric>
#include <tuple>

#include "plait/io/graph/gmsh_file.hpp"
#include "plait/io/graph/graph_file.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/io/vtk.hpp"
#include "plait/partition/partition.hpp"

namespace plait::cli {

void GraphJob::add_graph(Options& options) {
  options
      .reads("GRAPH", path_,
             "A graph in METIS' format, a sparse matrix in a Matrix Market file, or a mesh of gmsh (4.1), of which "
             "cells are vertices and those with a common face neighbours")
      ->required();
  add_flag(options, "--symmetrise", symmetrise_, "Add the missing directions of edges, and leave self loops out");
}

void GraphJob::add_output(Options& options, const std::string& what) {
  options
      .writes("-o,--output", output_, kind::list,
              what + ": a .npy vector; in .txt, or a name of no known kind, a number a line, as METIS writes")
      ->required();
}

void GraphJob::add_seed(Options& options) {
  add_value(options, "--seed", seed_, parse_seed, "NUMBER", "Another seed, other random choices; 0 by default");
}

std::vector<Index> GraphJob::prepare(Work& work) {
  // The text and, while each node gets it, the graph twice, which is about as long.
  return {3 * io::told_by_rank_zero(work.context, [&] { return io::File::open_to_read(path_).size(); }) *
          (work.context.rank() == 0 ? 1 : 0)};
}

void GraphJob::read_all() {
  if (io::is_gmsh_file(path_)) {
    mesh_ = io::read_gmsh(path_);
    graph_ = graph::dual_graph(mesh_);
    if (points_path_.empty()) std::tie(coordinates_, points_.dimensions) = graph::centres_of(mesh_);
    if (vtu_path_.empty()) mesh_ = {};
  } else {
    graph_ = io::read_graph(path_, symmetrise_ ? io::Asymmetry::symmetrise : io::Asymmetry::refuse);
  }
  const Index n = graph_.view().vertices();
  const auto refuse = [](const std::string& path, const std::string& why) { throw FileError(path + ": " + why); };
  if (!weights_path_.empty()) {
    auto& weights = graph_.vertex_weights = io::read_npy_integers(weights_path_);
    if (weights.count() != n) {
      refuse(weights_path_, fmt::format("has {} weights; expected {}, one for each vertex", weights.count(), n));
    }
    Index sum = 0;
    for (Index v = 0; v < n; sum += weights[v++]) {
      if (weights[v] >= 0 && weights[v] <= graph::most_weight - sum) continue;
      refuse(weights_path_, fmt::format("the weight {} of vertex {} {}", weights[v], v,
                                        weights[v] < 0 ? "is below 0" : "makes their sum exceed 2^62"));
    }
  }
  if (!points_path_.empty()) {
    auto columns = io::read_npy_columns(points_path_);
    points_.dimensions = static_cast<int>(std::min<Index>(columns.shape.columns, std::numeric_limits<int>::max()));
    coordinates_ = std::move(columns.values);
    partition::expect_points({coordinates_, points_.dimensions}, n);
  }
  if (!old_path_.empty()) read_old_ = io::read_parts(old_path_, n);
  for (std::size_t v = 0; v < read_old_.size(); ++v) {
    if (read_old_[v] < n) continue;
    refuse(old_path_, fmt::format("vertex {} is in part {}; expected less than the {} vertices that there are", v,
                                  read_old_[v], n));
  }
}

void GraphJob::read(Work& work) {
  mpi::Context& context = work.context;
  work.meter.stage("reading " + path_, 0, 0);
  points_.dimensions = io::told_by_rank_zero(context, [&] {
    work.in_words({{"a face ", path_}, {"the point", points_path_}}, [&] { read_all(); });
    return points_.dimensions;
  });
  const auto bytes = [](const auto& vector) { return std::as_bytes(std::span(vector)); };
  const auto& g = graph_;
  copy_.emplace(context, std::vector<std::span<const std::byte>>{
                             bytes(g.offsets), bytes(g.neighbours), bytes(g.edge_weights), bytes(g.vertex_weights),
                             bytes(g.vertex_sizes), bytes(coordinates_), bytes(read_old_)});
  if (context.size() > 1) {
    graph_ = {};
    coordinates_ = std::vector<double>();  // {} would keep the memory
    read_old_ = std::vector<int>();
  }
  view_ = {copy_->piece<Index>(0), copy_->piece<graph::Vertex>(1), copy_->piece<Index>(2), copy_->piece<Index>(3),
           copy_->piece<Index>(4)};
  points_.coordinates = copy_->piece<double>(5);
  old_ = copy_->piece<int>(6);
  Index once_a_node = 0;
  for (std::size_t piece = 0; piece < 7; ++piece) once_a_node += std::ssize(copy_->piece<std::byte>(piece));
  // And the coarser graphs, with weights of 16 bits or 64, and some numbers for each vertex, also of up to four
  // threads.
  work.expect_memory({(context.topology().node().rank() == 0 ? once_a_node : 0) + 32 * view_.vertices() +
                      (view_.edge_weights.empty() ? 8 : 18) * std::ssize(view_.neighbours)});
}

void GraphJob::run(Work& work) {
  read(work);
  expect_fitting(work);
  work.meter.stage(act_ + "ing", 0, 0);
  seconds_ = work.timed([&] { found_ = find(work); });
  write_numbers(work, output_, found_);
  use(work);
}

void GraphJob::report(Report& report, Work& work) {
  report.fact("graph.path", path_);
  report.fact_or_null("points", points_path_);
  report.fact_or_null("weights", weights_path_);
  report.fact_or_null("vtu", vtu_path_);
  const Index vertices = report.fact("graph.vertices", view_.vertices());
  const std::string edges = counted(report.fact("graph.edges", view_.edges()), "edge");
  report.head("{}: {} vertices, {}, weight {}", path_, vertices, edges,
              report.fact("graph.weight", view_.total_weight()));
  report.page_head(path_, fmt::format("{} vertices, {}: {}", vertices, edges, result()));
  report.label(12);
  report_own(report);
  report.fact("seed", seed_);
  report.line(act_ + "ed", "in " + seconds_text(report.fact(act_ + "_seconds", seconds_)));
  report.line("memory", "{} on the largest rank, estimated",
              bytes_text(report.fact("memory", work.memory).largest_rank));
  report.line("wrote", report.fact("output.path", output_));
  report.line("total", seconds_text(report.fact("seconds", work.seconds)));
}

void PartsJob::add_graph_with_weights(Options& options) {
  add_graph(options);
  options.reads("--points", points_path_,
                "Places of the vertices, N x 2 or N x 3, as a .npy file; by default the centres of a mesh's cells");
  options.reads("--weights", weights_path_, "Weights of the vertices, whole numbers; by default those in GRAPH",
                "FILE.npy");
  options.writes_named("--vtu", vtu_path_,
                       "The parts of a mesh's cells, or of the points of --points, for ParaView and others",
                       "a VTK file", ".vtu");
}

CLI::Option* PartsJob::add_parts(Options& options, const std::string& how_many) {
  const auto parse = [](const std::string& text) {
    const Index parts = parse_positive_count(text);
    if (parts <= graph::most_vertices) return static_cast<int>(parts);
    throw ArgumentError(fmt::format("{} parts; expected at most {}", parts, graph::most_vertices));
  };
  CLI::Option* const count = add_value(options, "-k,--parts", parts_, parse, "COUNT", how_many);
  add_output(options, "The part of each vertex");
  const auto parse_imbalance = [](std::string_view text) {
    return parse_share(text, std::numeric_limits<double>::infinity());
  };
  add_value(options, "--imbalance", imbalance_, parse_imbalance, "SHARE",
            "By which the heaviest part may exceed the even share; 3% by default");
  add_seed(options);
  return count;
}

std::vector<Index> PartsJob::prepare(Work& work) {
  rows_.prepare(work);
  return GraphJob::prepare(work);
}

void PartsJob::expect_fitting(Work& work) {
  const std::string for_what = vtu_path_.empty() ? why_points() : "--vtu is given";
  if (!for_what.empty() && !points_.are_there()) {  // on all ranks alike
    throw UsageError("{}, but --points is missing, the places of the vertices", for_what);
  }
  rows_.expect_rows(work, view_.vertices());
}

void PartsJob::use(Work& work) {
  write_vtu(work);
  rows_.move(work, rows_before_, found_);
  quality_ = partition::quality_of(view_, found_, *parts_);
}

void PartsJob::write_vtu(Work& work) const {
  if (vtu_path_.empty()) return;
  work.meter.stage("writing " + vtu_path_, 0, 0);
  io::on_rank_zero(work.context, [&] {
    graph::Mesh vertices;  // where there is no mesh: points
    for (graph::Vertex v = 0; mesh_.cells() == 0 && v < std::ssize(found_); ++v) {
      for (int axis = 0; axis < 3; ++axis) {
        vertices.places.push_back(axis < points_.dimensions ? points_.of(v)[axis] : 0);
      }
      vertices.kinds.push_back(graph::CellKind::point);
      vertices.corners.push_back(v);
      vertices.offsets.push_back(vertices.corners.count());
    }
    io::write_vtu_aside(vtu_path_, mesh_.cells() > 0 ? mesh_ : vertices, "part", found_).publish();
  });
}

void PartsJob::report_quality(Report& report) const {
  const partition::Quality& its = quality_;
  report.fact("parts", its.parts);
  report.line("cut", "{}, the weight of {} between parts", report.fact("cut", its.cut),
              counted(report.fact("cut_edges", its.cut_edges), "edge"));
  report.line("volume", "{} to send to other parts", report.fact("communication_volume", its.volume));
  // By weights, as a vertex more than the even share is allowed, however few a part has.
  const std::vector<Index>& weights = report.fact("part_weights", static_cast<const std::vector<Index>&>(its.weights));
  const auto [lightest, heaviest] = std::ranges::minmax(weights);
  report.line("imbalance", "{:.2f} %: the heaviest part weighs {} of {} allowed",
              100 * report.fact("imbalance", its.imbalance), heaviest,
              partition::most_weight_of(view_.total_weight(), its.parts, imbalance_));
  report.fact("allowed_imbalance", imbalance_);
  report.line("boundary", "{} vertices", report.fact("boundary_vertices", its.boundary));
  const std::vector<Index>& each = report.fact("components", static_cast<const std::vector<Index>&>(its.components));
  const Index components = std::reduce(each.begin(), each.end(), Index{0});
  report.line("components", "{} in {} parts, at most {} in one", components, its.parts, its.most_components());
  report.tile(fmt::format("{}", its.cut), "weight of the edges between parts");
  report.tile(fmt::format("{}", its.volume), "communication volume");
  report.tile(fmt::format("{:.2f} %", 100 * its.imbalance), "imbalance");
  report.row("edges between parts", "{}", its.cut_edges);
  report.row("vertices at borders", "{}", its.boundary);
  report.row("weights of parts",
             lightest == heaviest ? std::to_string(heaviest) : fmt::format("{} to {}", lightest, heaviest));
  report.row("components of parts", "{}", components);
  rows_.report(report);
}

}  // namespace plait::cli
