#include "cli/purify/checkpoint.hpp"

#include <cmath>
#include <complex>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plait/base/error.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/host/checkpoint.hpp"

namespace plait::cli {

namespace {

using nlohmann::json;
using purify::Iterate;
using purify::State;

constexpr std::string_view job = "plait purify";

json iterate_json(const Iterate& iterate) {
  return {iterate.trace,  iterate.idempotency_error, iterate.missing_trace,
          iterate.energy, iterate.settled,           iterate.step,
          iterate.seconds};
}

Iterate iterate_of(const json& value) {
  return {value.at(0), value.at(1), value.at(2), value.at(3), value.at(4), value.at(5), value.at(6)};
}

/// Energy and error, or null where nothing is known of the state yet.
json level_json(double energy, double error) { return std::isfinite(error) ? json{energy, error} : json(); }

// Doubles are written with as many digits as tell them from their neighbours, and so come back with the same bits.
json checkpoint_json(const PurifyCheckpoint& checkpoint) {
  const State& state = checkpoint.state;
  json iterates = json::array();
  for (const Iterate& iterate : state.iterates) iterates.push_back(iterate_json(iterate));
  return {{"contents", checkpoint.matrix},
          {"checksums", checkpoint.checksums},
          {"ranks", checkpoint.ranks},
          {"method", name(state.problem.method)},
          {"occupied", state.problem.occupied},
          {"spectrum", {state.problem.spectrum.low, state.problem.spectrum.high}},
          {"chemical_potential", state.problem.chemical_potential ? json(*state.problem.chemical_potential) : json()},
          {"shift", state.shift},
          {"slope", state.slope},
          {"highest_occupied", level_json(state.frontier.highest_occupied, state.frontier.occupied_error)},
          {"lowest_empty", level_json(state.frontier.lowest_empty, state.frontier.empty_error)},
          {"iterates", std::move(iterates)}};
}

PurifyCheckpoint checkpoint_of(const std::string& path, const json& value) {
  const auto fail = [&path](const std::string& why) {
    throw FileError(fmt::format("{}: is no checkpoint of plait purify: {}", path, why));
  };
  PurifyCheckpoint result;
  try {
    result.matrix = value.at("contents");
    result.checksums = value.at("checksums").get<std::vector<std::uint64_t>>();
    result.ranks = value.at("ranks");
    State& state = result.state;
    state.problem.method = purify::parse_method(value.at("method").get<std::string>());
    state.problem.occupied = value.at("occupied");
    state.problem.spectrum = {value.at("spectrum").at(0), value.at("spectrum").at(1)};
    if (!value.at("chemical_potential").is_null()) state.problem.chemical_potential = value.at("chemical_potential");
    state.shift = value.at("shift");
    state.slope = value.at("slope");
    if (const json& level = value.at("highest_occupied"); !level.is_null()) {
      state.frontier.highest_occupied = level.at(0);
      state.frontier.occupied_error = level.at(1);
    }
    if (const json& level = value.at("lowest_empty"); !level.is_null()) {
      state.frontier.lowest_empty = level.at(0);
      state.frontier.empty_error = level.at(1);
    }
    for (const json& iterate : value.at("iterates")) state.iterates.push_back(iterate_of(iterate));
  } catch (const json::exception& error) {
    fail(error.what());
  } catch (const ArgumentError& error) {
    fail(error.what());
  }
  return result;
}

}  // namespace

std::optional<PurifyCheckpoint> read_checkpoint(mpi::Context& context, const std::string& path) {
  const auto value = read_checkpoint_file(context, path, job);
  if (!value) return std::nullopt;
  return mpi::agreed(context, [&] { return checkpoint_of(path, *value); });
}

template <class T>
std::string write_checkpoint(mpi::Context& context, const std::string& path, const std::string& before,
                             PurifyCheckpoint checkpoint, const layout::DistributedMatrix<T>& slab) {
  checkpoint.matrix = next_contents(before);
  io::write_npy(context, contents_path(path, checkpoint.matrix), slab);
  write_checkpoint_file(context, path, job, checkpoint_json(checkpoint));
  return checkpoint.matrix;
}

template std::string write_checkpoint(mpi::Context&, const std::string&, const std::string&, PurifyCheckpoint,
                                      const layout::DistributedMatrix<double>&);
template std::string write_checkpoint(mpi::Context&, const std::string&, const std::string&, PurifyCheckpoint,
                                      const layout::DistributedMatrix<std::complex<double>>&);

}  // namespace plait::cli
