#pragma once

#include <cstddef>
#include <memory>

#include "plait/base/index.hpp"
#include "plait/dense/symm/symm_grid.hpp"
#include "plait/dense/symm/symm_options.hpp"
#include "plait/dense/symm/symm_products.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"

namespace plait::dense {

/// What is wanted of D: D² alone, or D² and D³.
enum class Powers : unsigned char { square, square_and_cube };
[[nodiscard]] constexpr std::size_t index_of(Powers powers) noexcept { return static_cast<std::size_t>(powers); }

/// This rank's block of each matrix, column-major without gaps; null where it has none. They do not overlap.
struct SymmOperands {
  const std::byte* d;
  std::byte* d2;
  std::byte* d3;  ///< null where only D² is wanted
};

/// One of the algorithms of `SymmSquareCube`, planned for one rank, whatever the type of the elements.
class SymmPlan {
 public:
  SymmPlan(const SymmGrid& mesh, SymmOptions options) : mesh_(mesh), options_(options), layout_(mesh.layout()) {}
  SymmPlan(const SymmPlan&) = delete;
  SymmPlan& operator=(const SymmPlan&) = delete;
  virtual ~SymmPlan() = default;

  [[nodiscard]] const layout::Layout& layout() const noexcept { return layout_; }
  [[nodiscard]] const SymmOptions& options() const noexcept { return options_; }
  [[nodiscard]] const SymmGrid& mesh() const noexcept { return mesh_; }
  /// The block of a rank, empty where it has none.
  [[nodiscard]] layout::Shape home_shape(int rank) const noexcept {
    if (rank >= mesh_.edge() * mesh_.edge()) return {};
    const layout::GridPlace place = mesh_.place(rank);
    return {mesh_.extent(place.row), mesh_.extent(place.column)};
  }

  /// Plans what `run` does. Called once for each value, ordered alike on all ranks; collective where contracts are
  /// checked heavily.
  virtual void make(Powers powers) = 0;
  /// Takes memory that `run` needs, so that it can't fail for lack of it. Local.
  /// \pre  made
  virtual void prepare(Powers powers) = 0;
  /// Collective over the context, or the ranks of the mesh.
  /// \pre  prepared
  virtual void run(const SymmOperands& operands, Powers powers) = 0;
  [[nodiscard]] virtual Index workspace_bytes() const noexcept = 0;

 private:
  SymmGrid mesh_;
  SymmOptions options_;
  layout::Layout layout_;
};

/// The same with an algorithm and a mesh for so many ranks, where they are to be chosen. Local.
/// \throws ArgumentError  naming the argument that can't be
/// \throws LayoutError    the elements of the matrix can't be counted
[[nodiscard]] SymmOptions complete(int ranks, Index n, SymmOptions options);
/// \pre  the options are complete
[[nodiscard]] SymmGrid symm_grid(Index n, const SymmOptions& options);

/// Collective over the context.
/// \pre  the options are complete
[[nodiscard]] std::unique_ptr<SymmPlan> make_symm_plan(mpi::Context& context, Index n, const SymmProducts& products,
                                                       const SymmOptions& options);

}  // namespace plait::dense
