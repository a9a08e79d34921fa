#include "cli/purify/purify_run.hpp"

#include "plait/dense/arrangement/arrangement.hpp"
#include "plait/purify/eigenstates.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/products.hpp"

namespace plait::cli {

namespace {

using layout::Layout;
using purify::Matrix;

Index received_by_rank(const mpi::Context& context) {
  Index bytes = 0;
  for (const auto& [label, traffic] : context.counters()) {
    bytes += traffic.received_from(PeerClass::node).bytes + traffic.received_from(PeerClass::network).bytes;
  }
  return bytes;
}

template <class T>
class PurifyRun {
 public:
  PurifyRun(Work& work, const PurifyTask& task)
      : work_(work),
        context_(work.context),
        task_(task),
        slab_(io::slab_layout(task.input.shape, task.input.order, context_.size())) {
    if (task.by_eigenstates) return;  // which are found of matrices in any layout
    products_.emplace(context_, task.states, task.squares);
    if (task.is_mixed) early_.emplace(context_, task.states, task.squares);
  }

  PurifyOutcome all() {
    const Stopwatch watch;
    work_.expect_memory(mpi::agreed(context_, [&] { return memory_of_phases(); }));
    Matrix<T> h = read(task_.input);
    if (task_.overlap) s_.emplace(read(task_.overlap));
    std::optional<Matrix<T>> weighted;
    Matrix<T> d = task_.by_eigenstates ? occupied(h, s_ ? &*s_ : nullptr, &weighted) : purified(h, weighted, watch);
    expect_right();
    static_cast<void>(work_.trace());
    draw(d);
    const Stopwatch writing;
    work_.write_elements<double>(task_.eigenvalues, {2, {task_.states, 1}},
                                 [&](Index k, Index) { return outcome_.energies[at(k)]; });
    write(task_.energy_weighted, std::move(weighted));
    write(task_.output, std::move(d));
    outcome_.write_seconds = work_.highest(writing.seconds());
    if (checkpoints_) checkpoints_->remove();
    outcome_.products = products_ ? products_->describe() : "";
    return std::move(outcome_);
  }

 private:
  /// A purification that follows the states at the gap, and counts what this rank receives in steps.
  struct Stepper {
    PurifyRun& run;
    purify::Purification<T> purification;
    Index received = 0;

    [[nodiscard]] const purify::State& state() const { return purification.state(); }
    void save(iterate::Checkpoint& checkpoint) const { purification.save(checkpoint); }
    void resume(const iterate::Checkpoint& checkpoint) { purification.resume(checkpoint); }
    bool advance() {
      const Index before = received_by_rank(run.context_);
      const bool goes_on = purification.advance();
      if (goes_on) purification.follow_frontier();
      received += received_by_rank(run.context_) - before;
      return goes_on && !run.is_dearer_than_eigenstates(purification.state());
    }
  };

  /// The bytes that this rank needs at the same time in each phase.
  [[nodiscard]] std::vector<Index> memory_of_phases() const {
    const auto bytes = [&](const Layout& of) { return bytes_of_rank(of, context_.rank(), Index{sizeof(T)}); };
    const Index slab = bytes(slab_);
    const Index matrix = bytes(layout());
    const bool has_overlap{task_.overlap};
    const Layout grid = purify::eigenstates_layout(task_.states, context_);
    const auto solving = [&](bool with_overlap) {
      return purify::eigenstates_bytes<T>(grid, context_.rank(), with_overlap);
    };
    if (task_.by_eigenstates) {
      const Index own = solving(has_overlap);
      const Index results = task_.energy_weighted.empty() ? 1 : 2;
      return {2 * slab + 2 * matrix, (has_overlap ? 2 : 1) * matrix + own, (2 + results) * matrix + own,
              (results + 2) * matrix + slab};
    }
    const Index workspace = products_->workspace_bytes() + (early_ ? early_->workspace_bytes() : 0);
    const Index early = early_ ? (1 + purify::matrices_held(task_.method)) * matrix / 2 : 0;
    const Index start = task_.start ? 1 : 0;
    const Index kept = (has_overlap ? 2 : 0) + (!task_.energy_weighted.empty() && has_overlap ? 1 : 0);  // S, Z, H
    const Index instead = task_.seconds_of_eigenstates() ? 2 * matrix + solving(false) : 0;
    return {2 * slab + (kept + 1 + start) * matrix, (kept + (has_overlap ? 4 : 0)) * matrix + workspace,
            kept * matrix + instead + workspace,
            (kept + 1 + purify::matrices_held(task_.method)) * matrix + early + workspace +
                (work_.settings.checkpoint.empty() ? 0 : 2 * slab),
            (kept + 3) * matrix + slab + workspace};
  }

  /// Where matrices lie: as the products have it, or as the file.
  [[nodiscard]] const Layout& layout() const { return products_ ? products_->layout() : slab_; }

  /// The matrix in a file, Hermitian, in that layout.
  [[nodiscard]] Matrix<T> read(const InputFile& file) {
    const Stopwatch watch;
    auto result = hermitian(work_, task_, work_.read_as<T>(file), file.path);
    if (result.layout() != layout()) result = work_.moved(result, layout(), file.path);
    outcome_.read_seconds += work_.highest(watch.seconds());
    return result;
  }

  /// Whether to leave an iteration that `auto` chose for eigenstates, as its steps take longer than was estimated, or
  /// tell of a smaller gap than was assumed. The same on all ranks.
  [[nodiscard]] bool is_dearer_than_eigenstates(const purify::State& state) {
    constexpr Index least_steps = 3;  // whose time is one
    const auto seconds = task_.seconds_of_eigenstates();
    if (!seconds || state.step < least_steps) return false;
    const double left = purify::seconds_left(state, task_.prospect);
    if (!(left > *seconds)) return false;
    outcome_.left_after = state.step;
    outcome_.seconds_left = left;
    return true;
  }

  /// D by the eigenstates of h, its checks, and DHD where there is room for it.
  [[nodiscard]] Matrix<T> occupied(const Matrix<T>& h, const Matrix<T>* s, std::optional<Matrix<T>>* weighted) {
    const Stopwatch watch;
    work_.meter.stage("finding the eigenstates", 0, 0);
    std::optional<purify::Eigenstates<T>> states;
    states.emplace(context_, h, s);
    outcome_.energies = states->values();
    outcome_.filling = mpi::agreed(
        context_, [&] { return purify::fill(outcome_.energies, task_.filled, task_.smearing, task_.width); });
    outcome_.frontier = outcome_.filling.frontier;
    outcome_.chemical_potentials = outcome_.filling.chemical_potentials;
    outcome_.energy = task_.per_state * outcome_.filling.energy;
    outcome_.prepare_seconds = work_.highest(watch.seconds());
    const Stopwatch summing;
    work_.meter.stage("summing up the occupied states", 0, 0);
    const std::vector<double>& energies = outcome_.energies;
    std::vector<double> weights = outcome_.filling.occupations.of_states;
    auto d = purify::allocate<T>(context_, layout());
    states->weigh(weights, d);
    if (weighted != nullptr && !task_.energy_weighted.empty()) {
      for (std::size_t k = 0; k < weights.size(); ++k) weights[k] *= energies[k];
      weighted->emplace(purify::allocate<T>(context_, layout()));
      states->weigh(weights, **weighted);
    }
    states.reset();
    outcome_.purify_seconds = work_.highest(summing.seconds());

    work_.meter.stage("checking the density matrix", 0, 0);
    const Stopwatch checking;
    if (energies.empty()) return d;
    outcome_.state.problem.spectrum = {energies.front(), energies.back()};
    outcome_.errors = purify::density_errors(context_, energies, outcome_.filling, h, s, d);
    outcome_.check_seconds = work_.highest(checking.seconds());
    return d;
  }

  /// D by iteration, its checks, and DHD if it is asked for.
  [[nodiscard]] Matrix<T> purified(Matrix<T>& h, std::optional<Matrix<T>>& weighted, const Stopwatch& since_begin) {
    orthogonalise(h);
    auto d = iterated(h, since_begin);
    if (outcome_.left_after > 0) d.emplace(occupied(h, nullptr, nullptr));
    const Stopwatch checking;
    if (outcome_.left_after == 0) look_at(h, *d);
    weighted = back(h, *d);
    outcome_.check_seconds = work_.highest(checking.seconds());
    return *std::move(d);
  }

  /// h ← ZHZ, where there is an overlap.
  void orthogonalise(Matrix<T>& h) {
    if (!task_.overlap) return;
    if (!task_.energy_weighted.empty()) {
      h_given_.emplace(purify::allocate<T>(context_, layout()));
      purify::blend<T>(0, {{1, &h}}, *h_given_);
    }
    if (task_.inverse_root) {
      z_.emplace(read(task_.inverse_root));
      work_.meter.stage("checking " + task_.inverse_root.path, 0, 0);
      outcome_.root = purify::InverseRoot{0, purify::root_error(*products_, *s_, *z_)};
      constexpr double most_error = 1e-6;
      if (!(outcome_.root->error <= most_error)) {
        throw ArgumentError(
            fmt::format("--inverse-root: ||I - Z S Z|| is {:.3g} with Z of {} and S of {}, expected at "
                        "most {}",
                        outcome_.root->error, task_.inverse_root.path, task_.overlap.path, most_error));
      }
    } else {
      work_.meter.stage("finding S^(-1/2)", 0, 0);
      auto copy = purify::allocate<T>(context_, layout());
      purify::blend<T>(0, {{1, &*s_}}, copy);
      z_.emplace(purify::allocate<T>(context_, layout()));
      outcome_.root = purify::inverse_root(*products_, copy, *z_);
    }
    work_.meter.stage("orthonormalising the basis", 0, 0);
    purify::transform(*products_, *z_, h);
  }

  [[nodiscard]] Checkpoints::Identity identity() const {
    const auto mu = task_.chemical_potential;
    return {{task_.input.path, task_.overlap.path, task_.inverse_root.path},
            {{"method", name(task_.method)},
             {"occupied", task_.occupied},
             {"chemical potential", mu ? nlohmann::json(*mu) : nlohmann::json()},
             {"precision", task_.is_mixed ? "mixed" : "double"},
             {"complex", task_.is_complex}},
            Layout::rows(task_.input.shape, context_.size()).elements_of(context_.rank()) /
                std::max<Index>(task_.states, 1)};
  }

  [[nodiscard]] purify::Interval frontier_by_start(const Matrix<T>& h) {
    auto d = read(task_.start);
    work_.meter.stage("looking for the gap by " + task_.start.path, 0, 0);
    if (task_.overlap) {  // D is Z (S D S) Z in the orthonormal basis
      purify::transform(*products_, *s_, d);
      purify::transform(*products_, *z_, d);
    }
    return purify::frontier_near_density(context_, h, d, task_.occupied);
  }

  /// None, if eigenstates are to be found instead.
  [[nodiscard]] std::optional<Matrix<T>> iterated(const Matrix<T>& h, const Stopwatch& since_begin) {
    Checkpoints& checkpoints = checkpoints_.emplace(context_, work_.settings, task_.most_iterations, identity());
    work_.meter.stage("bounding the spectrum", 0, 0);
    purify::Problem problem{task_.method, task_.occupied, {}, task_.chemical_potential, task_.most_iterations};
    if (task_.states > 0) problem.spectrum = purify::spectrum_of(context_, h, task_.bounds);
    if (task_.start) problem.frontier_within = frontier_by_start(h);
    Stepper stepper{*this, purify::Purification<T>(*products_, h, problem, early_ ? &*early_ : nullptr)};
    purify::Purification<T>& purification = stepper.purification;
    outcome_.resumed_at = checkpoints.resumed_at();
    outcome_.other_ranks = checkpoints.is_of_other_ranks();
    outcome_.prepare_seconds = std::max(0.0, work_.highest(since_begin.seconds()) - outcome_.read_seconds);
    // Of the steps of this run alone: not of what prepares them, those before it was resumed, checkpoints and checks.
    const double product_seconds_before = products_->seconds();
    const Stopwatch watch;
    outcome_.loop_begin = steady_nanoseconds();
    work_.iterate(stepper, checkpoints, [&] {
      const auto& iterates = purification.state().iterates;
      const purify::Iterate& last = iterates.back();
      return fmt::format("iteration {}: ||X - X^2|| {:.2e}, trace {:+.2e}, energy {:.10g}", iterates.size(),
                         last.idempotency_error, last.trace - static_cast<double>(task_.occupied),
                         task_.per_state * last.energy);
    });
    outcome_.loop_end = steady_nanoseconds();
    outcome_.purify_seconds = work_.highest(watch.seconds());
    outcome_.multiplications = purification.multiplications();
    outcome_.early_multiplications = purification.early_multiplications();
    outcome_.received_bytes = work_.highest(stepper.received);
    const double products = static_cast<double>(outcome_.multiplications);
    const double in_double = products - static_cast<double>(outcome_.early_multiplications) / 2;  // of their bytes
    const double n = static_cast<double>(task_.states);
    outcome_.product_seconds =
        work_.highest(products_->seconds() - product_seconds_before + (early_ ? early_->seconds() : 0));
    outcome_.flops = products * (task_.is_complex ? 8 : 2) * n * n * n;
    outcome_.least_bytes = in_double * static_cast<double>(task_.element_bytes()) *
                           dense::least_elements_received({task_.states, task_.states, task_.states}, context_.size());
    outcome_.state.problem = purification.state().problem;
    if (outcome_.left_after > 0) return std::nullopt;
    outcome_.state = purification.state();
    outcome_.chemical_potentials = outcome_.state.chemical_potentials();
    if (task_.states > 0) {
      work_.meter.stage("finding the states at the gap", 0, 0);
      outcome_.frontier = purification.frontier();
      // Rounding may widen the interval by more than these are off.
      auto& [low, high] = outcome_.chemical_potentials;
      low = std::max(low, outcome_.frontier.highest_occupied);
      high = std::min(high, outcome_.frontier.lowest_empty);
    }
    return std::move(purification.density());
  }

  /// What is known of h and d in an orthonormal basis.
  void look_at(const Matrix<T>& h, const Matrix<T>& d) {
    work_.meter.stage("checking the density matrix", 0, 0);
    outcome_.energy = task_.per_state * outcome_.state.iterates.back().energy;
    outcome_.errors = purify::density_errors(context_, outcome_.state, h, d);
  }

  /// d ← ZDZ, where there is an overlap, and its checks there. Returns DHD, if it is asked for.
  [[nodiscard]] std::optional<Matrix<T>> back(Matrix<T>& h, Matrix<T>& d) {
    if (task_.overlap) {
      work_.meter.stage("transforming back to the basis of S", 0, 0);
      purify::bring_back(*products_, *z_, *s_, task_.occupied, d, outcome_.errors);
    }
    if (task_.energy_weighted.empty()) return std::nullopt;
    work_.meter.stage("weighting by energy", 0, 0);
    auto half = purify::allocate<T>(context_, layout());
    auto weighted = purify::allocate<T>(context_, layout());
    products_->multiply(d, task_.overlap ? *h_given_ : h, half);
    products_->multiply(half, d, weighted);
    return weighted;
  }

  void expect_right() const {
    const std::string complaint = outcome_.errors.complaint(task_.states, bool{task_.overlap});
    if (complaint.empty()) return;
    throw Error(ErrorKind::other,
                fmt::format("the check failed: the result is no density matrix ({}); it was not written", complaint));
  }

  void draw(const Matrix<T>& d) {
    if (work_.settings.page.empty() || task_.states == 0) return;
    outcome_.picture = picture_of(context_, d);
  }

  void write(const std::string& path, std::optional<Matrix<T>> matrix) {
    if (!path.empty()) work_.write_matrix(path, *std::move(matrix), task_.input.order);
  }

  Work& work_;
  mpi::Context& context_;
  const PurifyTask& task_;
  Layout slab_;
  std::optional<purify::DenseProducts<T>> products_;               // of iterations
  std::optional<purify::DenseProducts<purify::Single<T>>> early_;  // of --precision mixed
  std::optional<Matrix<T>> s_, z_, h_given_;
  std::optional<Checkpoints> checkpoints_;
  PurifyOutcome outcome_;
};

}  // namespace

PurifyOutcome run_purification(Work& work, const PurifyTask& task) {
  if (task.has_points()) return run_points(work, task);
  if (task.is_complex) return PurifyRun<std::complex<double>>(work, task).all();
  return PurifyRun<double>(work, task).all();
}

}  // namespace plait::cli
