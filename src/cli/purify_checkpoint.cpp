#include "cli/purify_checkpoint.hpp"

#include <complex>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plait/base/error.hpp"
#include "plait/io/npy.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/io/strict_json.hpp"
#include "plait/io/text_file.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/text_aside.hpp"

namespace plait::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using purify::Iterate;
using purify::State;

constexpr int format_number = 1;
constexpr Index most_bytes = Index{16} << 20;

json json_of(const Iterate& iterate) {
  return {iterate.trace,  iterate.idempotency_error, iterate.missing_trace,
          iterate.energy, iterate.settled,           iterate.step,
          iterate.seconds};
}

Iterate iterate_of(const json& value) {
  return {value.at(0), value.at(1), value.at(2), value.at(3), value.at(4), value.at(5), value.at(6)};
}

// Doubles are written with as many digits as tell them from their neighbours, and so come back with the same bits.
std::string text_of(const PurifyCheckpoint& checkpoint) {
  const State& state = checkpoint.state;
  json iterates = json::array();
  for (const Iterate& iterate : state.iterates) iterates.push_back(json_of(iterate));
  const json value{
      {"plait_purify_checkpoint", format_number},
      {"matrix", checkpoint.matrix},
      {"fingerprint", checkpoint.fingerprint},
      {"ranks", checkpoint.ranks},
      {"method", name(state.problem.method)},
      {"occupied", state.problem.occupied},
      {"spectrum", {state.problem.spectrum.low, state.problem.spectrum.high}},
      {"chemical_potential", state.problem.chemical_potential ? json(*state.problem.chemical_potential) : json()},
      {"shift", state.shift},
      {"slope", state.slope},
      {"iterates", std::move(iterates)}};
  return value.dump(1) + "\n";
}

PurifyCheckpoint checkpoint_of(const std::string& path, const std::string& text) {
  const auto fail = [&path](const std::string& why) {
    throw FileError(fmt::format("{}: is no checkpoint of plait purify: {}", path, why));
  };
  PurifyCheckpoint result;
  try {
    const json value = io::parse_strictly(text, fail);
    if (value.at("plait_purify_checkpoint") != format_number) fail("it is of another version");
    result.matrix = value.at("matrix");
    result.fingerprint = value.at("fingerprint").get<std::vector<double>>();
    result.ranks = value.at("ranks");
    State& state = result.state;
    state.problem.method = purify::parse_method(value.at("method").get<std::string>());
    state.problem.occupied = value.at("occupied");
    state.problem.spectrum = {value.at("spectrum").at(0), value.at("spectrum").at(1)};
    if (!value.at("chemical_potential").is_null()) state.problem.chemical_potential = value.at("chemical_potential");
    state.shift = value.at("shift");
    state.slope = value.at("slope");
    for (const json& iterate : value.at("iterates")) state.iterates.push_back(iterate_of(iterate));
  } catch (const json::exception& error) {
    fail(error.what());
  } catch (const ArgumentError& error) {
    fail(error.what());
  }
  if (result.matrix.empty() || fs::path(result.matrix).filename() != result.matrix) fail("it names no iterate");
  return result;
}

std::string matrix_name(const std::string& path, char turn) {
  return fs::path(path).filename().string() + "." + turn + ".npy";
}

}  // namespace

std::optional<PurifyCheckpoint> read_checkpoint(mpi::Context& context, const std::string& path) {
  const bool is_there = io::told_by_rank_zero(context, [&] {
    std::error_code failure;
    return fs::exists(path, failure);
  });
  if (!is_there) return std::nullopt;
  const std::string text = io::read_text(context, path, most_bytes, "a checkpoint of plait purify");
  return mpi::agreed(context, [&] { return checkpoint_of(path, text); });
}

std::string matrix_path(const std::string& path, const std::string& matrix) {
  return (fs::path(path).parent_path() / matrix).string();
}

template <class T>
std::string write_checkpoint(mpi::Context& context, const std::string& path, const std::string& before,
                             PurifyCheckpoint checkpoint, const layout::DistributedMatrix<T>& slab) {
  checkpoint.matrix = matrix_name(path, 'a');
  if (checkpoint.matrix == before) checkpoint.matrix = matrix_name(path, 'b');
  io::write_npy(context, matrix_path(path, checkpoint.matrix), slab);
  mpi::agreed(context, [&] {
    if (context.rank() == 0) text_aside(path, text_of(checkpoint)).publish();
  });
  return checkpoint.matrix;
}

void remove_checkpoint(mpi::Context& context, const std::string& path) {
  if (context.rank() != 0) return;
  std::error_code ignored;  // what is left is in nobody's way
  fs::remove(path, ignored);
  for (const char turn : {'a', 'b'}) fs::remove(matrix_path(path, matrix_name(path, turn)), ignored);
}

template std::string write_checkpoint(mpi::Context&, const std::string&, const std::string&, PurifyCheckpoint,
                                      const layout::DistributedMatrix<double>&);
template std::string write_checkpoint(mpi::Context&, const std::string&, const std::string&, PurifyCheckpoint,
                                      const layout::DistributedMatrix<std::complex<double>>&);

}  // namespace plait::cli
