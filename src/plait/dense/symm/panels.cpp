#include "plait/dense/symm/panels.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace plait::dense::symm {

namespace {

using collective::Segment;
using schedule::Dependencies;

// Wide enough for BLAS, and narrow enough that one is multiplied while others are under way.
Index width_of_panels(Index extent, Index segment_elements) {
  constexpr Index least = 32, most = 128;
  return std::max({least, segment_elements / std::max<Index>(1, extent), std::min(most, extent / 8)});
}

Index segments_of(const Panels& panels) {
  Index count = 0;
  for (const Panel& panel : panels) count += std::ssize(panel.stream.segments());
  return count;
}

}  // namespace

Dependencies Panel::finals() const {
  Dependencies all;
  for (const Segment& segment : stream.segments()) collective::append(all, segment.final);
  return all;
}

Dependencies Panel::finals_and_readers() const {
  Dependencies all;
  for (const Segment& segment : stream.segments()) collective::append(all, segment.final_and_read());
  return all;
}

void Panel::becomes(schedule::OperationId operation) {
  for_each_segment([&](Segment& segment) { segment.final = {operation}, segment.readers = {}; });
}

void Panel::overwrites(const Dependencies& others) {
  for_each_segment([&](Segment& segment) { segment.final = others, segment.readers = {}; });
}

void Panel::is_read_by(schedule::OperationId operation) {
  for_each_segment([&](Segment& segment) { segment.readers.push_back(operation); });
}

PanelCut::PanelCut(const Grid& mesh, Index element_bytes, Index segment_elements)
    : element_bytes_(element_bytes),
      segment_elements_(segment_elements),
      width_(width_of_panels(mesh.extent(0), segment_elements)) {}

std::vector<PanelCut::Columns> PanelCut::panels(Index columns, Half half) const {
  const Index middle = (columns + 1) / 2;
  const Index last = half == Half::first ? middle : columns;
  std::vector<Columns> result;
  for (Index first = half == Half::first ? 0 : middle; first < last; first += width_)
    result.push_back({first, std::min(first + width_, last)});
  return result;
}

std::vector<PanelCut::Columns> PanelCut::panels(Index columns) const {
  std::vector<Columns> result = panels(columns, Half::first);
  const std::vector<Columns> others = panels(columns, Half::last);
  result.insert(result.end(), others.begin(), others.end());
  return result;
}

Panel PanelCut::panel(Columns columns, Index begin, Index end, Index first_stage, Index& number) const {
  std::vector<Segment> segments;
  while (begin < end) {
    const Index next = std::min(begin + segment_elements_, end);
    segments.push_back({.begin = begin, .end = next, .strand = 0, .number = number, .stage = first_stage + number});
    begin = next, ++number;
  }
  return {columns.first, columns.last, {element_bytes_, std::move(segments)}};
}

Panels PanelCut::rectangle(Index rows, const std::vector<Columns>& panels, Index first_stage) const {
  Panels result;
  result.reserve(panels.size());
  Index number = 0;
  for (const Columns& columns : panels)
    result.push_back(panel(columns, columns.first * rows, columns.last * rows, first_stage, number));
  return result;
}

Panels PanelCut::triangle(Index rows, const std::vector<Columns>& panels, Index first_stage) const {
  Panels result;
  result.reserve(panels.size());
  Index number = 0;
  Index begin = 0;
  for (const Columns& columns : panels) {
    const Index end = begin + (rows - columns.first) * (columns.last - columns.first);
    result.push_back(panel(columns, begin, end, first_stage, number));
    begin = end;
  }
  return result;
}

Panels PanelCut::halves(Index rows, Index columns, Index first_stage) const {
  Panels result = rectangle(rows, panels(columns, Half::first), first_stage);
  Panels others = rectangle(rows, panels(columns, Half::last), first_stage);
  std::move(others.begin(), others.end(), std::back_inserter(result));
  return result;
}

// Blocks of a mesh have at most two extents.
PanelCut::Most PanelCut::most(const Grid& mesh) const {
  Most most{};
  for (const Index rows : {mesh.extent(0), mesh.extent(mesh.edge() - 1)}) {
    for (const Index columns : {mesh.extent(0), mesh.extent(mesh.edge() - 1)}) {
      most.of_block = std::max(most.of_block, segments_of(rectangle(rows, panels(columns), 0)));
      for (const Half half : {Half::first, Half::last})
        most.of_half = std::max(most.of_half, segments_of(rectangle(rows, panels(columns, half), 0)));
    }
    most.of_sum = std::max(most.of_sum, segments_of(triangle(rows, panels(rows), 0)));
  }
  most.of_sum = std::max(most.of_sum, most.of_half);
  return most;
}

}  // namespace plait::dense::symm
