#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plait/base/matrix_view.hpp"
#include "plait/io/dtype.hpp"
#include "plait/layout/shape.hpp"

#include "cli/generate/hamiltonian.hpp"
#include "cli/options/report_options.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// The command line of `plait generate`.
struct GenerateOptions {
  layout::Shape shape;
  std::optional<Hamiltonian> hamiltonian;  // random numbers if none
  io::DType dtype = io::DType::f64;
  std::string output;
  std::uint64_t seed = 0;
  StorageOrder order = StorageOrder::row_major;
  std::string machine;  // empty: as PLAIT_MACHINE says
  ReportOptions report;
};

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed
void add_generate(CLI::App& program, GenerateOptions& options);

}  // namespace plait::cli
