#include "plait/base/random.hpp"

#include "cli/generate/hamiltonian.hpp"
#include "cli/host/job.hpp"

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
    std::vector<double> values(static_cast<std::size_t>(hamiltonian.size));
    const auto& tile = slab.tiles()[0];
    const Index first = io::elements_before(slab.layout(), slab.rank()) / hamiltonian.size;
    for (Index line = 0; line < tile.major_extent(); ++line) {
      std::ranges::fill(values, 0.0);
      hamiltonian.row(first + line, values);
      T* to = tile.data() + line * tile.leading_dimension();
      for (const double value : values) *to++ = static_cast<Real>(value);
    }
  }
}

/// A matrix of random numbers, of which element (i, j) is made from the random bits of counter i · columns + j, a
/// complex one from those of twice that and of the next; or a Hamiltonian.
class Generate : public Job {
 public:
  void options(Options& options) override {
    options.describe(
        "Make a matrix of random numbers, or a Hamiltonian with known levels",
        R"(Real numbers, and both parts of complex ones, are uniform in [0, 1); integers are uniform over all their values. The
matrix depends on shape, type and seed only: any number of ranks makes the same one, in C order and in Fortran order.

With 'hamiltonian' in place of the shape, the real symmetric matrix of a model whose levels are known:
  c60            Hückel's: -1 between neighbours; 60 sites
  fullerene      the same of C60 with rings of ten atoms put in or taken out: 40, 50, 60, 70 ... sites
  polyacetylene  a ring whose bonds are strong and weak in turn: 4, 6, 8 ... sites
  graphene       a torus of a x b cells of two sites, which differ by what opens the gap: 2ab sites, a and b from 2
  prescribed     levels from 0 to 1 with a gap above the lowest --filling of them, turned by random reflections

Example:
  plait generate 8000x8000 --dtype f64 -o B.npy
  plait generate hamiltonian --kind graphene --size 2000 --gap 0.5 -o H.h5)");
    const auto read_shape = [this](const std::string& text) {
      is_hamiltonian_ = text == "hamiltonian";
      if (!is_hamiltonian_) shape_ = parse_shape(text);
    };
    add_value(options, "SHAPE", read_shape, "ROWSxCOLUMNS", "ROWSxCOLUMNS, or the word hamiltonian")->required();
    options.writes("-o,--output", output_, kind::matrix, "A .npy file, or HDF5 as FILE.h5 or FILE.h5:/path/in/it")
        ->required();
    add_value(options, "--dtype", dtype_, io::parse_dtype, "TYPE",
              fmt::format("Type of the elements, one of {}; f64 by default", io::all_dtype_names()));
    add_value(options, "--seed", request_.seed, parse_seed, "NUMBER", "Another seed, another matrix; 0 by default");
    add_choice(options, "--order", order_, {{"C", StorageOrder::row_major}, {"F", StorageOrder::column_major}}, "C|F",
               "How the file holds the matrix: {}; by rows (C) or by columns (F)");
    constexpr const char* its_group = "Hamiltonian";
    std::vector<Choice<std::string_view>> kinds;
    for (const std::string_view kind : hamiltonian_kinds) kinds.push_back({kind, kind});
    add_choice(options, "--kind", request_.kind, kinds, "KIND", "Model, required: {}")->group(its_group);
    add_value(options, "--size", request_.size, parse_positive_count, "COUNT", "Sites, the number of rows")
        ->group(its_group);
    add_value(options, "--gap", request_.gap, parse_number, "ENERGY",
              "Gap above the occupied levels, of polyacetylene (0.56 by default), graphene or prescribed (0.1)")
        ->group(its_group);
    add_value(options, "--filling", request_.filling, parse_number, "NUMBER",
              "Share of the levels that is occupied, of prescribed; 0.5 by default")
        ->group(its_group);
    options.host({});
  }

  void check() override {
    if (is_hamiltonian_) {
      if (request_.kind.empty()) {
        throw UsageError("--kind is missing, expected {}",
                         either({hamiltonian_kinds.begin(), hamiltonian_kinds.end()}));
      }
      if (io::with_dtype(dtype_, []<class T>() { return std::is_integral_v<T>; })) {
        throw UsageError("--dtype: a Hamiltonian can't be {}, expected f32, f64, c64 or c128", io::name(dtype_));
      }
    }
    const char* alien = !request_.kind.empty() ? "--kind"
                        : request_.size        ? "--size"
                        : request_.gap         ? "--gap"
                        : request_.filling     ? "--filling"
                                               : nullptr;
    if (!is_hamiltonian_ && alien != nullptr) {
      throw UsageError("{} is given, but SHAPE is not hamiltonian", alien);
    }
    if (io::is_hdf5_name(output_) && order_ == StorageOrder::column_major) {
      throw UsageError("--order is F, but -o is an HDF5 file, which holds rows only");
    }
    if (!is_hamiltonian_) return;
    try {
      hamiltonian_ = make_hamiltonian(request_);
    } catch (const ArgumentError& error) {
      throw UsageError(error.what());
    }
    shape_ = {hamiltonian_->size, hamiltonian_->size};
  }

  std::vector<Index> prepare(Work& work) override {
    return mpi::agreed(work.context, [&] {
      return std::vector{bytes_of_rank(slabs(work.context), work.context.rank(), io::bytes(dtype_))};
    });
  }

  void run(Work& work) override {
    work.meter.stage("generating " + output_, 0, bytes());
    io::with_dtype(dtype_, [&]<class T>() {
      auto slab = mpi::agreed(work.context,
                              [&] { return io::make_slab<T>(output_, slabs(work.context), work.context.rank()); });
      mpi::agreed(work.context, [&] {
        if (hamiltonian_) {
          fill_with_hamiltonian(slab, *hamiltonian_);
        } else {
          fill_with_random(slab, seed());
        }
      });
      work.write_matrix(output_, slab);
    });
  }

  void report(Report& report, Work& work) override {
    const std::string seed_text = fmt::format(", seed {}", report.fact("seed", seed()));
    report.head("{}: {}, {}, {} order{}: {} in {}", report.fact("output.path", output_),
                layout::to_string(report.fact("shape", shape_)), report.fact("dtype", io::name(dtype_)),
                report.fact("order", order_name(order_)), hamiltonian_ ? "" : seed_text,
                bytes_text(report.fact("bytes", bytes())), seconds_text(report.fact("seconds", work.seconds)));
    if (!hamiltonian_) return;
    report.label(11);
    report.head("  " + report.fact("hamiltonian.description", hamiltonian_->description));
    const Index electrons = report.fact("hamiltonian.electrons", hamiltonian_->electrons);
    report.line("electrons", "{}, two in each of the levels below the gap{}", electrons,
                electrons == hamiltonian_->size ? ": half filling" : "");
    const auto gap = report.fact("hamiltonian.gap", hamiltonian_->gap);
    report.line("gap", gap ? fmt::format("{:.9g}", *gap) : "not known");
  }

 private:
  [[nodiscard]] std::uint64_t seed() const { return request_.seed.value_or(0); }
  [[nodiscard]] Index bytes() const { return layout::elements(shape_) * io::bytes(dtype_); }
  [[nodiscard]] layout::Layout slabs(const mpi::Context& context) const {
    return io::slab_layout(shape_, order_, context.size());
  }

  layout::Shape shape_;
  bool is_hamiltonian_ = false;  // of random numbers else
  HamiltonianRequest request_;
  std::optional<Hamiltonian> hamiltonian_;
  io::DType dtype_ = io::DType::f64;
  std::string output_;
  StorageOrder order_ = StorageOrder::row_major;
};

}  // namespace

PLAIT_JOB(generate, Generate)

}  // namespace plait::cli
