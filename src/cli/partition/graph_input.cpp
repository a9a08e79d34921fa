#include "cli/partition/graph_input.hpp"

#include <limits>
#include <numeric>
#include <tuple>

#include "plait/io/graph/gmsh_file.hpp"
#include "plait/io/graph/graph_file.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/vtk.hpp"
#include "plait/partition/partition.hpp"

#include "cli/pictures/svg.hpp"

namespace plait::cli {

namespace {

/// A place on the picture, and how near it is to who looks at it.
struct Place {
  double x = 0;
  double y = 0;
  double depth = 0;
};

Place projected(const partition::Points& points, Index v) {
  const double* p = points.of(v);
  if (points.dimensions == 2) return {p[0], -p[1], 0};
  constexpr double cosine = .8660254037844386;  // seen from a corner of the box
  return {cosine * (p[0] - p[1]), .5 * (p[0] + p[1]) - p[2], p[0] + p[1] + p[2]};
}

/// Neighbouring numbers have colours that are far from each other.
std::string colour_of(Index part) {
  const double hue = std::fmod(static_cast<double>(part) * 137.50776, 360);
  return fmt::format("hsl({:.0f},{}%,{}%)", hue, 45 + part % 3 * 15, 45 + part / 3 % 3 * 12);
}

struct Frame {
  double left = std::numeric_limits<double>::infinity();
  double top = std::numeric_limits<double>::infinity();
  double extent = 0;
  double area = 0;  // of the box of the points, in squares of the extent, each side at least a hundredth

  explicit Frame(const std::vector<Place>& places) {
    double right = -left;
    double bottom = -top;
    for (const Place& place : places) {
      left = std::min(left, place.x);
      right = std::max(right, place.x);
      top = std::min(top, place.y);
      bottom = std::max(bottom, place.y);
    }
    extent = std::max({right - left, bottom - top, std::numeric_limits<double>::min()});
    area = std::max(.01, (right - left) / extent) * std::max(.01, (bottom - top) / extent);
  }
  [[nodiscard]] std::pair<double, double> at(const Place& place) const {
    return {(place.x - left) / extent, (place.y - top) / extent};
  }
};

constexpr double picture_side = 480;

/// Fills empty cells that have others within two cells on two opposite sides.
void close_gaps(std::vector<int>& shown, int cells) {
  const std::vector<int> before = shown;
  const auto near = [&](int row, int column, int down, int right) {
    for (int step = 1; step <= 2; ++step) {
      const int r = row + step * down;
      const int c = column + step * right;
      const bool is_inside = r >= 0 && r < cells && c >= 0 && c < cells;
      if (is_inside && before[at(r * cells + c)] >= 0) return before[at(r * cells + c)];
    }
    return -1;
  };
  for (int row = 0; row < cells; ++row) {
    for (int column = 0; column < cells; ++column) {
      int& own = shown[at(row * cells + column)];
      if (own < 0 && near(row, column, 0, 1) >= 0) own = near(row, column, 0, -1);
      if (own < 0 && near(row, column, 1, 0) >= 0) own = near(row, column, -1, 0);
    }
  }
}

std::string parts_picture(const std::vector<Place>& places, const Frame& frame, std::span<const int> part,
                          bool is_flat) {
  // As many cells as there are points to be seen: of three dimensions, those on three sides of a cube.
  const auto n = static_cast<double>(places.size());
  const double seen = is_flat ? n : std::min(n, 3 * std::pow(n, 2. / 3));
  const int cells = static_cast<int>(std::clamp(std::sqrt(seen / frame.area), 8., 160.));
  std::vector<int> shown(at(cells * cells), -1);
  std::vector<double> depth(shown.size(), -std::numeric_limits<double>::infinity());
  for (std::size_t v = 0; v < places.size(); ++v) {
    const auto [x, y] = frame.at(places[v]);
    const auto column = std::lround(x * (cells - 1));
    const auto cell = at(std::lround(y * (cells - 1)) * cells + column);
    if (places[v].depth < depth[cell]) continue;
    depth[cell] = places[v].depth;
    shown[cell] = part[v];
  }
  close_gaps(shown, cells);
  std::string text = svg::opening("parts", picture_side, picture_side, "the parts of the vertices at their points");
  const double side = picture_side / cells;
  for (int row = 0; row < cells; ++row) {
    for (int column = 0; column < cells;) {
      int end = column;
      const auto at_column = [&](int c) { return shown[at(row * cells + c)]; };
      while (end < cells && at_column(end) == at_column(column)) ++end;
      if (at_column(column) >= 0) {
        text +=
            svg::rectangle(column * side, row * side, (end - column) * side, side + .2,
                           fmt::format("style=\"fill:{};shape-rendering:crispEdges\"", colour_of(at_column(column))),
                           fmt::format("part {}", at_column(column)));
      }
      column = end;
    }
  }
  return fmt::format(
      "<h2>Parts</h2>\n{}</svg>\n<p class=\"soft\">The vertices at their points, {}. Their part where the "
      "pointer rests.</p>\n",
      text, is_flat ? "in the colours of their parts" : "seen from a corner, in the colours of their parts");
}

std::string quotient_picture(const graph::GraphView& quotient, const std::vector<std::pair<double, double>>& centres,
                             bool has_places) {
  const double radius = std::min(14., picture_side / 4 / std::sqrt(static_cast<double>(quotient.vertices())));
  const double margin = radius + 3;
  const auto placed = [&](double share) { return margin + share * (picture_side - 2 * margin); };
  Index heaviest = 1;
  for (std::size_t e = 0; e < quotient.edge_weights.size(); ++e)
    heaviest = std::max(heaviest, quotient.edge_weights[e]);
  std::string text = svg::opening("quotient", picture_side, picture_side,
                                  "the graph of the parts: the wider a line, the heavier the cut between two parts");
  for (Index p = 0; p < quotient.vertices(); ++p) {
    quotient.for_each_neighbour(p, [&](graph::Vertex q, Index weight) {
      if (q < p) return;
      const double width = std::max(.3, 8 * static_cast<double>(weight) / static_cast<double>(heaviest));
      text +=
          svg::line(placed(centres[at(p)].first), placed(centres[at(p)].second), placed(centres[at(q)].first),
                    placed(centres[at(q)].second), fmt::format("class=\"wait\" style=\"stroke-width:{:.2f}\"", width));
    });
  }
  for (Index p = 0; p < quotient.vertices(); ++p) {
    text += svg::circle(placed(centres[at(p)].first), placed(centres[at(p)].second), radius,
                        fmt::format("style=\"fill:{}\"", colour_of(p)),
                        fmt::format("part {}: weight {}, {} neighbours", p, quotient.weight(p),
                                    quotient.offsets[at(p + 1)] - quotient.offsets[at(p)]));
    if (radius >= 10) {
      text += svg::text(placed(centres[at(p)].first), placed(centres[at(p)].second) + 4, fmt::format("{}", p),
                        "class=\"small tip\" text-anchor=\"middle\"");
    }
  }
  return fmt::format(
      "<h2>Neighbouring parts</h2>\n{}</svg>\n<p class=\"soft\">Circles are parts, {}. The wider a line, the heavier "
      "the "
      "edges between two parts: at most {}. Weights of parts where the pointer rests.</p>\n",
      text, has_places ? "each amid its vertices" : "on a ring", heaviest);
}

}  // namespace

void GraphInput::declare_graph(Options& options) {
  options
      .reads("GRAPH", path_,
             "A graph in METIS' format, a sparse matrix in a Matrix Market file, or a mesh of gmsh (4.1), of which "
             "cells are vertices and those with a common face neighbours")
      ->required();
  add_flag(options, "--symmetrise", symmetrise_, "Add the missing directions of edges, and leave self loops out");
}

void GraphInput::declare(Options& options) {
  declare_graph(options);
  options.reads("--points", points_path_,
                "Places of the vertices, N x 2 or N x 3, as a .npy file; by default the centres of a mesh's cells");
  options.reads("--weights", weights_path_, "Weights of the vertices, whole numbers; by default those in GRAPH",
                "FILE.npy");
  options.writes_named("--vtu", vtu_path_,
                       "The parts of a mesh's cells, or of the points of --points, for ParaView and others",
                       "a VTK file", ".vtu");
}

void GraphInput::read(Work& work, const std::string& parts_file) {
  work.meter.stage("reading " + path_, 0, 0);
  mpi::agreed(work.context, [&] {
    if (work.context.rank() != 0) return;
    if (io::is_gmsh_file(path_)) {
      mesh_ = io::read_gmsh(path_);
      graph_ = work.in_words({{"a face ", path_}}, [&] { return graph::dual_graph(mesh_); });
      if (points_path_.empty()) std::tie(coordinates_, points_.dimensions) = graph::centres_of(mesh_);
      if (vtu_path_.empty()) mesh_ = {};
    } else {
      graph_ = io::read_graph(path_, symmetrise_ ? io::Asymmetry::symmetrise : io::Asymmetry::refuse);
    }
    const Index n = graph_.view().vertices();
    if (!weights_path_.empty()) {
      graph_.vertex_weights = io::read_npy_integers(weights_path_);
      if (graph_.vertex_weights.count() != n) {
        throw FileError(fmt::format("{}: has {} weights; expected {}, one for each vertex", weights_path_,
                                    graph_.vertex_weights.count(), n));
      }
      Index sum = 0;
      for (Index v = 0; v < n; ++v) {
        const Index weight = graph_.vertex_weights[v];
        if (weight >= 0 && weight <= graph::most_weight - sum) {
          sum += weight;
          continue;
        }
        throw FileError(fmt::format("{}: the weight {} of vertex {} {}", weights_path_, weight, v,
                                    weight < 0 ? "is below 0" : "makes their sum exceed 2^62"));
      }
    }
    if (!points_path_.empty()) {
      auto columns = io::read_npy_columns(points_path_);
      points_.dimensions = static_cast<int>(std::min<Index>(columns.shape.columns, 4));
      coordinates_ = std::move(columns.values);
      work.in_words({{"the point", points_path_}},
                    [&] { partition::expect_points({coordinates_, points_.dimensions}, n); });
    }
    if (!parts_file.empty()) old_ = io::read_parts(parts_file, n);
    for (std::size_t v = 0; v < old_.size(); ++v) {
      if (old_[v] < n) continue;
      throw FileError(fmt::format("{}: vertex {} is in part {}; expected less than the {} vertices that there are",
                                  parts_file, v, old_[v], n));
    }
  });
  const auto bytes = [](const auto& vector) { return std::as_bytes(std::span(vector)); };
  std::array<int, 1> dimensions{points_.dimensions};
  mpi::broadcast(work.context.comm(), std::span<int>(dimensions), 0);
  const auto& g = graph_;
  copy_.emplace(work.context, std::vector<std::span<const std::byte>>{
                                  bytes(g.offsets), bytes(g.neighbours), bytes(g.edge_weights), bytes(g.vertex_weights),
                                  bytes(g.vertex_sizes), bytes(coordinates_), bytes(old_)});
  if (work.context.size() > 1) {
    graph_ = {};
    coordinates_ = {};
    old_ = {};
  }
  view_ = {copy_->piece<Index>(0), copy_->piece<graph::Vertex>(1), copy_->piece<Index>(2), copy_->piece<Index>(3),
           copy_->piece<Index>(4)};
  points_ = {copy_->piece<double>(5), dimensions[0]};
  old_parts_ = copy_->piece<int>(6);
  if (!vtu_path_.empty()) expect_points(work, "--vtu is given");
  // The coarser graphs, with weights of 16 bits or 64, and some numbers for each vertex.
  work.expect_memory(
      {(view_.edge_weights.empty() ? 8 : 18) * static_cast<Index>(view_.neighbours.size()) + 24 * view_.vertices()});
}

void GraphInput::expect_points(Work& work, const std::string& what_for) const {
  mpi::agreed(work.context, [&] {
    if (points_.are_there()) return;
    throw ArgumentError(what_for + ", but --points is missing, the places of the vertices");
  });
}

void GraphInput::write_vtu(Work& work, std::span<const int> part) const {
  if (vtu_path_.empty()) return;
  work.meter.stage("writing " + vtu_path_, 0, 0);
  mpi::agreed(work.context, [&] {
    if (work.context.rank() != 0) return;
    if (mesh_.cells() > 0) return io::write_vtu_aside(vtu_path_, mesh_, "part", part).publish();
    graph::Mesh vertices;
    for (graph::Vertex v = 0; v < std::ssize(part); ++v) {
      for (int axis = 0; axis < 3; ++axis) {
        vertices.places.push_back(axis < points_.dimensions ? points_.of(v)[axis] : 0);
      }
      vertices.kinds.push_back(graph::CellKind::point);
      vertices.corners.push_back(v);
      vertices.offsets.push_back(vertices.corners.count());
    }
    io::write_vtu_aside(vtu_path_, vertices, "part", part).publish();
  });
}

void GraphInput::report(Report& report, const std::string& result) const {
  report.fact("graph.path", path_);
  report.fact_or_null("points", points_path_);
  report.fact_or_null("weights", weights_path_);
  report.fact_or_null("vtu", vtu_path_);
  const Index vertices = report.fact("graph.vertices", view_.vertices());
  report.head("{}: {}, {}, weight {}", path_, fmt::format("{} vertices", vertices),
              counted(report.fact("graph.edges", view_.edges()), "edge"),
              report.fact("graph.weight", view_.total_weight()));
  report.page_head(path_, fmt::format("{} vertices, {} edges: {}", vertices, view_.edges(), result));
}

void GraphInput::report_quality(Report& report, const partition::Quality& quality, double imbalance) {
  report.fact("parts", quality.parts);
  report.line("cut", "{}, the weight of {} between parts", report.fact("cut", quality.cut),
              counted(report.fact("cut_edges", quality.cut_edges), "edge"));
  report.line("volume", "{} to send to other parts", report.fact("communication_volume", quality.volume));
  // By weights, as a vertex more than the even share is allowed, however few a part has.
  const Index total = std::reduce(quality.weights.begin(), quality.weights.end(), Index{0});
  const Index heaviest = quality.weights.empty() ? 0 : std::ranges::max(quality.weights);
  report.line("imbalance", "{:.2f} %: the heaviest part weighs {} of {} allowed",
              100 * report.fact("imbalance", quality.imbalance), heaviest,
              partition::most_weight_of(total, quality.parts, imbalance));
  report.fact("allowed_imbalance", imbalance);
  report.line("boundary", "{} vertices", report.fact("boundary_vertices", quality.boundary));
  const Index components = std::reduce(quality.components.begin(), quality.components.end(), Index{0});
  report.fact("components", static_cast<const std::vector<Index>&>(quality.components));
  report.fact("part_weights", static_cast<const std::vector<Index>&>(quality.weights));
  report.line("components", "{} in {} parts, at most {} in one", components, quality.parts, quality.most_components());
  report.tile(fmt::format("{}", quality.cut), "weight of the edges between parts");
  report.tile(fmt::format("{}", quality.volume), "communication volume");
  report.tile(fmt::format("{:.2f} %", 100 * quality.imbalance), "imbalance");
  report.row("edges between parts", "{}", quality.cut_edges);
  report.row("vertices at borders", "{}", quality.boundary);
  if (!quality.weights.empty()) {
    const auto [least, most] = std::ranges::minmax(quality.weights);
    report.row("weights of parts", least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most));
  }
  report.row("components of parts", "{}", components);
}

void GraphInput::draw(Report& report, std::span<const int> part, int parts) const {
  constexpr int most_parts_drawn = 2000;
  std::vector<std::pair<double, double>> centres(at(parts));
  if (points_.are_there() && view_.vertices() > 0) {
    std::vector<Place> places;
    for (Index v = 0; v < view_.vertices(); ++v) places.push_back(projected(points_, v));
    const Frame frame(places);
    report.figure(parts_picture(places, frame, part, points_.dimensions == 2));
    std::vector<double> count(centres.size());
    for (std::size_t v = 0; v < places.size(); ++v) {
      const auto [x, y] = frame.at(places[v]);
      auto& centre = centres[at(part[v])];
      const double share = 1 / ++count[at(part[v])];
      centre.first += (x - centre.first) * share;
      centre.second += (y - centre.second) * share;
    }
  } else {
    for (std::size_t p = 0; p < centres.size(); ++p) {
      const double angle = 2 * 3.14159265358979 * static_cast<double>(p) / parts;
      centres[p] = {.5 + .5 * std::sin(angle), .5 - .5 * std::cos(angle)};
    }
  }
  if (parts > 1 && parts <= most_parts_drawn) {
    report.figure(quotient_picture(partition::quotient_of(view_, part, parts).view(), centres, points_.are_there()));
  }
}

void write_numbers(Work& work, const std::string& path, std::span<const int> numbers) {
  work.meter.stage("writing " + path, 0, static_cast<Index>(numbers.size_bytes()));
  mpi::agreed(work.context, [&] {
    if (work.context.rank() == 0) io::write_parts_aside(path, numbers).publish();
  });
}

int parse_parts(const std::string& text) {
  const Index parts = parse_positive_count(text);
  if (parts <= graph::most_vertices) return static_cast<int>(parts);
  throw ArgumentError(fmt::format("{} parts; expected at most {}", parts, graph::most_vertices));
}

void add_balance(Options& options, double& imbalance, std::uint64_t& seed) {
  add_value(
      options, "--imbalance", imbalance,
      [](const std::string& text) { return parse_share(text, std::numeric_limits<double>::infinity()); }, "SHARE",
      "By which the heaviest part may exceed the even share; 3% by default");
  add_seed(options, seed);
}

void add_seed(Options& options, std::uint64_t& seed) {
  add_value(
      options, "--seed", seed, [](const std::string& text) { return static_cast<std::uint64_t>(parse_count(text, 0)); },
      "NUMBER", "Another seed, other random choices; 0 by default");
}

void add_numbers_output(Options& options, std::string& path, const std::string& what) {
  options
      .writes("-o,--output", path, kind::list,
              what + ": a .npy vector; in .txt, or a name of no known kind, a number a line, as METIS writes")
      ->required();
}

}  // namespace plait::cli
