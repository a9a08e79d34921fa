
#include "plait/purify/eigenstates.hpp"
#include "plait/purify/points.hpp"

#include "cli/purify/purify_run.hpp"

namespace plait::cli {

namespace {

// In kelvin, over Boltzmann's constant: CODATA 2018.
constexpr double kelvin_in_electronvolt = 11604.518121550082;
constexpr double kelvin_in_hartree = 315775.02480407;

constexpr io::Dimensions one_or_several{2, 3};

double parse_energy(std::string_view text) { return Scalar(text).as<double>(); }
double parse_positive_energy(std::string_view text) {
  const double value = parse_energy(text);
  if (!(value > 0)) throw ArgumentError(fmt::format("is {}, expected a positive number", text));
  return value;
}

/// The density matrix of a Hamiltonian, or of several that share their electrons.
class Purify : public Job {
 public:
  void options(Options& options) override {
    using purify::Method;
    options.describe(
        "Compute the density matrix of a Hamiltonian by purification, or from its eigenstates",
        R"(H and S are symmetric (complex: Hermitian). D is the projector onto the lowest states: D = D S D, and tr(D S) is their
number. With two electrons in each state the energy is 2 tr(D H). Energies have the units of H.

Methods: canonical (Palser, Manolopoulos), mcweeny (for a known chemical potential), tc2, trs4, hpcp, which iterate, and
eigen, which finds all eigenstates by LAPACK or ScaLAPACK. auto takes eigen for --smearing and --eigenvalues, mcweeny where
--chemical-potential is given, and otherwise what takes least by the model of the machine (--machine) for a gap of 3e-4
of the spectrum: canonical, tc2, or eigen for 100 states and more, as long as nothing is said of iterations.

Several Hamiltonians, of k-points or both spins, share the electrons and one chemical potential: IN is an array of points x
n x n, or --points names more files. Each has ranks of its own, or with fewer ranks its turn. D is such an array then.

Without a gap there is no D: --smearing occupies the states around the chemical potential in part.

A stopped job goes on from its last checkpoint when the same command runs again with --resume; on as many ranks, with
the same bits.

Example: the 60 pi electrons of a fullerene on 4 ranks
  mpirun -n 4 plait purify C60.npy --electrons 60 -o D.npy --report D.html)");
    options
        .reads("IN", task_.input, fmt::format("H: {}; FILE.h5:/path/in/it names one of several matrices", matrix_file),
               one_or_several)
        ->required();
    add_value(options, "--electrons", task_.electrons, parse_not_negative, "NUMBER",
              "Electrons in the lowest states; a whole number but with --smearing")
        ->required();
    per_state_ = add_choice(options, "--per-state", task_.per_state, {{"1", 1}, {"2", 2}}, "1|2",
                            "Electrons in each occupied state: {}; 1 with --spins 2");
    options.writes("-o,--output", task_.output, kind::matrix, "D: a .npy or HDF5 file; may be the file of --start",
                   {"--start"});
    options.writes(
        "--energy-weighted", task_.energy_weighted, kind::matrix,
        "The energy-weighted density D H D, with --smearing the sum of f e c c^H over eigenstates: a .npy or "
        "HDF5 file");
    add_choice(options, "--symmetric", task_.symmetric,
               {{"lower", purify::Triangle::lower}, {"upper", purify::Triangle::upper}}, "lower|upper",
               "The files hold this triangle of each matrix, {}; the other one is ignored");
    add_value(
        options, "--points", task_.more_inputs, [](const std::string& text) { return parse_list(text, parse_input); },
        "FILE,FILE", "H of more points, all with as many states as IN");
    add_value(
        options, "--point-weights", task_.weights,
        [](const std::string& text) { return parse_list(text, parse_positive_energy); }, "NUMBER,NUMBER",
        "What each k-point counts, in any unit; all alike by default");
    add_choice(options, "--spins", task_.spins, {{"1", 1}, {"2", 2}}, "1|2",
               "{}; with 2 the first half of all points is of one spin, the other half of the other one");
    options.reads("--overlap", task_.overlap, "S: the overlap of the basis, if it is not orthonormal", one_or_several);
    options.reads("--inverse-root", task_.inverse_root, "S^(-1/2), if it is known");
    add_choice(options, "--method", task_.way,
               {{"auto", {}},
                {"canonical", {false, Method::canonical}},
                {"mcweeny", {false, Method::mcweeny}},
                {"tc2", {false, Method::tc2}},
                {"trs4", {false, Method::trs4}},
                {"hpcp", {false, Method::hpcp}},
                {"eigen", {true, std::nullopt}}},
               "METHOD", "Algorithm: {}");
    options.writes("--eigenvalues", task_.eigenvalues, kind::npy, "All eigenvalues, increasing: a .npy file");
    add_choice(options, "--smearing", task_.smearing,
               named({purify::Smearing::none, purify::Smearing::fermi_dirac, purify::Smearing::gaussian,
                      purify::Smearing::methfessel_paxton}),
               "KIND", "How occupations fall from 1 to 0: {}");
    add_value(options, "--width", width_, parse_positive_energy, "ENERGY", "That of the smearing, in the units of H");
    add_value(options, "--temperature", temperature_, parse_positive_energy, "KELVIN",
              "The same for fermi-dirac, with --energy-unit");
    add_choice(options, "--energy-unit", energy_unit_,
               {{"hartree", kelvin_in_hartree}, {"rydberg", kelvin_in_hartree / 2}, {"eV", kelvin_in_electronvolt}},
               "UNIT", "That of H: {}");
    options.reads("--start", task_.start,
                  "D of a Hamiltonian near H, such as of the step before: for purifications; saves iterations "
                  "of tc2, which auto takes then unless it takes eigen");
    add_value(options, "--chemical-potential", task_.chemical_potential, parse_energy, "ENERGY",
              "An energy between the occupied and the empty states, for mcweeny; in the units of H");
    of_iterations_ = {
        add_choice(options, "--precision", task_.is_mixed, {{"double", false}, {"mixed", true}}, "PRECISION",
                   "{}; mixed makes early steps in single precision: D is right to some 1e-6 only, the "
                   "energy as in double"),
        add_choice(options, "--bounds", task_.bounds,
                   {{"lanczos", purify::Bounds::lanczos}, {"gershgorin", purify::Bounds::gershgorin}}, "METHOD",
                   "How to bound the spectrum: {}; lanczos is narrower"),
        add_value(options, "--max-iterations", task_.most_iterations, parse_positive_count, "COUNT",
                  "After so many the job fails, as if there were no gap; 300 by default")
            ->group(group::iteration)};
    options.host({.checkpoint_every = 10,
                  .page = "the convergence, occupations, the density matrix and the timeline",
                  .trace = true,
                  .reports_overlap = true});
  }

  void check() override {
    for (const auto* option : of_iterations_) {
      if (option->count() > 0) of_iterations_given_.push_back(option->get_name());
    }
    for (const InputFile& file : task_.more_inputs) files.reads.push_back({"--points", &file.path});
    if (task_.spins == 2) {
      if (per_state_->count() > 0 && task_.per_state == 2)
        throw UsageError("--per-state is 2, but --spins is 2, so that each state has one electron; expected 1");
      task_.per_state = 1;
    }
    if (task_.way.method == purify::Method::mcweeny && !task_.chemical_potential) {
      throw UsageError("--method is mcweeny, but --chemical-potential is missing, which it begins with");
    }
    if (task_.chemical_potential && task_.way.method && task_.way.method != purify::Method::mcweeny) {
      throw UsageError("--chemical-potential is given, but --method {} finds it by itself; expected mcweeny",
                       name(*task_.way.method));
    }
    if (task_.start &&
        (task_.chemical_potential || task_.way.method.value_or(purify::Method::tc2) != purify::Method::tc2)) {
      throw UsageError("--start is given, but {}; expected tc2 or auto, as no other method gains by it",
                       task_.chemical_potential ? "--chemical-potential takes mcweeny"
                                                : fmt::format("--method is {}", name(*task_.way.method)));
    }
    if (task_.inverse_root && !task_.overlap) {
      throw UsageError("--inverse-root is given, but --overlap is missing, which it is checked against");
    }
    check_smearing();
    check_eigenstates(task_.smearing != purify::Smearing::none ? "--smearing"
                      : !task_.eigenvalues.empty()             ? "--eigenvalues"
                      : !task_.more_inputs.empty()             ? "--points"
                                                               : "");
  }

  std::vector<Index> prepare(Work& work) override {
    mpi::Context& context = work.context;
    for (InputFile& file : task_.more_inputs) file.describe(context, one_or_several);
    mpi::agreed(context, [&] { look_at_headers(); });
    const double electrons = *task_.electrons;
    if (!task_.is_smeared() && electrons != std::floor(electrons)) {
      throw UsageError("--electrons is {}, expected a whole number, or --smearing, by which states are filled in part",
                       electrons);
    }
    try {  // on all ranks alike
      if (!may_be_partial()) {
        task_.occupied = purify::occupied_states(static_cast<Index>(electrons), task_.per_state, task_.room());
      }
    } catch (const ArgumentError& error) {
      throw UsageError("--{}; --per-state 1 if only one is in each, --smearing if some states are filled in part",
                       error.what());
    }
    task_.squares = purify::choose_squares(context.size());
    task_.by_eigenstates = task_.has_points() || task_.way.by_eigenstates || task_.smearing != purify::Smearing::none ||
                           !task_.eigenvalues.empty();
    if (task_.way.method) {
      task_.method = *task_.way.method;
    } else if (task_.chemical_potential) {
      task_.method = purify::Method::mcweeny;
    } else if (!task_.by_eigenstates) {
      choose(context);
    }
    if (task_.by_eigenstates && !task_.has_points()) mpi::agreed(context, [&] { expect_eigenstates(work); });
    return {};  // how much memory is needed is known once the products are planned
  }

  [[nodiscard]] std::vector<ErrorWord> error_words() const override {
    return {{"h", task_.input.path},        {"chemical_potential", "--chemical-potential"},
            {"overlap", "--overlap"},       {"d", "--start"},
            {"weights", "--point-weights"}, {"spins", "--spins"},
            {": overlap: ", "--overlap"}};  // of one of several points
  }

  void run(Work& work) override {
    outcome_ = run_purification(work, task_);
    if (outcome_.left_after > 0) task_.by_eigenstates = true;
  }

  void report(Report& report, Work& work) override {
    report.fact("input", task_.input);
    if (!task_.more_inputs.empty()) {
      std::vector<std::string> paths;
      for (const InputFile& file : task_.more_inputs) paths.push_back(file.path);
      report.fact("more_inputs", paths);
    }
    report.fact_or_null("overlap", task_.overlap.path);
    report.fact_or_null("start", task_.start.path);
    report.fact("output", output_json(task_.output));
    report.fact_or_null("energy_weighted", task_.energy_weighted);
    report.fact_or_null("eigenvalues", task_.eigenvalues);
    report.fact("occupied", task_.is_smeared() || task_.has_points() ? nlohmann::ordered_json(task_.filled)
                                                                     : nlohmann::ordered_json(task_.occupied));
    const double electrons = *task_.electrons;
    report.fact("electrons", electrons == std::floor(electrons) ? nlohmann::ordered_json(static_cast<Index>(electrons))
                                                                : nlohmann::ordered_json(electrons));
    report.fact("states", task_.states);
    report.head("{}: {} electrons in {}, method {}", task_.input.path, *task_.electrons, task_.states_text(),
                report.fact("method", task_.method_name()));
    report_purification(report, work, task_, outcome_);
  }

  void draw(Report& report, Work& work) override { draw_purification(report, work, task_, outcome_); }

 private:
  void check_smearing() const {
    const bool is_smeared = task_.smearing != purify::Smearing::none;
    if (!is_smeared && (width_ || temperature_)) {
      throw UsageError("--{} is given, but --smearing is missing, which it is of", width_ ? "width" : "temperature");
    }
    if (is_smeared && width_.has_value() == temperature_.has_value()) {
      throw UsageError("--smearing is {}, but {}", name(task_.smearing),
                       width_ ? "both --width and --temperature are given, expected one of them"
                              : "--width (or --temperature) is missing");
    }
    if (temperature_ && task_.smearing != purify::Smearing::fermi_dirac) {
      throw UsageError("--temperature is given, but --smearing is {}, which has none; expected --width",
                       name(task_.smearing));
    }
    if (temperature_.has_value() != (energy_unit_ != 0)) {
      throw UsageError(temperature_ ? "--temperature is given, but --energy-unit is missing: that of H"
                                    : "--energy-unit is given, but --temperature is missing, which it converts");
    }
  }

  /// \param needed  what only they can do, "" if nothing
  void check_eigenstates(const std::string& needed) const {
    if (!needed.empty() && task_.way.method) {
      throw UsageError("{} takes eigenstates, but --method is {}; expected eigen or auto", needed,
                       name(*task_.way.method));
    }
    if (needed.empty() && !task_.way.by_eigenstates) return;
    const std::string cause = task_.way.by_eigenstates ? "--method is eigen" : needed + " takes eigenstates";
    const auto refuse = [&](const char* option, const char* why) {
      throw UsageError("{} is given, but {}, and {}", option, cause, why);
    };
    if (task_.chemical_potential) refuse("--chemical-potential", "it is found from the number of electrons");
    if (task_.start) refuse("--start", "there are no iterations");
    if (task_.inverse_root) refuse("--inverse-root", "they take Cholesky's factor of S instead");
    if (!settings.checkpoint.empty()) refuse("--checkpoint", "there are no iterations to go on from");
    for (const std::string& option : of_iterations_given_) refuse(option.c_str(), "there are no iterations");
  }

  void look_at_headers() {
    const auto last_two = [](const io::MatrixFile& file) {
      const auto& [first, second, third] = file.extents.values;
      return file.extents.dimensions == 3 ? layout::Shape{second, third} : file.shape;
    };
    task_.states = last_two(task_.input).rows;
    const layout::Shape square{task_.states, task_.states};
    const auto look_at = [&](const InputFile& file, const std::string& name, const std::string& why) {
      task_.is_complex = task_.is_complex || io::is_complex(file.dtype);
      if (matrices_in(file) == 0) {
        throw ShapeMismatch(fmt::format("{} is 0 x {}, expected {} or an array of such matrices, at least one", name,
                                        layout::to_string(last_two(file)), layout::to_string(square)));
      }
      if (last_two(file) == square) return;
      throw ShapeMismatch(fmt::format("{} is {}, expected {}, {}", name, layout::to_string(last_two(file)),
                                      layout::to_string(square), why));
    };
    const std::string as_input = fmt::format("as {} is", task_.input.path);
    look_at(task_.input, task_.input.path, "as a Hamiltonian is square");
    for (const InputFile& file : task_.more_inputs) look_at(file, files.called(file.path), as_input);
    if (task_.has_points()) look_at_points();
    if (!task_.has_points() && (task_.spins == 2 || !task_.weights.empty())) {
      throw ArgumentError(fmt::format("{} is given, but {} is one Hamiltonian, expected several",
                                      task_.spins == 2 ? "--spins 2" : "--point-weights", task_.input.path));
    }
    if (!task_.has_points() && task_.overlap.extents.dimensions == 3)
      throw ShapeMismatch(
          fmt::format("--overlap {} has several matrices, but {} has one", task_.overlap.path, task_.input.path));
    if (task_.start) look_at(task_.start, files.called(task_.start.path), as_input);
    if (task_.overlap) look_at(task_.overlap, files.called(task_.overlap.path), as_input);
    if (task_.inverse_root) look_at(task_.inverse_root, files.called(task_.inverse_root.path), as_input);
    const double electrons = *task_.electrons;
    task_.filled = electrons / task_.per_state;
    task_.width = width_ ? *width_ : temperature_ ? *temperature_ / energy_unit_ : 0;
    try {
      task_.occupied = purify::partly_occupied_states(electrons, task_.per_state, task_.room());
    } catch (const ArgumentError& error) {
      throw ArgumentError(fmt::format("--{}", error.what()));
    }
  }

  /// Whether a state may have a part of its electrons.
  [[nodiscard]] bool may_be_partial() const { return task_.smearing != purify::Smearing::none || task_.has_points(); }

  /// What several Hamiltonians have to fulfil; completes their weights.
  void look_at_points() {
    if (task_.more_inputs.empty()) check_eigenstates(task_.input.path + ", which has several matrices,");
    const Index points = task_.points();
    task_.weights = purify::weights_of_points(task_.weights, points, task_.spins);
    if (task_.overlap.extents.dimensions == 3 && matrices_in(task_.overlap) != points) {
      throw ShapeMismatch(
          fmt::format("--overlap {} has {} matrices, expected {}, one for each Hamiltonian, or one for all",
                      task_.overlap.path, matrices_in(task_.overlap), points));
    }
  }

  /// What `auto` takes: the cheapest, but no eigenstates where something was said of iterations.
  void choose(mpi::Context& context) {
    const bool has_checkpoint = !settings.checkpoint.empty();
    task_.prospect = {.states = task_.states,
                      .occupied = task_.occupied,
                      .dtype = task_.is_complex ? DType::c128 : DType::f64,
                      .knows_frontier = task_.start || task_.is_mixed,
                      .vectors = task_.start ? 300. : 0.,
                      .iterates = task_.inverse_root || has_checkpoint || !of_iterations_given_.empty()};
    // A checkpoint is of one method, whatever ranks and machine go on from it.
    const auto ways = [&] { return purify::ways(model::default_machine(), {}, task_.prospect); };
    task_.ways = has_checkpoint ? mpi::agreed(context, ways) : purify::possible_ways(context, task_.prospect);
    const purify::Way& cheapest = task_.ways.front();
    task_.by_eigenstates = !cheapest.method;
    if (cheapest.method) task_.method = *cheapest.method;
    if (has_checkpoint) task_.ways.clear();
  }

  /// Before hours pass: whether they can be found at all.
  void expect_eigenstates(const Work& work) const {
    const auto expect = [&]<class T>() {
      const auto layout = purify::eigenstates_layout(task_.states, work.context);
      purify::expect_eigensolver(layout);
      purify::expect_countable<T>(layout);
    };
    try {
      task_.is_complex ? expect.template operator()<std::complex<double>>() : expect.template operator()<double>();
    } catch (const ArgumentError&) {
      throw;
    } catch (const Error& error) {
      const char* const option = task_.way.by_eigenstates                   ? "--method eigen"
                                 : task_.smearing != purify::Smearing::none ? "--smearing"
                                                                            : "--eigenvalues";
      throw Error(error.kind(), fmt::format("{}: {}", option, error.what()));
    }
  }

  PurifyTask task_;
  std::optional<double> width_;             // in the units of H
  std::optional<double> temperature_;       // in kelvin
  double energy_unit_ = 0;                  // of H, in kelvin times Boltzmann's constant; 0: not given
  const CLI::Option* per_state_ = nullptr;  // this and the next until `check` has returned
  std::array<const CLI::Option*, 3> of_iterations_{};
  std::vector<std::string> of_iterations_given_;
  PurifyOutcome outcome_;
};

}  // namespace

PLAIT_JOB(purify, Purify)

}  // namespace plait::cli
