#include "cli/generate/generate_options.hpp"

#include <charconv>
#include <memory>
#include <string_view>
#include <type_traits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/options/machine_option.hpp"
#include "cli/options/number_argument.hpp"
#include "cli/options/option_value.hpp"
#include "cli/options/shape_argument.hpp"

namespace plait::cli {

namespace {

std::uint64_t parse_seed(std::string_view text) {
  std::uint64_t seed = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (failure != std::errc() || end != text.data() + text.size()) {
    throw ArgumentError(fmt::format("'{}' is no seed; expected a whole number from 0 to 2^64 - 1", text));
  }
  return seed;
}

/// What is given of a Hamiltonian, as long as it isn't known whether there is to be one.
struct Given {
  bool hamiltonian = false;
  std::optional<HamiltonianKind> kind;
  HamiltonianRequest request;
};

void expect_together(const GenerateOptions& options, const Given& given) {
  if (given.hamiltonian) {
    if (!given.kind) throw UsageError(fmt::format("--kind is missing, expected {}", all_hamiltonian_kinds()));
    const bool whole = io::with_dtype(options.dtype, []<class T>() { return std::is_integral_v<T>; });
    if (whole) {
      throw UsageError(
          fmt::format("--dtype: a Hamiltonian can't be {}, expected f32, f64, c64 or c128", io::name(options.dtype)));
    }
    return;
  }
  const char* alien = given.kind              ? "--kind"
                      : given.request.size    ? "--size"
                      : given.request.gap     ? "--gap"
                      : given.request.filling ? "--filling"
                                              : nullptr;
  if (alien != nullptr) throw UsageError(fmt::format("{} is given, but SHAPE is not hamiltonian", alien));
}

constexpr const char* generate_footer =
    R"(Real numbers, and both parts of complex ones, are uniform in [0, 1); integers are uniform over all their values. The
matrix depends on shape, type and seed only: any number of ranks makes the same one, in C order and in Fortran order.

With 'hamiltonian' in place of the shape, the real symmetric matrix of a model whose levels are known:
  c60            Hückel's: -1 between neighbours; 60 sites
  fullerene      the same of C60 with rings of ten atoms put in or taken out: 40, 50, 60, 70 ... sites
  polyacetylene  a ring whose bonds are strong and weak in turn: 4, 6, 8 ... sites
  graphene       a torus of a x b cells of two sites, which differ by what opens the gap: 2ab sites, a and b from 2
  prescribed     levels from 0 to 1 with a gap above the lowest --filling of them, turned by random reflections

Example:
  plait generate 8000x8000 --dtype f64 -o B.npy
  plait generate hamiltonian --kind graphene --size 2000 --gap 0.5 -o H.h5)";

}  // namespace

void add_generate(CLI::App& program, GenerateOptions& options) {
  CLI::App& command =
      *program.add_subcommand("generate", "Make a matrix of random numbers, or a Hamiltonian with known levels");
  const auto given = std::make_shared<Given>();
  const auto read_shape = [&options, given](const std::string& text) {
    given->hamiltonian = text == "hamiltonian";
    if (!given->hamiltonian) options.shape = parse_shape(text);
  };
  add_value(command, "SHAPE", read_shape, "ROWSxCOLUMNS", "ROWSxCOLUMNS, or the word hamiltonian")->required();
  add_matrix_path(command, "-o,--output", options.output, "FILE",
                  "A .npy file, or HDF5 as FILE.h5 or FILE.h5:/path/in/it")
      ->required();
  add_value(command, "--dtype", options.dtype, io::parse_dtype, "TYPE",
            fmt::format("Type of the elements, one of {}; f64 by default", io::all_dtype_names()));
  const auto read_seed = [&options, given](const std::string& text) {
    options.seed = parse_seed(text);
    given->request.seed = options.seed;
  };
  add_value(command, "--seed", read_seed, "NUMBER", "Another seed, another matrix; 0 by default");
  add_choice(command, "--order", options.order, {{"C", StorageOrder::row_major}, {"F", StorageOrder::column_major}},
             "C|F", "How the file holds the matrix: {}; by rows (C) or by columns (F)");
  constexpr const char* hamiltonian_group = "Hamiltonian";
  add_value(
      command, "--kind", [given](const std::string& text) { given->kind = parse_hamiltonian_kind(text); }, "KIND",
      fmt::format("Model, required: {}", all_hamiltonian_kinds()))
      ->group(hamiltonian_group);
  add_value(
      command, "--size", [given](const std::string& text) { given->request.size = parse_positive_count(text); },
      "COUNT", "Sites, the number of rows")
      ->group(hamiltonian_group);
  add_value(
      command, "--gap", [given](const std::string& text) { given->request.gap = parse_number(text); }, "ENERGY",
      "Gap above the occupied levels, of polyacetylene (0.56 by default), graphene or prescribed (0.1)")
      ->group(hamiltonian_group);
  add_value(
      command, "--filling", [given](const std::string& text) { given->request.filling = parse_number(text); }, "NUMBER",
      "Share of the levels that is occupied, of prescribed; 0.5 by default")
      ->group(hamiltonian_group);
  add_machine_option(command, options.machine);
  add_report_options(command, options.report);
  command.footer(generate_footer);
  command.final_callback([&options, given] {
    expect_together(options, *given);
    if (io::is_hdf5_name(options.output) && options.order == StorageOrder::column_major) {
      throw UsageError("--order is F, but -o is an HDF5 file, which holds rows only");
    }
    if (!given->hamiltonian) return;
    given->request.kind = *given->kind;
    try {
      options.hamiltonian = make_hamiltonian(given->request);
    } catch (const ArgumentError& error) {
      throw UsageError(error.what());
    }
    options.shape = {options.hamiltonian->size, options.hamiltonian->size};
  });
}

}  // namespace plait::cli
