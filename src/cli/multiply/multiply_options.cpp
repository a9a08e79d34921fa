#include "cli/multiply/multiply_options.hpp"

#include <charconv>
#include <limits>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "plait/base/error.hpp"

#include "cli/job/traced_job.hpp"
#include "cli/options/byte_count.hpp"
#include "cli/options/machine_option.hpp"
#include "cli/options/op_name.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

namespace {

int parse_layers(std::string_view text) {
  int layers = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), layers);
  if (failure != std::errc() || end != text.data() + text.size() || layers < 1) {
    throw ArgumentError(fmt::format("'{}' is no number of layers; expected a whole number from 1 on", text));
  }
  return layers;
}

void check_together(const MultiplyOptions& options) {
  if (options.into.empty() && !options.beta.is_zero()) {
    throw UsageError(fmt::format("--beta is {}, but --into is missing: the file of the old C", options.beta.text()));
  }
  if (!options.into.empty() && options.beta.is_zero()) {
    throw UsageError("--into is given, but --beta is 0: the old C would not be read");
  }
  if (options.method == dense::Method::in_place && options.layers > 1) {
    throw UsageError(fmt::format("--layers is {}, but --method in-place has one layer only", options.layers));
  }
}

constexpr const char* multiply_footer =
    R"(A and B have the same floating-point type, real or complex; C has it, too, in the order of A's file. The product is
checked with a random vector before it is written. With --memory, only what fits is chosen from.

Example: the product of a tall matrix's transpose with itself, on 4 ranks
  mpirun -n 4 plait multiply A.npy A.npy --op-a transpose -o C.npy)";

}  // namespace

void add_multiply(CLI::App& program, MultiplyOptions& options) {
  using dense::Method;
  CLI::App& command = *program.add_subcommand("multiply", "Multiply matrices:  C <- alpha op(A) op(B) + beta C");
  add_path(command, "A", options.a, "FILE", "A NumPy .npy, Matrix Market or HDF5 file")->required();
  add_path(command, "B", options.b, "FILE", "Another, or the same")->required();
  add_matrix_path(command, "-o,--output", options.output, "FILE",
                  "C: a .npy or HDF5 file; may be A, B or --into itself")
      ->required();
  add_value(command, "--op-a", options.op_a, parse_op, "OP", op_words);
  add_value(command, "--op-b", options.op_b, parse_op, "OP", op_words);
  add_value(command, "--alpha", options.alpha, parse_scalar, "NUMBER",
            "Multiplies the product; 1 by default. Real or complex (1+2i) as the elements are");
  add_value(command, "--beta", options.beta, parse_scalar, "NUMBER", "Multiplies the old C; 0 by default");
  add_path(command, "--into", options.into, "FILE", "The old C, of the product's shape and type; needs --beta");
  add_choice(command, "--method", options.method,
             {{"auto", std::nullopt},
              {"ring", Method::ring},
              {"summa", Method::summa},
              {"cannon", Method::cannon},
              {"in-place", Method::in_place}},
             "METHOD", "Algorithm: {}. auto takes the fastest, by the machine description");
  add_value(command, "--layers", options.layers, parse_layers, "COUNT",
            "Layers of ranks, each of which sums a part of the terms: 2.5D; 1 for 2D; by default the fastest number");
  add_value(command, "--memory", options.memory_limit, parse_byte_count, "BYTES",
            "Memory of each rank beside its parts of A, B and C, such as 2G; fewer layers take less")
      ->group(group::run);
  add_machine_option(command, options.machine);
  add_trace_option(command, options.trace);
  add_report_options(command, options.report);
  command.footer(multiply_footer);
  command.final_callback([&options] { check_together(options); });
}

}  // namespace plait::cli
