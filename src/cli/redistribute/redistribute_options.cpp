#include "cli/redistribute/redistribute_options.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/job/traced_job.hpp"
#include "cli/options/byte_count.hpp"
#include "cli/options/layout_argument.hpp"
#include "cli/options/machine_option.hpp"
#include "cli/options/op_name.hpp"
#include "cli/options/option_value.hpp"

namespace plait::cli {

namespace {

Index parse_budget(std::string_view text) {
  constexpr Index least = 4096;  // redistribute::Options
  const Index bytes = parse_byte_count(text);
  if (bytes < least) throw ArgumentError(fmt::format("{} is {} bytes, expected at least {}", text, bytes, least));
  return bytes;
}

void check_together(const RedistributeOptions& options) {
  if (!options.output.empty() && !options.per_rank_folder.empty()) {
    throw UsageError("-o and --per-rank are both given, expected one of them");
  }
  if (options.relabel && !options.to) {
    throw UsageError("--relabel is given, but --to is missing: the layout whose ranks change their roles");
  }
  if (options.into.empty() && !options.beta.is_zero()) {
    throw UsageError(fmt::format("--beta is {}, but --into is missing: the file of the old A", options.beta.text()));
  }
  if (!options.into.empty() && options.beta.is_zero()) {
    throw UsageError("--into is given, but --beta is 0: the old A would not be read");
  }
}

constexpr const char* redistribute_footer_begin =
    R"(A file has no layout. Each rank reads and writes an even share of the file's rows (of its columns, if the file is in
Fortran order); that is also the layout where --from or --to is not given. The output has the order of the input; of a
Matrix Market file, Fortran order. HDF5 files, named .h5 or .hdf5, hold rows only.

)";

constexpr const char* redistribute_footer_end = R"(
Example: transpose a matrix on 4 ranks, from blocks of 32 x 32 to blocks of 128 x 128
  mpirun -n 4 plait redistribute B.npy -o A.npy --op transpose \
    --from block-cyclic:32x32@2x2 --to block-cyclic:128x128@2x2,order=col)";

}  // namespace

void add_redistribute(CLI::App& program, RedistributeOptions& options) {
  CLI::App& command = *program.add_subcommand(
      "redistribute", "Move and transform a matrix between layouts:  A <- alpha op(B) + beta A");
  add_path(command, "IN", options.input, "FILE",
           "B: a NumPy .npy, Matrix Market or HDF5 file; FILE.h5:/path/in/it names one of several matrices")
      ->required();
  add_matrix_path(command, "-o,--output", options.output, "FILE",
                  "A: a .npy file, or HDF5 as FILE.h5 or FILE.h5:/path/in/it; may be IN or --into itself")
      ->group(group::one_of);
  add_path(command, "--per-rank", options.per_rank_folder, "DIR",
           "A: each rank writes its tiles into this folder, and layout.json describes them")
      ->group(group::one_of);
  add_value(command, "--op", options.op, parse_op, "OP", op_words);
  add_value(command, "--from", options.from, layout::LayoutSpec::parse, "LAYOUT", "How the ranks hold B before");
  add_value(command, "--to", options.to, layout::LayoutSpec::parse, "LAYOUT",
            "How the ranks hold A after; of op(B)'s shape");
  command.add_flag("--relabel", options.relabel, "Let ranks change roles in --to so that the least data moves")
      ->disable_flag_override();
  add_value(command, "--alpha", options.alpha, parse_scalar, "NUMBER",
            "Multiplies op(B); 1 by default. Whole, real or complex (1+2i) as the elements are");
  add_value(command, "--beta", options.beta, parse_scalar, "NUMBER", "Multiplies the old A; 0 by default");
  add_path(command, "--into", options.into, "FILE", "The old A, of op(B)'s shape and type; needs --beta");
  add_value(command, "--memory", options.memory_budget, parse_budget, "BYTES",
            "Staging memory of each rank beside its parts of B and A, such as 64M; 32M by default")
      ->group(group::run);
  add_machine_option(command, options.machine);
  add_trace_option(command, options.trace);
  add_report_options(command, options.report);
  command.footer(redistribute_footer_begin + layout_help() + redistribute_footer_end);
  command.final_callback([&command, &options] {
    expect_one_of(command);
    check_together(options);
  });
}

}  // namespace plait::cli
