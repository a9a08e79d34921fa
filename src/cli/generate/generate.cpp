#include "cli/generate/generate.hpp"

#include <cmath>
#include <complex>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/io/matrix_output.hpp"
#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/job/json_values.hpp"
#include "cli/job/memory_estimate.hpp"
#include "cli/options/machine_option.hpp"
#include "cli/output/json_line.hpp"
#include "cli/output/meter.hpp"
#include "cli/output/print.hpp"
#include "cli/output/quantities.hpp"

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
void fill_with_random(layout::DistributedMatrix<T>& slab, std::uint64_t seed) {
  const auto columns = static_cast<std::uint64_t>(slab.layout().shape().columns);
  slab.for_each_element([&](Index row, Index column, T& element) {
    element = random_element<T>(seed, static_cast<std::uint64_t>(row) * columns + static_cast<std::uint64_t>(column));
  });
}

// Line after line, which as the matrix is symmetric may be its rows or its columns.
template <class T>
void fill_with_hamiltonian(layout::DistributedMatrix<T>& slab, const Hamiltonian& hamiltonian) {
  if constexpr (!std::is_integral_v<T>) {
    using Real = decltype(std::abs(T{}));
    const HamiltonianRow row = hamiltonian.rows();
    std::vector<double> values(static_cast<std::size_t>(hamiltonian.size));
    const auto& tile = slab.tiles()[0];
    const Index first = io::elements_before(slab.layout(), slab.rank()) / hamiltonian.size;
    for (Index line = 0; line < tile.major_extent(); ++line) {
      row(first + line, values);
      T* to = tile.data() + line * tile.leading_dimension();
      for (const double value : values) *to++ = static_cast<Real>(value);
    }
  }
}

template <class T>
void generate_into(mpi::Context& context, const GenerateOptions& options, const layout::Layout& slab_layout,
                   Meter& meter) {
  auto slab = mpi::agreed(context, [&] { return io::make_slab<T>(options.output, slab_layout, context.rank()); });
  mpi::agreed(context, [&] {
    if (options.hamiltonian) {
      fill_with_hamiltonian(slab, *options.hamiltonian);
    } else {
      fill_with_random(slab, options.seed);
    }
  });
  meter.stage("writing " + options.output, slab_layout.elements_of(context.rank()) * Index{sizeof(T)},
              layout::elements(options.shape) * Index{sizeof(T)});
  io::write_matrix_file(context, options.output, slab, meter.progress());
}

nlohmann::ordered_json json_of(const Hamiltonian& hamiltonian) {
  return {{"description", hamiltonian.description},
          {"electrons", hamiltonian.electrons},
          {"gap", hamiltonian.gap ? nlohmann::ordered_json(*hamiltonian.gap) : nlohmann::ordered_json()}};
}

std::string text_of(const Hamiltonian& hamiltonian) {
  return fmt::format("  {}\n  electrons  {}, two in each of the levels below the gap{}\n  gap        {}\n",
                     hamiltonian.description, hamiltonian.electrons,
                     hamiltonian.electrons == hamiltonian.size ? ": half filling" : "",
                     hamiltonian.gap ? fmt::format("{:.9g}", *hamiltonian.gap) : std::string("not known"));
}

void print_summary(const mpi::Context& context, const GenerateOptions& options, Index bytes, double seconds) {
  if (options.report.json) {
    nlohmann::ordered_json report = job_json(context, "generate");
    report.update({{"output", output_json(options.output)},
                   {"shape", shape_json(options.shape)},
                   {"dtype", io::name(options.dtype)},
                   {"order", order_name(options.order)},
                   {"seed", options.seed},
                   {"bytes", bytes},
                   {"seconds", seconds}});
    if (options.hamiltonian) report["hamiltonian"] = json_of(*options.hamiltonian);
    print_result(json_line(report));
  } else if (!options.report.quiet) {
    print_result(fmt::format("{}: {}, {}, {} order{}: {} in {}\n{}", options.output, layout::to_string(options.shape),
                             io::name(options.dtype), order_name(options.order),
                             options.hamiltonian ? std::string() : fmt::format(", seed {}", options.seed),
                             bytes_text(bytes), seconds_text(seconds),
                             options.hamiltonian ? text_of(*options.hamiltonian) : std::string()));
  }
}

}  // namespace

void run_generate(mpi::Context& context, const GenerateOptions& options) {
  expect_writable_output(context, options.output, machine_file(options.machine));
  const auto layout = io::slab_layout(options.shape, options.order, context.size());
  const Index element_bytes = io::bytes(options.dtype);
  const Index own_bytes = mpi::agreed(context, [&] { return bytes_of_rank(layout, context.rank(), element_bytes); });
  const Index bytes = layout::elements(options.shape) * element_bytes;
  const MemoryEstimate memory = estimate_memory(context, {own_bytes});
  if (context.rank() == 0 && !memory.warning.empty()) print_warning(memory.warning);

  const Stopwatch watch;
  Meter meter(context, options.report.meter());
  meter.stage("generating " + options.output, 0, bytes);
  io::with_dtype(options.dtype, [&]<class T>() { generate_into<T>(context, options, layout, meter); });
  meter.finish();
  if (context.rank() == 0) print_summary(context, options, bytes, watch.seconds());
}

}  // namespace plait::cli
