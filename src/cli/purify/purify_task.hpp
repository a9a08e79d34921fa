#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/io/file_kind.hpp"
#include "plait/mpi/context.hpp"
#include "plait/purify/dense_products.hpp"
#include "plait/purify/method.hpp"

#include "cli/purify/purify_options.hpp"

namespace plait::cli {

/// What `plait purify` is going to do, known in full before an element is read.
struct PurifyTask {
  io::MatrixFile hamiltonian;
  std::optional<io::MatrixFile> overlap;
  std::optional<io::MatrixFile> inverse_root;
  Index states = 0;
  Index occupied = 0;  // the last of them in part, where the electrons do not fill them
  double filled = 0;   // states' worth of electrons
  double width = 0;    // of the smearing, in the units of H
  bool by_eigenstates = false;
  purify::Method method = purify::Method::canonical;
  purify::Squares squares = purify::Squares::symmetric;
  bool is_complex = false;  // any of the matrices

  [[nodiscard]] Index element_bytes() const noexcept { return is_complex ? 16 : 8; }
  [[nodiscard]] Index matrix_bytes() const noexcept { return states * states * element_bytes(); }
};

/// The word of --method for it.
[[nodiscard]] std::string_view method_name(const PurifyTask& task) noexcept;

/// Reads the headers and checks that everything fits together and that all output can be written. Collective over
/// `context`.
///
/// \throws Error  on every rank
[[nodiscard]] PurifyTask prepare(mpi::Context& context, const PurifyOptions& options);

/// The bytes that this rank needs at the same time in each phase of the task, for `estimate_memory`.
/// \param layout  of the products
[[nodiscard]] std::vector<Index> memory_of_phases(const mpi::Context& context, const PurifyOptions& options,
                                                  const PurifyTask& task, const layout::Layout& layout,
                                                  Index workspace_bytes);

}  // namespace plait::cli
