#include "cli/purify/purify_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/dense/product.hpp"
#include "plait/io/matrix_output.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/slab.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/purify/allocate.hpp"
#include "plait/purify/dense_products.hpp"
#include "plait/purify/eigenstates.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/hamiltonian.hpp"
#include "plait/redistribute/redistribution.hpp"
#include "plait/report/trace_json.hpp"

#include "cli/job/checkpoint_file.hpp"
#include "cli/job/link_rate.hpp"
#include "cli/job/stop.hpp"
#include "cli/options/option_words.hpp"
#include "cli/output/print.hpp"
#include "cli/output/text_aside.hpp"
#include "cli/purify/purify_checkpoint.hpp"

namespace plait::cli {

namespace {

using layout::Layout;
using purify::Matrix;

constexpr Index most_trace_bytes = Index{64} << 20;

double slowest(const mpi::Context& context, double seconds) {
  return mpi::all_reduce(context.comm(), seconds, mpi::Operation::maximum());
}

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
  PurifyRun(mpi::Context& context, const PurifyOptions& options, const PurifyTask& task, Meter& meter)
      : context_(context),
        options_(options),
        task_(task),
        meter_(meter),
        option_words_{{{"h", options.input}, {"chemical_potential", "--chemical-potential"}, {"overlap", "--overlap"}}},
        slab_(io::slab_layout(task.hamiltonian.shape, task.hamiltonian.order, context.size())),
        products_(context, task.states, task.squares),
        counted_(products_) {}

  PurifyOutcome all() {
    const Stopwatch watch;
    outcome_.memory = estimate_memory(context_, mpi::agreed(context_, [&] {
                                        return memory_of_phases(context_, options_, task_, products_.layout(),
                                                                products_.workspace_bytes());
                                      }));
    if (context_.rank() == 0 && !outcome_.memory.warning.empty()) print_warning(outcome_.memory.warning);
    std::optional<report::Tracing> tracing;
    tracing.emplace(context_,
                    options_.trace.empty() && options_.page.empty() ? most_trace_bytes : Timeline::default_bytes);
    Matrix<T> h = read(options_.input, task_.hamiltonian);
    if (task_.overlap) s_.emplace(read(options_.overlap, *task_.overlap));
    std::optional<Matrix<T>> weighted;
    Matrix<T> d = task_.by_eigenstates ? occupied(h, weighted) : purified(h, weighted, watch);
    expect_right();
    outcome_.trace = tracing->gather();
    tracing.reset();
    if (context_.rank() == 0) outcome_.overlap = report::overlap_of(outcome_.trace);
    write_trace();
    draw(d);
    const Stopwatch writing;
    write_eigenvalues();
    write(options_.energy_weighted, std::move(weighted));
    write(options_.output, std::move(d));
    outcome_.write_seconds = slowest(context_, writing.seconds());
    if (!options_.checkpoint.empty()) remove_checkpoint(context_, options_.checkpoint);
    meter_.finish();
    outcome_.products = task_.by_eigenstates ? "" : products_.describe();
    outcome_.seconds = slowest(context_, watch.seconds());
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] Matrix<T> moved(const Matrix<T>& from, const Layout& to) {
    auto result = purify::allocate<T>(context_, to);
    redistribute::Redistribution(context_, from.layout(), to).execute(from, result);
    return result;
  }

  template <class File>
  [[nodiscard]] static T converted(const File& element) {
    if constexpr (std::is_arithmetic_v<File>) {
      return static_cast<double>(element);
    } else if constexpr (std::is_same_v<T, double>) {
      contract_violated("is_complex", "the task knows whether a matrix is complex", __FILE__, __LINE__);
    } else {
      return {static_cast<double>(element.real()), static_cast<double>(element.imag())};
    }
  }

  template <class File>
  [[nodiscard]] Matrix<T> read_as(const std::string& path, const io::MatrixFile& file) {
    auto raw = io::read_matrix_file<File>(context_, path, file, meter_.progress());
    if constexpr (std::is_same_v<File, T>) {
      return raw;
    } else {
      auto result = purify::allocate<T>(context_, raw.layout());
      for (std::size_t t = 0; t < raw.tiles().size(); ++t) {
        const auto& from = raw.const_tiles()[t];
        const auto& to = result.tiles()[t];
        for (Index i = 0; i < from.span(); ++i) {
          to.data()[i] = converted<File>(from.data()[i]);
        }
      }
      return result;
    }
  }

  /// The matrix in a file, Hermitian, in the layout of the products.
  [[nodiscard]] Matrix<T> read(const std::string& path, const io::MatrixFile& file) {
    const Stopwatch watch;
    meter_.stage("reading " + path, slab_.elements_of(context_.rank()) * io::bytes(file.dtype),
                 task_.states * task_.states * io::bytes(file.dtype));
    auto slab = io::with_dtype(file.dtype, [&]<class File>() { return read_as<File>(path, file); });
    try {
      if (options_.symmetric) purify::fill_from_triangle(context_, slab, *options_.symmetric, path);
    } catch (const purify::OneTriangle& error) {
      throw ArgumentError(fmt::format("{}; expected --symmetric {}", error.what(), name(error.triangle())));
    }
    purify::expect_finite(context_, slab, path);
    try {
      purify::make_hermitian(context_, slab, path);
    } catch (const purify::OneTriangle& error) {
      throw ArgumentError(
          fmt::format("{}; --symmetric {} takes them for both triangles", error.what(), name(error.triangle())));
    }
    if (!options_.checkpoint.empty()) checksums_.push_back(checksum_of_input(context_, path));
    auto result = moved(slab, products_.layout());
    outcome_.read_seconds += slowest(context_, watch.seconds());
    return result;
  }

  /// D by the eigenstates of h, its checks, and DHD if it is asked for.
  [[nodiscard]] Matrix<T> occupied(const Matrix<T>& h, std::optional<Matrix<T>>& weighted) {
    const Stopwatch watch;
    meter_.stage("finding the eigenstates", 0, 0);
    std::optional<purify::Eigenstates<T>> states;
    const auto* const s = s_ ? &*s_ : nullptr;
    try {
      states.emplace(context_, h, s);
      outcome_.energies = states->values();
      outcome_.occupations = mpi::agreed(context_, [&] { return occupations(outcome_.energies); });
    } catch (const ArgumentError& error) {
      throw ArgumentError(in_option_words(error.what(), option_words_));
    }
    outcome_.prepare_seconds = slowest(context_, watch.seconds());
    const Stopwatch summing;
    meter_.stage("summing up the occupied states", 0, 0);
    const std::vector<double>& energies = outcome_.energies;
    std::vector<double> weights = outcome_.occupations.of_states;
    auto d = purify::allocate<T>(context_, products_.layout());
    states->weigh(weights, d);
    double energy = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) energy += weights[k] *= energies[k];
    if (!options_.energy_weighted.empty()) {
      weighted.emplace(purify::allocate<T>(context_, products_.layout()));
      states->weigh(weights, *weighted);
    }
    states.reset();
    outcome_.purify_seconds = slowest(context_, summing.seconds());

    meter_.stage("checking the density matrix", 0, 0);
    const Stopwatch checking;
    outcome_.energy = options_.per_state * energy;
    if (energies.empty()) return d;
    outcome_.state.problem.spectrum = {energies.front(), energies.back()};
    const double width = std::max(energies.back() - energies.front(), std::abs(energies.back()));
    errors_.norm = std::max(1.0, std::sqrt(purify::inner_product(context_, d, d)));
    errors_.trace = (s == nullptr ? purify::trace(context_, d) : purify::inner_product(context_, d, *s)) - task_.filled;
    if (width > 0) {
      errors_.commutator = purify::commutator_error(context_, h, d, s) / (width * errors_.norm);
      errors_.energy = std::abs(purify::inner_product(context_, d, h) - energy) / width;
    }
    if (options_.smearing == purify::Smearing::none) {
      errors_.idempotency = purify::sampled_idempotency_error(context_, d, s);
    }
    outcome_.check_seconds = slowest(context_, checking.seconds());
    return d;
  }

  /// Occupations of eigenstates, and what they tell of the states at the gap.
  [[nodiscard]] purify::Occupations occupations(const std::vector<double>& energies) {
    auto result = purify::occupy(energies, task_.filled, options_.smearing, task_.width);
    const double mu = result.chemical_potential;
    outcome_.chemical_potentials = {mu, mu};
    if (options_.smearing != purify::Smearing::none || task_.occupied == 0 || task_.occupied == task_.states) {
      return result;
    }
    const auto empty = static_cast<std::size_t>(task_.occupied);
    outcome_.frontier = {energies[empty - 1], 0, energies[empty], 0};
    outcome_.chemical_potentials = {energies[empty - 1], energies[empty]};
    constexpr double resolution = 1e-12;  // of the spectrum
    if (!(energies[empty] - energies[empty - 1] > resolution * (energies.back() - energies.front()))) {
      throw purify::NoGap(
          fmt::format("no gap for {} occupied states of {}: states {} and {} have the energies {:.12g} "
                      "and {:.12g}; --smearing occupies both in part",
                      task_.occupied, task_.states, empty, empty + 1, energies[empty - 1], energies[empty]),
          outcome_.chemical_potentials);
    }
    return result;
  }

  /// D by iteration, its checks, and DHD if it is asked for.
  [[nodiscard]] Matrix<T> purified(Matrix<T>& h, std::optional<Matrix<T>>& weighted, const Stopwatch& since_begin) {
    orthogonalise(h);
    auto d = iterated(h, since_begin);
    const Stopwatch checking;
    look_at(h, d);
    weighted = back(h, d);
    outcome_.check_seconds = slowest(context_, checking.seconds());
    return d;
  }

  /// h ← ZHZ, where there is an overlap.
  void orthogonalise(Matrix<T>& h) {
    if (!task_.overlap) return;
    if (!options_.energy_weighted.empty()) {
      h_given_.emplace(purify::allocate<T>(context_, products_.layout()));
      purify::blend<T>(0, {{1, &h}}, *h_given_);
    }
    if (task_.inverse_root) {
      z_.emplace(read(options_.inverse_root, *task_.inverse_root));
      meter_.stage("checking " + options_.inverse_root, 0, 0);
      outcome_.root = purify::InverseRoot{0, purify::root_error(counted_, *s_, *z_)};
      constexpr double most_error = 1e-6;
      if (!(outcome_.root->error <= most_error)) {
        throw ArgumentError(
            fmt::format("--inverse-root: ||I - Z S Z|| is {:.3g} with Z of {} and S of {}, expected at "
                        "most {}",
                        outcome_.root->error, options_.inverse_root, options_.overlap, most_error));
      }
    } else {
      meter_.stage("finding S^(-1/2)", 0, 0);
      auto copy = purify::allocate<T>(context_, products_.layout());
      purify::blend<T>(0, {{1, &*s_}}, copy);
      z_.emplace(purify::allocate<T>(context_, products_.layout()));
      try {
        outcome_.root = purify::inverse_root(counted_, copy, *z_);
      } catch (const ArgumentError& error) {
        throw ArgumentError(in_option_words(error.what(), option_words_));
      }
    }
    meter_.stage("orthonormalising the basis", 0, 0);
    purify::transform(counted_, *z_, h);
  }

  [[nodiscard]] purify::Purification<T> begun(const Matrix<T>& h) {
    if (options_.resume) {
      if (auto checkpoint = read_checkpoint(context_, options_.checkpoint)) return resumed(h, std::move(*checkpoint));
    }
    // An old checkpoint must not come to name a new iterate.
    if (!options_.checkpoint.empty()) remove_checkpoint(context_, options_.checkpoint);
    meter_.stage("bounding the spectrum", 0, 0);
    purify::Problem problem{task_.method, task_.occupied, {}, options_.chemical_potential, options_.most_iterations};
    if (options_.symmetric) {
      try {
        purify::expect_triangle(context_, slab, *options_.symmetric, path);
      } catch (const purify::OneTriangle& error) {
        throw ArgumentError(fmt::format("{}; expected --symmetric {}", error.what(), name(error.triangle())));
      }
      purify::fill_from_triangle(context_, slab, *options_.symmetric);
    }
    purify::expect_finite(context_, slab, path);
    try {
      purify::make_hermitian(context_, slab, path);
    } catch (const purify::OneTriangle& error) {
      throw ArgumentError(
          fmt::format("{}; --symmetric {} takes them for both triangles", error.what(), name(error.triangle())));
    }
    if (!options_.checkpoint.empty()) checksums_.push_back(checksum_of_input(context_, path));
    auto result = moved(slab, products_.layout());
    outcome_.read_seconds += slowest(context_, watch.seconds());
    return result;
  }

  /// D by the eigenstates of h, its checks, and DHD if it is asked for.
  [[nodiscard]] Matrix<T> occupied(const Matrix<T>& h, std::optional<Matrix<T>>& weighted) {
    const Stopwatch watch;
    meter_.stage("finding the eigenstates", 0, 0);
    std::optional<purify::Eigenstates<T>> states;
    const auto* const s = s_ ? &*s_ : nullptr;
    try {
      states.emplace(context_, h, s);
      outcome_.energies = states->values();
      outcome_.occupations = mpi::agreed(context_, [&] { return occupations(outcome_.energies); });
    } catch (const ArgumentError& error) {
      throw ArgumentError(in_option_words(error.what(), option_words_));
    }
    outcome_.prepare_seconds = slowest(context_, watch.seconds());
    const Stopwatch summing;
    meter_.stage("summing up the occupied states", 0, 0);
    const std::vector<double>& energies = outcome_.energies;
    std::vector<double> weights = outcome_.occupations.of_states;
    auto d = purify::allocate<T>(context_, products_.layout());
    states->weigh(weights, d);
    double energy = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) energy += weights[k] *= energies[k];
    if (!options_.energy_weighted.empty()) {
      weighted.emplace(purify::allocate<T>(context_, products_.layout()));
      states->weigh(weights, *weighted);
    }
    states.reset();
    outcome_.purify_seconds = slowest(context_, summing.seconds());

    meter_.stage("checking the density matrix", 0, 0);
    const Stopwatch checking;
    outcome_.energy = options_.per_state * energy;
    if (energies.empty()) return d;
    outcome_.state.problem.spectrum = {energies.front(), energies.back()};
    const double width = std::max(energies.back() - energies.front(), std::abs(energies.back()));
    errors_.norm = std::max(1.0, std::sqrt(purify::inner_product(context_, d, d)));
    errors_.trace = (s == nullptr ? purify::trace(context_, d) : purify::inner_product(context_, d, *s)) - task_.filled;
    if (width > 0) {
      errors_.commutator = purify::commutator_error(context_, h, d, s) / (width * errors_.norm);
      errors_.energy = std::abs(purify::inner_product(context_, d, h) - energy) / width;
    }
    if (options_.smearing == purify::Smearing::none) {
      errors_.idempotency = purify::sampled_idempotency_error(context_, d, s);
    }
    outcome_.check_seconds = slowest(context_, checking.seconds());
    return d;
  }

  /// Occupations of eigenstates, and what they tell of the states at the gap.
  [[nodiscard]] purify::Occupations occupations(const std::vector<double>& energies) {
    auto result = purify::occupy(energies, task_.filled, options_.smearing, task_.width);
    const double mu = result.chemical_potential;
    outcome_.chemical_potentials = {mu, mu};
    if (options_.smearing != purify::Smearing::none || task_.occupied == 0 || task_.occupied == task_.states) {
      return result;
    }
    const auto empty = static_cast<std::size_t>(task_.occupied);
    outcome_.frontier = {energies[empty - 1], 0, energies[empty], 0};
    outcome_.chemical_potentials = {energies[empty - 1], energies[empty]};
    constexpr double resolution = 1e-12;  // of the spectrum
    if (!(energies[empty] - energies[empty - 1] > resolution * (energies.back() - energies.front()))) {
      throw purify::NoGap(
          fmt::format("no gap for {} occupied states of {}: states {} and {} have the energies {:.12g} "
                      "and {:.12g}; --smearing occupies both in part",
                      task_.occupied, task_.states, empty, empty + 1, energies[empty - 1], energies[empty]),
          outcome_.chemical_potentials);
    }
    return result;
  }

  /// D by iteration, its checks, and DHD if it is asked for.
  [[nodiscard]] Matrix<T> purified(Matrix<T>& h, std::optional<Matrix<T>>& weighted, const Stopwatch& since_begin) {
    orthogonalise(h);
    auto d = iterated(h, since_begin);
    const Stopwatch checking;
    look_at(h, d);
    weighted = back(h, d);
    outcome_.check_seconds = slowest(context_, checking.seconds());
    return d;
  }

  /// h ← ZHZ, where there is an overlap.
  void orthogonalise(Matrix<T>& h) {
    if (!task_.overlap) return;
    if (!options_.energy_weighted.empty()) {
      h_given_.emplace(purify::allocate<T>(context_, products_.layout()));
      purify::blend<T>(0, {{1, &h}}, *h_given_);
    }
    if (task_.inverse_root) {
      z_.emplace(read(options_.inverse_root, *task_.inverse_root));
      meter_.stage("checking " + options_.inverse_root, 0, 0);
      outcome_.root = purify::InverseRoot{0, purify::root_error(counted_, *s_, *z_)};
      constexpr double most_error = 1e-6;
      if (!(outcome_.root->error <= most_error)) {
        throw ArgumentError(
            fmt::format("--inverse-root: ||I - Z S Z|| is {:.3g} with Z of {} and S of {}, expected at "
                        "most {}",
                        outcome_.root->error, options_.inverse_root, options_.overlap, most_error));
      }
    } else {
      meter_.stage("finding S^(-1/2)", 0, 0);
      auto copy = purify::allocate<T>(context_, products_.layout());
      purify::blend<T>(0, {{1, &*s_}}, copy);
      z_.emplace(purify::allocate<T>(context_, products_.layout()));
      try {
        outcome_.root = purify::inverse_root(counted_, copy, *z_);
      } catch (const ArgumentError& error) {
        throw ArgumentError(in_option_words(error.what(), option_words_));
      }
    }
    meter_.stage("orthonormalising the basis", 0, 0);
    purify::transform(counted_, *z_, h);
  }

  [[nodiscard]] purify::Purification<T> begun(const Matrix<T>& h) {
    if (options_.resume) {
      if (auto checkpoint = read_checkpoint(context_, options_.checkpoint)) return resumed(h, std::move(*checkpoint));
    }
    // An old checkpoint must not come to name a new iterate.
    if (!options_.checkpoint.empty()) remove_checkpoint(context_, options_.checkpoint);
    meter_.stage("bounding the spectrum", 0, 0);
    purify::Problem problem{task_.method, task_.occupied, {}, options_.chemical_potential, options_.most_iterations};
    try {
      if (task_.states > 0) problem.spectrum = purify::spectrum_of(context_, h, options_.bounds);
      return {counted_, h, problem};
    } catch (const ArgumentError& error) {
      throw ArgumentError(in_option_words(error.what(), option_words_));
    }
  }

  [[nodiscard]] purify::Purification<T> resumed(const Matrix<T>& h, PurifyCheckpoint checkpoint) {
    mpi::agreed(context_, [&] {
      const purify::Problem& problem = checkpoint.state.problem;
      const auto refuse = [&](const std::string& why) {
        throw FileError(fmt::format("{}: is a checkpoint of another job: {}", options_.checkpoint, why));
      };
      if (checkpoint.checksums != checksums_) refuse("the matrices differ");
      if (problem.occupied != task_.occupied) {
        refuse(fmt::format("{} states were occupied, now {} are", problem.occupied, task_.occupied));
      }
      if (problem.method != task_.method) {
        refuse(fmt::format("its method was {}, now it is {}", name(problem.method), name(task_.method)));
      }
      if (problem.chemical_potential != options_.chemical_potential) refuse("its chemical potential was another one");
    });
    const std::string path = contents_path(options_.checkpoint, checkpoint.matrix);
    meter_.stage("reading " + path, 0, task_.matrix_bytes());
    const auto header = io::read_npy_header(context_, path);
    mpi::agreed(context_, [&] {
      if (header.shape == task_.hamiltonian.shape && header.dtype == io::dtype_of<T>()) return;
      throw FileError(fmt::format("{}: is not the iterate that {} names", path, options_.checkpoint));
    });
    auto x = moved(io::read_npy<T>(context_, path, header), products_.layout());
    checkpoint.state.problem.most_iterations = options_.most_iterations;
    outcome_.resumed_at = static_cast<Index>(checkpoint.state.iterates.size());
    outcome_.other_ranks = checkpoint.ranks != context_.size();
    last_checkpoint_ = checkpoint.matrix;
    return {counted_, h, std::move(checkpoint.state), std::move(x)};
  }

  [[nodiscard]] Matrix<T> iterated(const Matrix<T>& h, const Stopwatch& since_begin) {
    auto purification = begun(h);
    outcome_.prepare_seconds = std::max(0.0, slowest(context_, since_begin.seconds()) - outcome_.read_seconds);
    // Of the steps of this run alone: not of what prepares them, those before it was resumed, checkpoints and checks.
    const Index products_before = counted_.count();
    const double product_seconds_before = products_.seconds();
    Index received_before = received_by_rank(context_);
    const Stopwatch watch;
    outcome_.loop_begin = steady_nanoseconds();
    meter_.stage("iteration 1", 0, 0);
    std::optional<StopRequest> stop;
    if (!options_.checkpoint.empty()) stop.emplace(context_);
    while (advance(purification)) {
      purification.follow_frontier();
      const auto& iterates = purification.state().iterates;
      const auto steps = static_cast<Index>(iterates.size());
      meter_.stage(
          fmt::format("iteration {}: ||X - X^2|| {:.2e}, trace {:+.2e}, energy {:.10g}", steps,
                      iterates.back().idempotency_error, iterates.back().trace - static_cast<double>(task_.occupied),
                      options_.per_state * iterates.back().energy),
          0, 0);
      const int signal = stop ? stop->signal() : 0;
      const Index every = options_.checkpoint_every.value_or(usual_checkpoint_distance);
      if (!options_.checkpoint.empty() && (signal != 0 || steps % every == 0)) {
        const Index received_in_steps = received_by_rank(context_) - received_before;
        checkpoints_.make(context_, [&] {
          last_checkpoint_ = write_checkpoint(context_, options_.checkpoint, last_checkpoint_,
                                              {{}, checksums_, context_.size(), purification.state()},
                                              moved(purification.density(), slab_));
        });
        received_before = received_by_rank(context_) - received_in_steps;
      }
      if (signal != 0) throw Stopped(signal, options_.checkpoint);
    }
    outcome_.loop_end = steady_nanoseconds();
    outcome_.purify_seconds = slowest(context_, watch.seconds());
    outcome_.multiplications = purification.multiplications();
    outcome_.received_bytes =
        mpi::all_reduce(context_.comm(), received_by_rank(context_) - received_before, mpi::Operation::maximum());
    const Index products = counted_.count() - products_before;
    const double n = static_cast<double>(task_.states);
    outcome_.product_seconds = slowest(context_, products_.seconds() - product_seconds_before);
    outcome_.flops = static_cast<double>(products) * (task_.is_complex ? 8 : 2) * n * n * n;
    outcome_.least_bytes = static_cast<double>(products * task_.element_bytes()) *
                           dense::least_elements_received({task_.states, task_.states, task_.states}, context_.size());
    outcome_.state = purification.state();
    outcome_.chemical_potentials = outcome_.state.chemical_potentials();
    if (task_.states > 0) {
      meter_.stage("finding the states at the gap", 0, 0);
      outcome_.frontier = purification.frontier();
    }
    return std::move(purification.density());
  }

  bool advance(purify::Purification<T>& purification) {
    try {
      return purification.advance();
    } catch (const ArgumentError& error) {
      throw ArgumentError(in_option_words(error.what(), option_words_));
    }
  }

  /// What can be told of h and d in an orthonormal basis.
  void look_at(const Matrix<T>& h, const Matrix<T>& d) {
    meter_.stage("checking the density matrix", 0, 0);
    outcome_.energy = options_.per_state * outcome_.state.iterates.back().energy;
    errors_ = purify::density_errors(context_, outcome_.state, h, d);
  }

  /// d ← ZDZ, where there is an overlap, and its checks there. Returns DHD, if it is asked for.
  [[nodiscard]] std::optional<Matrix<T>> back(Matrix<T>& h, Matrix<T>& d) {
    if (task_.overlap) {
      meter_.stage("transforming back to the basis of S", 0, 0);
      purify::bring_back(counted_, *z_, *s_, task_.occupied, d, errors_);
    }
    if (options_.energy_weighted.empty()) return std::nullopt;
    meter_.stage("weighting by energy", 0, 0);
    auto half = purify::allocate<T>(context_, products_.layout());
    auto weighted = purify::allocate<T>(context_, products_.layout());
    counted_.multiply(d, task_.overlap ? *h_given_ : h, half);
    counted_.multiply(half, d, weighted);
    return weighted;
  }

  void expect_right() {
    outcome_.trace_error = errors_.trace;
    outcome_.idempotency_error = errors_.idempotency;
    outcome_.commutator_error = errors_.commutator;
    outcome_.energy_error = errors_.energy;
    const std::string complaint = errors_.complaint(task_.states, task_.overlap.has_value());
    if (complaint.empty()) return;
    throw Error(ErrorKind::other, fmt::format("the check failed: the result is no density matrix ({}); it was not "
                                              "written",
                                              complaint));
  }

  void write_trace() {
    if (context_.rank() != 0) return;
    outcome_.trace.link_bits_per_second = emulated_link_rate();
    if (options_.trace.empty()) return;
    write_beside_result(options_.trace, [&] { return report::chrome_json(outcome_.trace); });
  }

  void draw(const Matrix<T>& d) {
    if (options_.page.empty() || task_.states == 0) return;
    outcome_.picture = mpi::agreed(context_, [&] { return MatrixPicture({task_.states, task_.states}); });
    d.for_each_element([&](Index row, Index column, const T& element) {
      if constexpr (std::is_same_v<T, double>) {
        outcome_.picture.add(row, column, element);
      } else {
        outcome_.picture.add(row, column, std::abs(element));
      }
    });
    outcome_.picture.unite(context_);
  }

  void write_eigenvalues() {
    if (options_.eigenvalues.empty()) return;
    purify::Matrix<double> slab(Layout::rows({task_.states, 1}, context_.size()), context_.rank());
    slab.for_each_element(
        [&](Index row, Index, double& value) { value = outcome_.energies[static_cast<std::size_t>(row)]; });
    io::write_npy(context_, options_.eigenvalues, slab, {});
  }

  void write(const std::string& path, std::optional<Matrix<T>> matrix) {
    if (path.empty()) return;
    const StorageOrder order = io::written_order(path, task_.hamiltonian.order);
    const auto slab = moved(*matrix, io::slab_layout(task_.hamiltonian.shape, order, context_.size()));
    matrix.reset();
    meter_.stage("writing " + path, slab.layout().elements_of(context_.rank()) * Index{sizeof(T)},
                 task_.matrix_bytes());
    io::write_matrix_file(context_, path, slab, meter_.progress());
  }

  mpi::Context& context_;
  const PurifyOptions& options_;
  const PurifyTask& task_;
  Meter& meter_;
  std::array<OptionWord, 3> option_words_;  // what the library's words are to who gave the command
  Layout slab_;
  purify::DenseProducts<T> products_;
  purify::CountedProducts<T> counted_;
  std::optional<Matrix<T>> s_, z_, h_given_;
  std::vector<std::uint64_t> checksums_;  // of what was read, for checkpoints
  std::string last_checkpoint_;
  CheckpointAttempts checkpoints_;
  PurifyOutcome outcome_;
  purify::DensityErrors errors_;
};

}  // namespace

PurifyOutcome run(mpi::Context& context, const PurifyOptions& options, const PurifyTask& task, Meter& meter) {
  if (task.is_complex) return PurifyRun<std::complex<double>>(context, options, task, meter).all();
  return PurifyRun<double>(context, options, task, meter).all();
}

}  // namespace plait::cli
