#include "cli/generate.hpp"

#include <new>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/io/npy.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/json_line.hpp"
#include "cli/memory_estimate.hpp"
#include "cli/meter.hpp"
#include "cli/print.hpp"
#include "cli/quantities.hpp"

namespace plait::cli {

namespace {

template <class T>
T random_element(std::uint64_t seed, std::uint64_t counter) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random_bits(seed, counter));
  } else if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(random_bits(seed, counter) >> 40) * 0x1p-24F;  // rounding a double could give 1
  } else if constexpr (std::is_same_v<T, double>) {
    return random_uniform(seed, counter);
  } else {
    using Real = typename T::value_type;
    return {random_element<Real>(seed, 2 * counter), random_element<Real>(seed, 2 * counter + 1)};
  }
}

template <class T>
void generate_into(mpi::Context& context, const GenerateOptions& options, const layout::Layout& slab_layout,
                   Meter& meter) {
  auto slab = mpi::agreed(context, [&] { return io::make_slab<T>(options.output, slab_layout, context.rank()); });
  const auto columns = static_cast<std::uint64_t>(options.shape.columns);
  slab.for_each_element([&](Index row, Index column, T& element) {
    element =
        random_element<T>(options.seed, static_cast<std::uint64_t>(row) * columns + static_cast<std::uint64_t>(column));
  });
  meter.stage("writing " + options.output, slab_layout.elements_of(context.rank()) * Index{sizeof(T)},
              layout::elements(options.shape) * Index{sizeof(T)});
  io::write_npy(context, options.output, slab, meter.progress());
}

void print_summary(const mpi::Context& context, const GenerateOptions& options, Index bytes, double seconds) {
  const char* order = options.order == StorageOrder::row_major ? "C" : "F";
  if (options.report.json) {
    const nlohmann::ordered_json report{{"command", "generate"},
                                        {"version", PLAIT_VERSION},
                                        {"ranks", context.size()},
                                        {"output", options.output},
                                        {"shape", {options.shape.rows, options.shape.columns}},
                                        {"dtype", io::name(options.dtype)},
                                        {"order", order},
                                        {"seed", options.seed},
                                        {"bytes", bytes},
                                        {"seconds", seconds}};
    print_result(json_line(report));
  } else if (!options.report.quiet) {
    print_result(fmt::format("{}: {}, {}, {} order, seed {}: {} in {}\n", options.output,
                             layout::to_string(options.shape), io::name(options.dtype), order, options.seed,
                             bytes_text(bytes), seconds_text(seconds)));
  }
}

}  // namespace

void run_generate(mpi::Context& context, const GenerateOptions& options) {
  const auto layout = io::slab_layout(options.shape, options.order, context.size());
  const Index element_bytes = io::bytes(options.dtype);
  const Index bytes = layout::elements(options.shape) * element_bytes;
  const MemoryEstimate memory = estimate_memory(context, {layout.elements_of(context.rank()) * element_bytes});
  if (context.rank() == 0 && !memory.warning.empty()) print_warning(memory.warning);

  const Stopwatch watch;
  Meter meter(context, options.report.meter());
  meter.stage("generating " + options.output, 0, bytes);
  io::with_dtype(options.dtype, [&]<class T>() { generate_into<T>(context, options, layout, meter); });
  meter.finish();
  if (context.rank() == 0) print_summary(context, options, bytes, watch.seconds());
}

}  // namespace plait::cli
