#include "cli/generate_options.hpp"

#include <charconv>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/machine_option.hpp"
#include "cli/option_value.hpp"
#include "cli/shape_argument.hpp"

namespace plait::cli {

namespace {

StorageOrder parse_order(std::string_view text) {
  if (text != "C" && text != "F") throw ArgumentError(fmt::format("'{}' is no order; expected C or F", text));
  return text == "C" ? StorageOrder::row_major : StorageOrder::column_major;
}

std::uint64_t parse_seed(std::string_view text) {
  std::uint64_t seed = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (failure != std::errc() || end != text.data() + text.size()) {
    throw ArgumentError(fmt::format("'{}' is no seed; expected a whole number from 0 to 2^64 - 1", text));
  }
  return seed;
}

constexpr const char* generate_footer =
    R"(Real numbers, and both parts of complex ones, are uniform in [0, 1); integers take all their values alike. The matrix
depends on shape, type and seed only: any number of ranks makes the same one, in C order and in Fortran order.

Example:
  plait generate 8000x8000 --type f64 -o B.npy)";

}  // namespace

void add_generate(CLI::App& program, GenerateOptions& options) {
  CLI::App& command = *program.add_subcommand("generate", "Make a matrix of random numbers");
  add_value(
      command, "SHAPE", [&options](const std::string& text) { options.shape = parse_shape(text); }, "ROWSxCOLUMNS",
      "The extents of the matrix")
      ->required();
  add_npy_path(command, "-o,--output", options.output, "FILE", "Where it goes, as a .npy file");
  add_value(
      command, "--type", [&options](const std::string& text) { options.dtype = io::parse_dtype(text); }, "TYPE",
      fmt::format("{}; f64 by default", io::all_dtype_names()));
  add_value(
      command, "--seed", [&options](const std::string& text) { options.seed = parse_seed(text); }, "NUMBER",
      "Another seed, another matrix; 0 by default");
  add_value(
      command, "--order", [&options](const std::string& text) { options.order = parse_order(text); }, "C|F",
      "How the file holds the matrix: by rows (C, the default) or by columns (F)");
  add_machine_option(command, options.machine);
  add_report_options(command, options.report);
  command.footer(generate_footer);
  command.final_callback([&options] {
    if (options.output.empty()) throw UsageError("-o is missing: where does the matrix go?");
  });
}

}  // namespace plait::cli
