#pragma once

#include <exception>
#include <string>

#include "plait/base/index.hpp"
#include "plait/base/stopwatch.hpp"

#include "shim/scalapack/execution.hpp"
#include "shim/scalapack/summary.hpp"

namespace plait::shim::scalapack {

/// What every exported routine does: tries to do the work, and passes the call on where that can't be. What fails on
/// this process alone ends the program: others would wait for it.
///
/// \param work     returns how many bytes the call was about; throws `PassOn` before anything was changed
/// \param pass_on  calls the real routine
template <class Work, class Real>
void serve(const std::string& routine, Work&& work, Real&& pass_on) {
  try {
    try {
      const Stopwatch stopwatch;
      const Index bytes = work();
      Summary::of_program().served(routine, bytes, stopwatch.seconds());
    } catch (const PassOn& call) {
      Summary::of_program().passed_on(routine, call.reason);
      pass_on();
    }
  } catch (const std::exception& error) {
    end_program(routine + ": " + error.what());
  }
}

}  // namespace plait::shim::scalapack
