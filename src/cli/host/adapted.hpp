#pragma once

#include <memory>
#include <vector>

#include "cli/host/job.hpp"

namespace plait::cli {

/// A job of two functions: one that adds the command to the program's, filling its options, and one that runs it.
template <class OptionsOfJob, void (*add)(CLI::App&, OptionsOfJob&),
          void (*run_job)(mpi::Context&, const OptionsOfJob&)>
class Adapted : public Job {
 public:
  void options(Options& options) override { add(options.program(), own_); }
  void run(Work& /*work*/) override {}
  void report(Report& /*report*/, Work& /*work*/) override {}

 protected:
  void perform(mpi::Context& context) override {
    if constexpr (requires { own_.command = settings.line; }) own_.command = settings.line;
    if constexpr (requires { own_.machine; }) use_machine(context, own_.machine);
    run_job(context, own_);
  }

 private:
  OptionsOfJob own_;
};

}  // namespace plait::cli
