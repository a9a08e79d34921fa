#include "cli/sinkhorn/balance_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options/number_argument.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

namespace {

constexpr const char* balance_footer =
    R"(B = diag(x) A diag(x), with the factors x that give all rows and columns of B one sum. Rows of A without entries are
masked: their factors are NaN in the file, and their rows of B are 0. If no factors exist, the command says why, and
writes nothing.

Example: the factors of a contact matrix
  mpirun -n 2 plait balance contacts.mtx -o weights.npy)";

}  // namespace

void add_balance(CLI::App& program, BalanceOptions& options) {
  CLI::App& command = *program.add_subcommand(
      "balance", "Give all rows and columns of a symmetric matrix one sum:  B = diag(x) A diag(x)");
  add_path(command, "IN", options.input, "FILE",
           "A: a NumPy .npy, Matrix Market or HDF5 file of numbers >= 0, symmetric")
      ->required();
  options.output_option = "--matrix";
  add_npy_path(command, "-o,--output", options.of_rows, "FILE",
               "The factors x, N x 1, as a .npy file; NaN for masked rows")
      ->group(group::one_of);
  add_plan_path(command, "--matrix", options.output, "FILE",
                "B: a .npy file, or of a sparse A a Matrix Market file .mtx; may be IN itself")
      ->group(group::one_of);
  add_value(command, "--sum", options.sum, parse_positive_number, "NUMBER",
            "Wanted sum of each row of B; 1 by default");
  add_precision_option(command, options, {Precision::f64, Precision::mixed});
  add_limit_options(command, options, most_in_all);
  add_checkpoint_options(command, options, usual_checkpoint_every);
  add_run_options(command, options);
  command.footer(balance_footer);
  command.final_callback([&command, &options] {
    expect_one_of(command);
    expect_checkpoint(options);
    if (options.of_rows == options.output) {
      throw UsageError("-o and --matrix name one file, expected different ones");
    }
  });
}

}  // namespace plait::cli
