// mca_op_plait.so: a component of Open MPI that computes its predefined reductions with plait's kernels. MPI_Init finds
// it in the folders of the MCA parameter mca_base_component_path, asks it for a module for each operation and takes the
// functions in there for its own.
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "plait/base/log_setting.hpp"
#include "plait/simd/isa.hpp"
#include "plait/simd/reduce/reduce.hpp"

#include "shim/openmpi/internals.hpp"
#include "shim/openmpi/module.hpp"
#include "shim/openmpi/tables.hpp"
#include "shim/settings.hpp"

namespace {

using namespace plait;
using namespace plait::shim;
using namespace plait::shim::openmpi;

// Open MPI's own vector functions have 50, its plain ones 0.
constexpr int priority_of_modules = 90;

constexpr std::size_t name_width = 22;

// There is one of each in a process, as there is one Open MPI, which gives back nothing but the addresses of modules.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::array<Module, simd::reduce_operation_count> modules{};
bool is_rank_zero = false;
bool tells_settings = false;  // what is wrong with them
pid_t process = 0;            // which has a rank; what it forks has none
bool tells_summary = false;   // at the end, on rank 0; all ranks count, then
simd::Isa isa = simd::Isa::scalar;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void say(const std::string& text) { static_cast<void>(std::fputs(text.c_str(), stderr)); }

std::string summary() {
  std::string text = fmt::format("plait served Open MPI's own reductions of rank 0 with {}:\n", name(isa));
  const std::size_t title_length = text.size();
  for (const simd::ReduceOperation operation : simd::reduce_operations()) {
    for (const simd::Element element : simd::elements()) {
      Index calls = 0;
      Index elements = 0;
      for (std::size_t type = 0; type < type_count; ++type) {
        if (element_of(type) != element) continue;
        const Count& count = modules[static_cast<std::size_t>(operation)].counts[type];
        calls += count.calls;
        elements += count.elements;
      }
      if (calls == 0) continue;
      const std::string what = fmt::format("{} {}", name(operation), name(element));
      text += served_text(what, name_width, calls, elements * size_in_bytes(element)) + '\n';
    }
  }
  if (text.size() == title_length) text += "  none\n";
  return text;
}

// Which only the library that is preloaded can see to, as it sees all operands of a sum.
void tell_if_not_reproducible() {
  const ReproducibleSetting setting = reproducible_setting();
  say(setting.complaint);
  if (!setting.is_wanted) return;
  say("plait: warning: PLAIT_REPRODUCIBLE=1 needs libplait_reduce.so, which is not preloaded: sums are not made "
      "reproducible\n");
}

// What Open MPI calls. It is C, so nothing may be thrown out of here.

int init_query(bool /*with_progress_threads*/, bool /*with_threads*/) noexcept {
  try {
    process = ::getpid();
    is_rank_zero = OPAL_PROC_MY_NAME.vpid == 0;
    tells_settings = is_rank_zero && dlsym(RTLD_DEFAULT, teller_of_settings) == nullptr;
    isa = isa_of_program(tells_settings);
    if (tells_settings) tell_if_not_reproducible();
    tells_summary = log_setting().summary;
    return OMPI_SUCCESS;
  } catch (...) {
    return OMPI_ERROR;
  }
}

ompi_op_base_module_t* op_query(ompi_op_t* op, int* priority) noexcept {
  try {
    const auto operation = operation_of(op);
    if (!operation) return nullptr;
    Module& module = modules[static_cast<std::size_t>(operation->operation)];
    make_module(module, *operation, isa, tells_summary);
    *priority = priority_of_modules;
    return &module.base;
  } catch (...) {
    return nullptr;
  }
}

// Open MPI 4.1 does not call the function by which components close, so what is left to do is done when this one is
// unloaded, which is at the end of the program at the latest.
class Farewell {
 public:
  Farewell() = default;
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;
  ~Farewell() {
    try {
      if (!is_rank_zero || process != ::getpid()) return;
      if (tells_summary) {
        say(summary());
      } else if (tells_settings) {
        say(complaint_about_log());
      }
    } catch (...) {
      static_cast<void>(std::fputs("plait: there was no memory for the summary\n", stderr));
    }
  }
};

const Farewell farewell;

}  // namespace

// The name is made of those of the framework and of the component.
extern "C" ompi_op_base_component_t mca_op_plait_component;
ompi_op_base_component_t mca_op_plait_component{
    .opc_version = {OMPI_OP_BASE_VERSION_1_0_0, .mca_component_name = "plait",
                    MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION),
                    .mca_open_component = nullptr, .mca_close_component = nullptr, .mca_query_component = nullptr,
                    .mca_register_component_params = nullptr, .mca_component_flags = 0, .reserved = {}},
    .opc_data = {.param_field = MCA_BASE_METADATA_PARAM_CHECKPOINT, .reserved = {}},
    .opc_init_query = init_query,
    .opc_op_query = op_query};
