#include "cli/scaling/scaled_checkpoint.hpp"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/npy/npy_rows.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

#include "cli/job/checkpoint_file.hpp"

namespace plait::cli {

using nlohmann::json;
using sinkhorn::ScalingState;
using sinkhorn::TransportState;

ScaledCheckpoint::ScaledCheckpoint(mpi::Context& context, const ScaledOptions& options, std::string_view job,
                                   const std::vector<std::string>& inputs, json settings, Index own_rows, Index columns)
    : context_(context),
      options_(options),
      job_(job),
      identity_(std::move(settings)),
      own_rows_(own_rows),
      first_row_(mpi::sum_below(context.comm(), own_rows)),
      all_rows_(mpi::all_reduce(context.comm(), own_rows, mpi::Operation::sum())),
      columns_(columns) {
  if (options.checkpoint.empty()) return;
  identity_["files"] = json::array();
  for (const std::string& path : inputs) {
    identity_["files"].push_back(path.empty() ? json() : json(checksum_of_input(context, path)));
  }
  look_for_one();
}

void ScaledCheckpoint::look_for_one() {
  if (options_.resume) {
    if (const auto checkpoint = read_checkpoint_file(context_, options_.checkpoint, job_)) return read(*checkpoint);
  }
  // An old checkpoint must not come to name new contents.
  remove_checkpoint(context_, options_.checkpoint);
}

void ScaledCheckpoint::read(const json& checkpoint) {
  mpi::agreed(context_, [&] {
    const json& before = checkpoint.value("job", json());
    if (before == identity_) return;
    for (const auto& [key, value] : identity_.items()) {
      const json was = before.is_object() && before.contains(key) ? before.at(key) : json();
      if (was == value) continue;
      throw FileError(key == "files" ? fmt::format("{}: is a checkpoint of another job: the files that are read differ",
                                                   options_.checkpoint)
                                     : fmt::format("{}: is a checkpoint of another job: its {} was {}, now it is {}",
                                                   options_.checkpoint, key, was.dump(), value.dump()));
    }
    throw FileError(fmt::format("{}: is a checkpoint of another job", options_.checkpoint));
  });
  contents_ = checkpoint.at("contents").get<std::string>();
  const auto vectors = io::read_npy_vector(context_, contents_path(options_.checkpoint, contents_));
  mpi::agreed(context_, [&] {
    const auto fail = [&](const std::string& why) {
      throw FileError(fmt::format("{}: is no checkpoint of {}: {}", options_.checkpoint, job_, why));
    };
    try {
      TransportState state;
      const auto iterations = checkpoint.at("iterations").get<std::size_t>();
      std::vector<std::vector<double>*> of_rows;
      std::vector<std::vector<double>*> of_columns;
      if (checkpoint.contains("epsilon")) {
        state.epsilon = checkpoint.at("epsilon");
        state.domain = static_cast<sinkhorn::Domain>(checkpoint.at("domain").get<int>());
        for (const json& stage : checkpoint.at("stages")) {
          state.stages.push_back({stage.at(0), stage.at(1), static_cast<sinkhorn::Domain>(stage.at(2).get<int>())});
        }
        of_rows.push_back(&state.f);
        of_columns.push_back(&state.g);
      }
      if (!checkpoint.contains("epsilon") || state.domain == sinkhorn::Domain::factors) {
        of_rows.push_back(&state.scaling.u);
        of_columns.push_back(&state.scaling.v);
      }
      if (vectors.size() != of_rows.size() * static_cast<std::size_t>(all_rows_ + columns_) + iterations) {
        fail("its contents are of another length");
      }
      auto at = vectors.begin();
      for (std::vector<double>* vector : of_rows) {
        vector->assign(at + first_row_, at + first_row_ + own_rows_);
        at += all_rows_;
      }
      for (std::vector<double>* vector : of_columns) {
        vector->assign(at, at + columns_);
        at += columns_;
      }
      state.scaling.errors.assign(at, vectors.end());
      if (static_cast<Index>(iterations) >= options_.most_iterations) {
        throw ArgumentError(fmt::format(
            "--max-iterations: the limit of {} is reached already, as {} has {} iterations; expected a larger "
            "one to go on",
            options_.most_iterations, options_.checkpoint, iterations));
      }
      state_ = std::move(state);
    } catch (const json::exception& error) {
      fail(error.what());
    }
  });
}

void ScaledCheckpoint::write(json checkpoint, const std::vector<const std::vector<double>*>& of_rows,
                             const std::vector<const std::vector<double>*>& of_columns,
                             const std::vector<double>& errors) {
  const std::string contents = next_contents(contents_);
  const auto vectors = static_cast<Index>(of_rows.size());
  const auto iterations = static_cast<Index>(errors.size());
  io::NpyRows<double> file(context_, contents_path(options_.checkpoint, contents),
                           {vectors * (all_rows_ + columns_) + iterations, 1});
  mpi::agreed(context_, [&] {
    Index begin = 0;
    for (const std::vector<double>* vector : of_rows) {
      file.write(begin + first_row_, *vector);
      begin += all_rows_;
    }
    if (context_.rank() != 0) return;
    for (const std::vector<double>* vector : of_columns) {
      file.write(begin, *vector);
      begin += columns_;
    }
    file.write(begin, errors);
  });
  file.commit();
  checkpoint["iterations"] = iterations;
  checkpoint["contents"] = contents;
  checkpoint["job"] = identity_;
  checkpoint["ranks"] = context_.size();
  write_checkpoint_file(context_, options_.checkpoint, job_, std::move(checkpoint));
  contents_ = contents;
}

void ScaledCheckpoint::keep(const json& checkpoint, const std::vector<const std::vector<double>*>& of_rows,
                            const std::vector<const std::vector<double>*>& of_columns,
                            const std::vector<double>& errors) {
  attempts_.make(context_, [&] { write(checkpoint, of_rows, of_columns, errors); });
  if (signal_ != 0) throw Stopped(signal_, options_.checkpoint);
}

bool ScaledCheckpoint::is_due(Index iterations) {
  signal_ = stop_->signal();
  const bool is_before_limit = iterations + 1 == options_.most_iterations;  // the last time that this is asked
  return signal_ != 0 || is_before_limit ||
         iterations % options_.checkpoint_every.value_or(usual_checkpoint_every) == 0;
}

sinkhorn::ScalingCheckpoints ScaledCheckpoint::of_scaling() {
  if (options_.checkpoint.empty()) return {};
  stop_.emplace(context_);
  return {[this](Index iterations) { return is_due(iterations); },
          [this](const ScalingState& state) { keep(json::object(), {&state.u}, {&state.v}, state.errors); },
          state_ ? &state_->scaling : nullptr};
}

template <class Options>
void ScaledCheckpoint::put(Options& options) {
  if (options_.checkpoint.empty()) return;
  stop_.emplace(context_);
  options.is_due = [this](Index iterations) { return is_due(iterations); };
  options.from = state_ ? &*state_ : nullptr;
  options.keep = [this](const TransportState& state) {
    json stages = json::array();
    for (const auto& stage : state.stages) {
      stages.push_back({stage.epsilon, stage.iterations, static_cast<int>(stage.domain)});
    }
    std::vector<const std::vector<double>*> of_rows{&state.f};
    std::vector<const std::vector<double>*> of_columns{&state.g};
    if (state.domain == sinkhorn::Domain::factors) {
      of_rows.push_back(&state.scaling.u);
      of_columns.push_back(&state.scaling.v);
    }
    keep({{"epsilon", state.epsilon}, {"domain", static_cast<int>(state.domain)}, {"stages", std::move(stages)}},
         of_rows, of_columns, state.scaling.errors);
  };
}

template void ScaledCheckpoint::put(sinkhorn::TransportOptions&);
template void ScaledCheckpoint::put(sinkhorn::BarycentreOptions&);

Index ScaledCheckpoint::resumed_at() const noexcept {
  return state_ ? static_cast<Index>(state_->scaling.errors.size()) : 0;
}

void ScaledCheckpoint::end(sinkhorn::Outcome& outcome) {
  stop_.reset();
  if (options_.checkpoint.empty()) return;
  if (outcome.status == sinkhorn::Status::converged) return remove_checkpoint(context_, options_.checkpoint);
  if (contents_.empty() || outcome.status != sinkhorn::Status::iteration_limit) return;
  outcome.reason += fmt::format("; --resume with a larger --max-iterations goes on from {}", options_.checkpoint);
}

}  // namespace plait::cli
