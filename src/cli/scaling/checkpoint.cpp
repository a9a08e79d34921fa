#include "cli/scaling/checkpoint.hpp"

#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/npy/npy_rows.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::cli {

using nlohmann::json;
using sinkhorn::Domain;
using sinkhorn::TransportState;

namespace {

/// Its vectors, those of rows and those of columns by turns: the potentials of a transport, and factors where there are
/// any.
template <class State>
auto vectors_of(State& state) {
  std::vector<decltype(&state.f)> vectors;
  if (state.epsilon > 0) vectors.insert(vectors.end(), {&state.f, &state.g});
  if (state.epsilon == 0 || state.domain == Domain::factors) {
    vectors.insert(vectors.end(), {&state.scaling.u, &state.scaling.v});
  }
  return vectors;
}

json json_of(const TransportState& state) {
  json value = json::object();
  if (state.epsilon == 0) return value;
  value = {{"epsilon", state.epsilon}, {"domain", static_cast<int>(state.domain)}, {"stages", json::array()}};
  for (const auto& [epsilon, iterations, domain] : state.stages) {
    value["stages"].push_back({epsilon, iterations, static_cast<int>(domain)});
  }
  return value;
}

TransportState state_of(const json& value) {
  TransportState state;
  if (!value.contains("epsilon")) return state;
  state.epsilon = value.at("epsilon");
  state.domain = static_cast<Domain>(value.at("domain").get<int>());
  for (const json& stage : value.at("stages")) {
    state.stages.push_back({stage.at(0), stage.at(1), static_cast<Domain>(stage.at(2).get<int>())});
  }
  return state;
}

}  // namespace

ScalingCheckpoint::ScalingCheckpoint(mpi::Context& context, const CheckpointOptions& options, Index most_iterations,
                                     Identity identity)
    : context_(context),
      options_(options),
      most_iterations_(most_iterations),
      identity_(std::move(identity)),
      first_row_(mpi::sum_below(context.comm(), identity_.own_rows)),
      all_rows_(mpi::all_reduce(context.comm(), identity_.own_rows, mpi::Operation::sum())) {
  if (options.checkpoint.empty()) return;
  json& files = identity_.settings["files"] = json::array();
  for (const std::string& path : identity_.inputs) {
    files.push_back(path.empty() ? json() : json(checksum_of_input(context, path)));
  }
  if (options.resume) {
    if (const auto found = read_checkpoint_file(context, options.checkpoint, identity_.job)) {
      read(*found);
      return;
    }
  }
  remove_checkpoint(context, options.checkpoint);  // an old one must not come to name new contents
}

void ScalingCheckpoint::read(const json& checkpoint) {
  const std::string& path = options_.checkpoint;
  mpi::agreed(context_, [&] {
    const json& before = checkpoint.value("job", json());
    if (before == identity_.settings) return;
    for (const auto& [key, value] : identity_.settings.items()) {
      const json was = before.is_object() && before.contains(key) ? before.at(key) : json();
      if (was == value) continue;
      throw FileError(fmt::format("{}: is a checkpoint of another job: {}", path,
                                  key == "files"
                                      ? "the files that are read differ"
                                      : fmt::format("its {} was {}, now it is {}", key, was.dump(), value.dump())));
    }
    throw FileError(fmt::format("{}: is a checkpoint of another job", path));
  });
  contents_ = checkpoint.at("contents").get<std::string>();
  const auto numbers = io::read_npy_vector(context_, contents_path(path, contents_));
  mpi::agreed(context_, [&] {
    const auto fail = [&](const std::string& why) {
      throw FileError(fmt::format("{}: is no checkpoint of {}: {}", path, identity_.job, why));
    };
    try {
      TransportState state = state_of(checkpoint);
      const auto iterations = checkpoint.at("iterations").get<Index>();
      const auto vectors = vectors_of(state);
      const auto all = static_cast<Index>(vectors.size()) / 2 * (all_rows_ + identity_.columns) + iterations;
      if (static_cast<Index>(numbers.size()) != all) fail("its contents are of another length");
      if (iterations >= most_iterations_) {
        throw ArgumentError(fmt::format(
            "--max-iterations: the limit of {} is reached already, as {} has {} iterations; expected a larger one to "
            "go on",
            most_iterations_, path, iterations));
      }
      auto at = numbers.begin();
      for (std::size_t n = 0; n < vectors.size(); n += 2, at += all_rows_) {
        vectors[n]->assign(at + first_row_, at + first_row_ + identity_.own_rows);
      }
      for (std::size_t n = 1; n < vectors.size(); n += 2, at += identity_.columns) {
        vectors[n]->assign(at, at + identity_.columns);
      }
      state.scaling.errors.assign(at, numbers.end());
      state_ = std::move(state);
    } catch (const json::exception& error) {
      fail(error.what());
    }
  });
}

void ScalingCheckpoint::write(const TransportState& state) {
  const std::string contents = next_contents(contents_);
  const auto vectors = vectors_of(state);
  const auto iterations = static_cast<Index>(state.scaling.errors.size());
  const Index all = static_cast<Index>(vectors.size()) / 2 * (all_rows_ + identity_.columns) + iterations;
  io::NpyRows<double> file(context_, contents_path(options_.checkpoint, contents), {all, 1});
  mpi::agreed(context_, [&] {
    Index begin = 0;
    for (std::size_t n = 0; n < vectors.size(); n += 2, begin += all_rows_) file.write(begin + first_row_, *vectors[n]);
    if (context_.rank() != 0) return;
    for (std::size_t n = 1; n < vectors.size(); n += 2, begin += identity_.columns) file.write(begin, *vectors[n]);
    file.write(begin, state.scaling.errors);
  });
  file.commit();
  json checkpoint = json_of(state);
  checkpoint["iterations"] = iterations;
  checkpoint["contents"] = contents;
  checkpoint["job"] = identity_.settings;
  checkpoint["ranks"] = context_.size();
  write_checkpoint_file(context_, options_.checkpoint, identity_.job, std::move(checkpoint));
  contents_ = contents;
}

void ScalingCheckpoint::keep(const TransportState& state) {
  attempts_.make(context_, [&] { write(state); });
  if (signal_ != 0) throw Stopped(signal_, options_.checkpoint);
}

bool ScalingCheckpoint::is_due(Index iterations) {
  signal_ = stop_->signal();
  const bool is_last = iterations + 1 == most_iterations_;  // nobody asks after the last iteration
  return signal_ != 0 || is_last || iterations % options_.checkpoint_every.value_or(usual_checkpoint_every) == 0;
}

void ScalingCheckpoint::put_into(sinkhorn::Limits& limits) {
  if (options_.checkpoint.empty()) return;
  stop_.emplace(context_);
  limits.checkpoints = {[this](Index iterations) { return is_due(iterations); },
                        [this](const sinkhorn::ScalingState& scaling) {
                          TransportState state;
                          state.scaling = scaling;
                          keep(state);
                        },
                        state_ ? &state_->scaling : nullptr};
}

template <class Options>
void ScalingCheckpoint::put(Options& options) {
  if (options_.checkpoint.empty()) return;
  stop_.emplace(context_);
  options.is_due = [this](Index iterations) { return is_due(iterations); };
  options.keep = [this](const TransportState& state) { keep(state); };
  options.from = state_ ? &*state_ : nullptr;
}

template void ScalingCheckpoint::put(sinkhorn::TransportOptions&);
template void ScalingCheckpoint::put(sinkhorn::BarycentreOptions&);

Index ScalingCheckpoint::resumed_at() const noexcept {
  return state_ ? static_cast<Index>(state_->scaling.errors.size()) : 0;
}

void ScalingCheckpoint::end(sinkhorn::Outcome& outcome) {
  stop_.reset();
  if (options_.checkpoint.empty()) return;
  if (outcome.status == sinkhorn::Status::converged) return remove_checkpoint(context_, options_.checkpoint);
  if (contents_.empty() || outcome.status != sinkhorn::Status::iteration_limit) return;
  outcome.reason += fmt::format("; --resume with a larger --max-iterations goes on from {}", options_.checkpoint);
}

}  // namespace plait::cli
