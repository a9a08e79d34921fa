#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "plait/base/index.hpp"
#include "plait/dense/symm/options.hpp"
#include "plait/dense/symm/products.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"
#include "plait/mpi/message.hpp"

namespace plait::dense::symm {

/// What is wanted of D: D² alone, or D² and D³.
enum class Powers : unsigned char { square, square_and_cube };
[[nodiscard]] constexpr std::size_t index_of(Powers powers) noexcept { return static_cast<std::size_t>(powers); }

/// This rank's block of each matrix, column-major without gaps; null where it has none. They do not overlap.
struct Operands {
  const std::byte* d;
  std::byte* d2;
  std::byte* d3;  ///< null where only D² is wanted
};

/// One of the algorithms of `SquareCube`, planned for one rank, whatever the type of the elements.
class Plan {
 public:
  Plan(const Grid& mesh, Options options) : mesh_(mesh), options_(options), layout_(mesh.layout()) {}
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  virtual ~Plan() = default;

  [[nodiscard]] const layout::Layout& layout() const noexcept { return layout_; }
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] const Grid& mesh() const noexcept { return mesh_; }
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
  virtual void run(const Operands& operands, Powers powers) = 0;
  [[nodiscard]] virtual Index workspace_bytes() const noexcept = 0;

 private:
  Grid mesh_;
  Options options_;
  layout::Layout layout_;
};

/// The same with an algorithm and a mesh for so many ranks, where they are to be chosen. Local.
/// \throws ArgumentError  naming the argument that can't be
/// \throws LayoutError    the elements of the matrix can't be counted
[[nodiscard]] Options complete(int ranks, Index n, Options options);
/// \pre  the options are complete
[[nodiscard]] Grid grid_of(Index n, const Options& options);

/// Elements in one message of plait's own; at least one. Unless told: chains stall above what MPI sends without asking,
/// so not more than that, but for blocks of so many bytes that there would be too many messages to plan.
[[nodiscard]] inline Index segment_elements(const Grid& mesh, const Options& options, Index element_bytes) noexcept {
  constexpr Index usual = std::min<Index>(Index{32} << 10, mpi::network_message), longest = Index{1} << 20, most = 8192;
  const Index of_block = std::min(longest, mesh.most_elements() / most * element_bytes);
  return std::max<Index>(1, options.segment_bytes.value_or(std::max(usual, of_block)) / element_bytes);
}

/// Collective over the context.
/// \pre  the options are complete
[[nodiscard]] std::unique_ptr<Plan> make_plan(mpi::Context& context, Index n, const Products& products,
                                              const Options& options);

/// The algorithms, each in a file of its name. Collective over the context.
using MakePlan = std::unique_ptr<Plan>(mpi::Context& context, const Grid& mesh, const Products& products,
                                       const Options& options);
MakePlan make_blocking, make_overlapped, make_cannon, make_mirrored;

}  // namespace plait::dense::symm
