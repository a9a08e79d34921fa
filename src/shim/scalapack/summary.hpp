#pragma once

#include <map>
#include <string>
#include <utility>

#include "plait/base/index.hpp"

#include "shim/own_rank.hpp"

namespace plait::shim::scalapack {

/// What became of the calls of this process. `PLAIT_LOG=summary` in the environment prints it to stderr when rank 0 of
/// all processes ends; anything else in there, and what is wrong with PLAIT_ISA, is told then.
class Summary {
 public:
  /// The only one, printed and destroyed when the program ends.
  [[nodiscard]] static Summary& of_program();

  Summary(const Summary&) = delete;
  Summary& operator=(const Summary&) = delete;
  ~Summary();

  /// \param bytes  of the whole submatrix, on all processes together
  void served(const std::string& routine, Index bytes, double seconds);
  void passed_on(const std::string& routine, const std::string& why);

  /// \return  a line for each routine, and for each reason to pass calls of it on
  [[nodiscard]] std::string text() const;

 private:
  Summary();

  struct Served {
    Index calls = 0;
    Index bytes = 0;
    double seconds = 0;
  };

  bool wanted_;
  std::string complaint_about_isa_;
  OwnRank rank_;
  std::map<std::string, Served> served_;
  std::map<std::pair<std::string, std::string>, Index> passed_on_;
};

}  // namespace plait::shim::scalapack
