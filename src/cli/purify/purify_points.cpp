#include "plait/purify/points.hpp"
#include "plait/purify/products.hpp"

#include "cli/purify/purify_run.hpp"

namespace plait::cli {

namespace {

using layout::Layout;
using purify::Matrix;

/// Files and arrays of several n × n matrices, each slab by slab.
template <class T>
class PointsRun {
 public:
  PointsRun(Work& work, const PurifyTask& task)
      : work_(work),
        context_(work.context),
        task_(task),
        n_(task.states),
        states_(context_, std::vector<Index>(static_cast<std::size_t>(task.points()), n_)),
        whole_(Layout::columns({n_, n_}, context_.size())) {}

  PurifyOutcome all() {
    work_.expect_memory(mpi::agreed(context_, [&] { return memory_of_phases(); }));
    Index first = 0;
    read_overlap_and(task_.input, first);
    for (const InputFile& file : task_.more_inputs) read_overlap_and(file, first);
    find_states();
    fill();
    write();
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] std::vector<Index> memory_of_phases() const {
    const auto bytes = [&](const Layout& of) { return bytes_of_rank(of, context_.rank(), Index{sizeof(T)}); };
    const Index matrix = bytes(whole_);
    const auto array = io::slab_layout({task_.points(), n_ * n_}, StorageOrder::row_major, context_.size());
    const Index own = states_.bytes(bool{task_.overlap});
    return {own + 2 * bytes(array) + 3 * matrix, own + bytes(array) + 2 * matrix};
  }

  /// Matrix k of those in a file, which `slab` holds, on this context; Hermitian.
  [[nodiscard]] Matrix<T> one_of(const Matrix<T>& slab, const InputFile& file, Index k) {
    if (file.extents.dimensions < 3) return hermitian(work_, task_, work_.moved(slab, whole_, file.path), file.path);
    const std::string name = fmt::format("{}, matrix {}", file.path, k + 1);
    if (file.order == StorageOrder::row_major) {
      auto one = on_one_rank(slab.layout(), k);
      if (const auto& from = slab.const_tiles()[0]; one.layout().elements_of(context_.rank()) > 0) {
        const T* const first = from.data() + slab.layout().rows().local_of(k) * from.leading_dimension();
        std::copy_n(first, n_ * n_, one.tiles()[0].data());
      }
      return hermitian(work_, task_, work_.moved(one, whole_, name), name);
    }
    // Element (k, i, j) lies in row k + points · i of column j.
    auto one = purify::allocate<T>(context_, whole_);
    const Index points = matrices_in(file);
    const auto& from = slab.const_tiles()[0];
    one.for_each_element([&, column = Index{-1}, last = Index{-1}](Index i, Index j, T& element) mutable {
      if (j != last) ++column, last = j;
      element = from(k + points * i, column);
    });
    return hermitian(work_, task_, std::move(one), name);
  }

  /// Uninitialised, where a slab of rows has row k.
  [[nodiscard]] Matrix<T> on_one_rank(const Layout& slab, Index k) {
    return purify::allocate<T>(context_, mpi::agreed(context_, [&] {
                                 const auto owner = static_cast<int>(slab.rows().part_of(k));
                                 return Layout::custom({0, n_}, {0, n_}, {owner}, StorageOrder::row_major);
                               }));
  }

  /// \param first  the number of its first point; then that of the next file's
  void read_overlap_and(const InputFile& file, Index& first) {
    const Stopwatch watch;
    const auto slab = work_.read_as<T>(file);
    std::optional<Matrix<T>> overlaps;
    if (task_.overlap) overlaps.emplace(work_.read_as<T>(task_.overlap));
    for (Index k = 0; k < matrices_in(file); ++k, ++first) {
      const Matrix<T> h = one_of(slab, file, k);
      std::optional<Matrix<T>> s;
      if (overlaps) s.emplace(one_of(*overlaps, task_.overlap, first));
      states_.set(first, h, s ? &*s : nullptr);
    }
    outcome_.read_seconds += work_.highest(watch.seconds());
  }

  void find_states() {
    const Stopwatch watch;
    work_.meter.stage("finding the eigenstates of all points", 0, 0);
    states_.solve();
    found_ = mpi::agreed(context_, [&] {
      auto found = purify::fill_points(states_.values(), task_.weights, task_.filled, task_.smearing, task_.width);
      outcome_.points.resize(found.of_points.size());
      std::vector<std::pair<double, double>> all;
      for (std::size_t k = 0; k < found.of_points.size(); ++k) {
        const std::vector<double>& energies = states_.values()[k];
        const purify::Filling& its = found.of_points[k];
        PurifiedPoint& point = outcome_.points[k];
        point = {task_.weights[k], its.filled, its.energy, {}, states_.ranks_of(static_cast<Index>(k))};
        for (std::size_t i = 0; i < energies.size(); ++i) {
          all.emplace_back(energies[i], its.occupations.of_states[i]);
          if (its.occupations.of_states[i] > 0.5) point.frontier.highest_occupied = energies[i];
          if (its.occupations.of_states[i] <= 0.5)
            point.frontier.lowest_empty = std::min(point.frontier.lowest_empty, energies[i]);
        }
      }
      std::ranges::sort(all);
      for (const auto& [energy, occupation] : all) {
        outcome_.energies.push_back(energy);
        outcome_.filling.occupations.of_states.push_back(occupation);
      }
      return found;
    });
    outcome_.filling.occupations.entropy = found_.entropy;
    outcome_.frontier = outcome_.filling.frontier = found_.frontier;
    outcome_.frontier_points = found_.frontier_points;
    outcome_.direct_gap = found_.direct_gap;
    outcome_.chemical_potentials = found_.chemical_potentials;
    outcome_.energy = task_.per_state * found_.energy;
    if (!outcome_.energies.empty())
      outcome_.state.problem.spectrum = {outcome_.energies.front(), outcome_.energies.back()};
    outcome_.prepare_seconds = work_.highest(watch.seconds());
  }

  void fill() {
    const Stopwatch watch;
    work_.meter.stage("summing up the occupied states and checking them", 0, 0);
    outcome_.errors = states_.weigh(found_);
    outcome_.purify_seconds = work_.highest(watch.seconds());
    static_cast<void>(work_.trace());
    if (work_.settings.page.empty() || n_ == 0) return;
    auto d = purify::allocate<T>(context_, whole_);
    states_.take(0, d);
    outcome_.picture = picture_of(context_, d);
  }

  void write() {
    const Stopwatch watch;
    work_.write_elements<double>(task_.eigenvalues, {2, {task_.points(), n_}},
                                 [&](Index k, Index i) { return states_.values()[at(k)][at(i)]; });
    if (!task_.output.empty()) write_all(task_.output);
    if (!task_.energy_weighted.empty()) {
      states_.weigh_energies(found_);
      write_all(task_.energy_weighted);
    }
    outcome_.write_seconds = work_.highest(watch.seconds());
  }

  /// What the points have to give, as an array of points × n × n.
  void write_all(const std::string& path) {
    const io::Extents extents{3, {task_.points(), n_, n_}};
    auto slab = work_.allocated<T>(work_.slabs(extents.as_matrix(StorageOrder::row_major)), path);
    for (Index k = 0; k < task_.points(); ++k) {
      auto one = on_one_rank(slab.layout(), k);
      states_.take(k, one);
      if (one.layout().elements_of(context_.rank()) == 0) continue;
      const auto& to = slab.tiles()[0];
      std::copy_n(one.const_tiles()[0].data(), n_ * n_,
                  to.data() + slab.layout().rows().local_of(k) * to.leading_dimension());
    }
    work_.write_array(path, extents, slab);
  }

  Work& work_;
  mpi::Context& context_;
  const PurifyTask& task_;
  Index n_;
  purify::PointStates<T> states_;
  Layout whole_;
  purify::PointsFilling found_;
  PurifyOutcome outcome_;
};

}  // namespace

PurifyOutcome run_points(Work& work, const PurifyTask& task) {
  if (task.is_complex) return PointsRun<std::complex<double>>(work, task).all();
  return PointsRun<double>(work, task).all();
}

}  // namespace plait::cli
