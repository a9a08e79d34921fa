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

dense::Method parse_method(std::string_view text) {
  if (text == "ring") return dense::Method::ring;
  if (text == "summa") return dense::Method::summa;
  if (text == "cannon") return dense::Method::cannon;
  if (text == "in-place") return dense::Method::in_place;
  throw ArgumentError(fmt::format("'{}' is no method; expected ring, summa, cannon or in-place", text));
}

int parse_layers(std::string_view text) {
  int layers = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), layers);
  if (failure != std::errc() || end != text.data() + text.size() || layers < 1) {
    throw ArgumentError(fmt::format("'{}' is no number of layers; expected a whole number from 1 on", text));
  }
  return layers;
}

void check_together(const MultiplyOptions& options) {
  if (options.output.empty()) throw UsageError("-o is missing: where does the product go?");
  if (options.into.empty() && !options.beta.is_zero()) {
    throw UsageError(fmt::format("--beta is {}, but --into is missing: the file with the C that beta multiplies",
                                 options.beta.text()));
  }
  if (!options.into.empty() && options.beta.is_zero()) {
    throw UsageError("--into is given, but --beta is 0: C would not be read");
  }
  if (options.method == dense::Method::in_place && options.layers > 1) {
    throw UsageError(fmt::format("--layers is {}, but --method in-place has one layer only", options.layers));
  }
}

constexpr const char* multiply_footer =
    R"(A and B have the same floating-point type, real or complex, and C gets it, in the order of A's file. The product is
checked with a random vector before it is written. Where no method is given, the fastest one is taken, by the
description of the machine; with --memory, of those that fit.

Example: the product of a tall matrix's transpose with itself, on 4 ranks
  mpirun -n 4 plait multiply A.npy A.npy --op-a transpose -o C.npy)";

}  // namespace

void add_multiply(CLI::App& program, MultiplyOptions& options) {
  CLI::App& command = *program.add_subcommand("multiply", "Multiply matrices:  C <- alpha op(A) op(B) + beta C");
  add_path(command, "A", options.a, "FILE", "A NumPy .npy, Matrix Market or HDF5 file")->required();
  add_path(command, "B", options.b, "FILE", "Another, or the same")->required();
  add_matrix_path(command, "-o,--output", options.output, "FILE",
                  "Where C goes: a .npy or HDF5 file; may be A, B or --into");
  add_value(
      command, "--op-a", [&options](const std::string& text) { options.op_a = parse_op(text); }, "OP",
      "identity (the default), transpose, conjugate or conjugate-transpose; or N, T, C, H");
  add_value(
      command, "--op-b", [&options](const std::string& text) { options.op_b = parse_op(text); }, "OP", "Likewise of B");
  add_value(
      command, "--alpha", [&options](const std::string& text) { options.alpha = Scalar(text); }, "NUMBER",
      "Multiplies the product; 1 by default. Real or complex (1+2i) as the elements are");
  add_value(
      command, "--beta", [&options](const std::string& text) { options.beta = Scalar(text); }, "NUMBER",
      "Multiplies C as it was; 0 by default");
  add_path(command, "--into", options.into, "FILE", "C as it was, of the product's shape and type; belongs to --beta");
  add_value(
      command, "--method", [&options](const std::string& text) { options.method = parse_method(text); }, "METHOD",
      "ring, summa, cannon or in-place");
  add_value(
      command, "--layers", [&options](const std::string& text) { options.layers = parse_layers(text); }, "NUMBER",
      "Ranks in so many layers, each of which sums up a part of the terms: 2.5D; 1 for 2D methods");
  add_value(
      command, "--memory", [&options](const std::string& text) { options.memory_limit = parse_byte_count(text); },
      "BYTES", "What a rank may take beside its parts of A, B and C, such as 2G; fewer layers take less");
  add_machine_option(command, options.machine);
  add_report_options(command, options.report);
  add_trace_option(command, options.trace);
  command.footer(multiply_footer);
  command.final_callback([&options] { check_together(options); });
}

}  // namespace plait::cli
