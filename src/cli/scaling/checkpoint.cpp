#include "cli/scaling/checkpoint.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/npy/npy_rows.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::cli {

using nlohmann::json;

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
      iterate::Checkpoint state;
      state.numbers = checkpoint.at("numbers").get<std::map<std::string, double>>();
      auto at = numbers.begin();
      const auto take = [&](Index length) {
        if (length < 0 || length > numbers.end() - at) fail("its contents are of another length");
        return std::exchange(at, at + length);
      };
      for (const auto& [name, length] : checkpoint.at("by_rank").get<std::map<std::string, Index>>()) {
        const Index of_row = length / std::max<Index>(all_rows_, 1);  // numbers of each row
        if (of_row * all_rows_ != length) fail("its contents are of another length");
        const auto begin = take(length);
        state.by_rank[name].assign(begin + first_row_ * of_row, begin + (first_row_ + identity_.own_rows) * of_row);
      }
      for (const auto& [name, length] : checkpoint.at("shared").get<std::map<std::string, Index>>()) {
        const auto begin = take(length);
        state.shared[name].assign(begin, begin + length);
      }
      if (at != numbers.end() || !state.shared.contains("errors")) fail("its contents are of another length");
      const auto iterations = static_cast<Index>(state.shared.at("errors").size());
      if (iterations >= most_iterations_) {
        throw ArgumentError(fmt::format(
            "--max-iterations: the limit of {} is reached already, as {} has {} iterations; expected a larger one to "
            "go on",
            most_iterations_, path, iterations));
      }
      state_ = std::move(state);
    } catch (const json::exception& error) {
      fail(error.what());
    }
  });
}

void ScalingCheckpoint::write(const iterate::Checkpoint& state) {
  const std::string contents = next_contents(contents_);
  json checkpoint{{"numbers", state.numbers}, {"by_rank", json::object()}, {"shared", json::object()}};
  Index all = 0;
  std::vector<Index> begins;
  for (const auto& [name, values] : state.by_rank) {
    const auto own = static_cast<Index>(values.size());
    begins.push_back(all + mpi::sum_below(context_.comm(), own));
    checkpoint["by_rank"][name] = mpi::all_reduce(context_.comm(), own, mpi::Operation::sum());
    all += checkpoint["by_rank"][name].get<Index>();
  }
  for (const auto& [name, values] : state.shared) {
    begins.push_back(all);
    checkpoint["shared"][name] = values.size();
    all += static_cast<Index>(values.size());
  }
  io::NpyRows<double> file(context_, contents_path(options_.checkpoint, contents), {all, 1});
  mpi::agreed(context_, [&] {
    auto begin = begins.begin();
    for (const auto& [name, values] : state.by_rank) file.write(*begin++, values);
    if (context_.rank() != 0) return;
    for (const auto& [name, values] : state.shared) file.write(*begin++, values);
  });
  file.commit();
  checkpoint["iterations"] = state.shared.at("errors").size();
  checkpoint["contents"] = contents;
  checkpoint["job"] = identity_.settings;
  checkpoint["ranks"] = context_.size();
  write_checkpoint_file(context_, options_.checkpoint, identity_.job, std::move(checkpoint));
  contents_ = contents;
}

void ScalingCheckpoint::keep(const iterate::Checkpoint& state) {
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
                        [this](const iterate::Checkpoint& state) { keep(state); }, state_ ? &*state_ : nullptr};
}

Index ScalingCheckpoint::resumed_at() const noexcept {
  return state_ ? static_cast<Index>(state_->shared.at("errors").size()) : 0;
}

void ScalingCheckpoint::end(sinkhorn::Outcome& outcome) {
  stop_.reset();
  if (options_.checkpoint.empty()) return;
  if (outcome.status == sinkhorn::Status::converged) return remove_checkpoint(context_, options_.checkpoint);
  if (contents_.empty() || outcome.status != sinkhorn::Status::iteration_limit) return;
  outcome.reason += fmt::format("; --resume with a larger --max-iterations goes on from {}", options_.checkpoint);
}

}  // namespace plait::cli
