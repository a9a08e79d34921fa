#pragma once

#include "plait/layout/box.hpp"
#include "plait/poisson/solver.hpp"

#include "cli/host/job.hpp"

namespace plait::cli {

/// What is given on the sides of a box, as the command line has it: parts with commas between them, each
///
///     [SIDE=]value[:GIVEN] | [SIDE=]flux[:GIVEN] | [SIDE=]periodic
///
/// SIDE is an axis, counted from 0, with "-" or "+" for one of its sides; without it, all sides that no other part
/// names. GIVEN is a number, or a file with one for each point of the side; 0 by default.
class Sides {
 public:
  Sides() : Sides("value") {}
  /// \throws ArgumentError  no such text, or a side in it twice
  explicit Sides(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Of so many axes.
  /// \throws ArgumentError  it names another axis
  [[nodiscard]] std::vector<poisson::Axis::Sides> of(int dimensions) const;

  /// Looks at the files. Collective.
  /// \throws Error  on every rank: a file can't be read, or does not have one value for each point of its side
  void describe(mpi::Context& context, const io::Extents& extents);
  [[nodiscard]] std::vector<const std::string*> files() const;
  /// Reads the files: what the solver asks for its values. Collective.
  [[nodiscard]] poisson::Boundary values(Work& work, const poisson::Axes& axes) const;

 private:
  struct Given {
    poisson::Side side = poisson::Side::value;
    double number = 0;
    InputFile file = {};  // none: the number
  };
  using PerSide = std::array<std::array<std::optional<Given>, 2>, layout::axes>;
  [[nodiscard]] const Given& given(std::size_t axis, std::size_t side) const {
    return by_side_[axis][side] ? *by_side_[axis][side] : others_;
  }

  std::string text_;
  Given others_;
  PerSide by_side_;  // by dimension of the array
};

}  // namespace plait::cli
