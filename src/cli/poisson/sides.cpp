#include "cli/poisson/sides.hpp"

#include "cli/host/arrays.hpp"

namespace plait::cli {

using poisson::Side;

namespace {

// "0-" is the lower side of axis 0, "0" both sides.
struct AxisSides {
  std::size_t axis;
  std::vector<std::size_t> sides;
};

AxisSides parse_axis_sides(std::string_view text) {
  const bool is_known = !text.empty() && text[0] >= '0' && text[0] < '0' + layout::axes &&
                        (text.size() == 1 || text.substr(1) == "-" || text.substr(1) == "+");
  if (!is_known) {
    throw ArgumentError(fmt::format("'{}' is no side, expected an axis from 0 to 2, with - or + for one side", text));
  }
  const auto axis = static_cast<std::size_t>(text[0] - '0');
  if (text.size() == 1) return {axis, {0, 1}};
  return {axis, {text[1] == '+' ? std::size_t{1} : std::size_t{0}}};
}

}  // namespace

Sides::Sides(std::string_view text) : text_(text) {
  bool has_others = false;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = part.find('='), colon = part.find(':');
    const bool has_place = equals != std::string_view::npos && equals < colon;
    const std::string_view what = has_place ? part.substr(equals + 1) : part;
    const std::size_t split = std::min(what.find(':'), what.size());
    Given one{.side = parse_choice<Side>(what.substr(0, split),
                                         {{"value", Side::value}, {"flux", Side::flux}, {"periodic", Side::periodic}})};
    if (split < what.size()) {
      const std::string rest(what.substr(split + 1));
      if (one.side == Side::periodic) {
        throw ArgumentError(fmt::format("'{}' gives periodic sides '{}', expected nothing", part, rest));
      }
      const auto number = number_in<double>(rest);
      number ? void(one.number = *number) : void(one.file.path = parse_path(rest));
    }
    if (!has_place) {
      if (has_others) throw ArgumentError(fmt::format("'{}' names no side, as a part before it does", part));
      has_others = true;
      others_ = one;
      continue;
    }
    const AxisSides named = parse_axis_sides(part.substr(0, equals));
    for (const std::size_t side : named.sides) {
      auto& known = by_side_[named.axis][side];
      if (known) {
        throw ArgumentError(
            fmt::format("'{}' gives side {} of axis {} a second time", part, side == 0 ? "-" : "+", named.axis));
      }
      known = one;
    }
  }
  for (std::size_t axis = 0; axis < layout::axes; ++axis) {
    if ((given(axis, 0).side == Side::periodic) == (given(axis, 1).side == Side::periodic)) continue;
    throw ArgumentError(fmt::format("one of axis {} is periodic, expected both or none", axis));
  }
}

std::vector<poisson::Axis::Sides> Sides::of(int dimensions) const {
  const auto count = static_cast<std::size_t>(dimensions);
  std::vector<poisson::Axis::Sides> sides;
  for (std::size_t a = 0; a < layout::axes; ++a) {
    if (a < count) {
      sides.push_back({given(a, 0).side, given(a, 1).side});
    } else if (by_side_[a][0] || by_side_[a][1]) {
      throw ArgumentError(fmt::format("--boundary: names axis {}, expected one below {}", a, dimensions));
    }
  }
  return sides;
}

void Sides::describe(mpi::Context& context, const io::Extents& extents) {
  const auto look_at = [&](Given& one, std::size_t axis) {
    if (!one.file) return;
    if (extents.dimensions == 1) {
      throw ArgumentError(
          fmt::format("--boundary: {} is given to a side that is one point, expected a number", one.file.path));
    }
    one.file.describe(context, io::arrays);
    io::Extents wanted{extents.dimensions - 1, {}};
    std::size_t at = 0;
    for (std::size_t a = 0; a < extents.list().size(); ++a) {
      if (a != axis) wanted.values[at++] = extents.values[a];
    }
    if (one.file.extents != wanted) {
      throw ShapeMismatch(fmt::format("--boundary: {} has {} values, expected {}, as the sides of axis {} have points",
                                      one.file.path, io::to_string(one.file.extents), io::to_string(wanted), axis));
    }
  };
  for (std::size_t a = 0; a < extents.list().size(); ++a) {
    for (auto& one : by_side_[a]) {
      if (!one) one = others_;
      look_at(*one, a);
    }
  }
}

std::vector<const std::string*> Sides::files() const {
  std::vector<const std::string*> paths;
  if (others_.file) paths.push_back(&others_.file.path);
  for (const auto& axis : by_side_) {
    for (const auto& one : axis) {
      if (one && one->file) paths.push_back(&one->file.path);
    }
  }
  return paths;
}

poisson::Boundary Sides::values(Work& work, const poisson::Axes& axes) const {
  struct Values {
    double number = 0;
    layout::Box box{};  // of one layer
    std::vector<double> list{};
  };
  auto all = std::make_shared<std::array<std::array<Values, 2>, layout::axes>>();
  const std::size_t first = poisson::first_axis(axes);
  for (std::size_t a = first; a < layout::axes; ++a) {
    for (std::size_t side = 0; side < 2; ++side) {
      const Given& one = given(a - first, side);
      Values& values = (*all)[a - first][side];
      values.number = one.number;
      if (!one.file) continue;
      values.box = poisson::box_of(axes);
      values.box.high[a] = 1;
      values.list = read_whole(work, one.file);
    }
  }
  return [all, axes, first](int axis, int side, std::span<const double> place) {
    const Values& values = (*all)[static_cast<std::size_t>(axis)][static_cast<std::size_t>(side)];
    if (values.list.empty()) return values.number;
    // Linearly between neighbours, as points of a second grid lie between those of the first.
    std::array<std::array<Index, 2>, layout::axes> near{};
    std::array<double, layout::axes> share{};  // of the second one
    for (std::size_t a = first; a < layout::axes; ++a) {
      if (a - first == static_cast<std::size_t>(axis)) continue;
      constexpr double rounding = 1e-6;
      const double steps = place[a - first] / axes[a].spacing() - (axes[a].first_coarse() == 0 ? 0.5 : 1);
      const double below = std::floor(steps + rounding);
      share[a] = steps - below < rounding ? 0 : steps - below;
      for (const Index next : {0, 1}) {
        near[a][static_cast<std::size_t>(next)] =
            std::clamp(static_cast<Index>(below) + next, Index{0}, values.box.high[a] - 1);
      }
    }
    double sum = 0;
    for (std::size_t corner = 0; corner < 8; ++corner) {
      double weight = 1;
      layout::Point point{};
      for (std::size_t a = 0; a < layout::axes; ++a) {
        const std::size_t bit = (corner >> a) & 1U;
        weight *= bit == 1 ? share[a] : 1 - share[a];
        point[a] = near[a][bit];
      }
      if (weight > 0) sum += weight * values.list[static_cast<std::size_t>(values.box.offset_of(point))];
    }
    return sum;
  };
}

}  // namespace plait::cli
