#pragma once

#include <optional>
#include <string>

#include "plait/base/index.hpp"
#include "plait/io/dtype.hpp"
#include "plait/layout/shape.hpp"
#include "plait/layout/text.hpp"
#include "plait/redistribute/op.hpp"

namespace CLI {
class App;
}

namespace plait::cli {

/// The command line of `plait plan`.
struct PlanOptions {
  std::string command;  // the whole line, as a shell takes it
  layout::LayoutSpec from;
  layout::LayoutSpec to;
  layout::Shape shape;
  io::DType dtype = io::DType::f64;
  redistribute::Op op = redistribute::Op::identity;
  bool relabel = false;
  Index ranks_per_node = 0;  // 0: not known
  std::string plot;          // empty: none
  bool json = false;
};

/// Adds the command to the program's; parsing fills `options`.
///
/// \throws UsageError  from parsing: a value is malformed
void add_plan(CLI::App& program, PlanOptions& options);

}  // namespace plait::cli
