#include "plait/purify/eigensolver.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/complex.hpp"
#include "plait/base/error.hpp"
#include "plait/base/loaded_library.hpp"
#include "plait/base/memory.hpp"
#include "plait/dense/blas/blas.hpp"
#include "plait/dense/blas/blas_threads.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/node/active_ranks.hpp"

namespace plait::purify {

namespace {

using NativeComm = decltype(std::declval<const mpi::Communicator&>().handle());

constexpr int one = 1;
constexpr std::size_t length = 1;  // of a string that is one letter

/// Calls a routine, whose arguments are all pointers, but for the lengths of strings, which come last.
template <class... Arguments>
void call(void (*routine)(), Arguments... arguments) {
  reinterpret_cast<void (*)(Arguments...)>(routine)(arguments...);
}

/// The letter that stands for the type in the names of routines.
template <class T>
constexpr char letter = 's';
template <>
constexpr char letter<double> = 'd';
template <>
constexpr char letter<std::complex<float>> = 'c';
template <>
constexpr char letter<std::complex<double>> = 'z';

/// "dsyevd", "pzheevd".
template <class T>
std::string routine_name(const char* prefix, const char* real, const char* complex) {
  return fmt::format("{}{}{}", prefix, letter<T>, is_complex<T> ? complex : real);
}

template <class T>
int leading_dimension(const Matrix<T>& matrix) {
  return matrix.const_tiles().empty() ? 1 : static_cast<int>(matrix.const_tiles()[0].leading_dimension());
}

/// A workspace, held, uninitialised.
template <class T>
struct WorkArrays {
  explicit WorkArrays(const Workspace& needed)
      : elements(needed.elements), reals(needed.reals), integers(needed.integers) {}

  Array<T> elements;
  Array<decltype(std::real(T{}))> reals;
  Array<int> integers;
};

/// Calls a routine that finds eigenstates, with these arguments first. Returns its `info`.
template <class T, class... First>
int call_with(const WorkArrays<T>& work, void (*routine)(), First... first) {
  const auto elements = static_cast<int>(work.elements.size());
  const auto reals = static_cast<int>(work.reals.size());
  const auto integers = static_cast<int>(work.integers.size());
  int info = 0;
  if constexpr (is_complex<T>) {
    call(routine, first..., work.elements.data(), &elements, work.reals.data(), &reals, work.integers.data(), &integers,
         &info, length, length);
  } else {
    call(routine, first..., work.elements.data(), &elements, work.integers.data(), &integers, &info, length, length);
  }
  return info;
}

/// What an overlap is told that has no Cholesky factor.
[[noreturn]] void throw_not_positive_definite(Index rows) {
  throw ArgumentError(
      fmt::format("overlap: is not positive definite, expected a matrix that is: its first {} rows "
                  "and columns have no Cholesky factor",
                  rows));
}

template <class T>
[[noreturn]] void throw_failed(const char* library, const char* prefix, int info) {
  throw Error(ErrorKind::other, fmt::format("{} found no eigenstates: {} ended with info = {}", library,
                                            routine_name<T>(prefix, "syevd", "heevd"), info));
}

const LoadedLibrary& lapack() {
  static const LoadedLibrary library("eigenstates", "LAPACK", {"dsyevd_", "zhegvd_"},
                                     {"liblapack.so.3", "liblapack.so"}, "liblapack3");
  return library;
}

const LoadedLibrary& scalapack() {
  static const std::string name = "libscalapack-" PLAIT_MPI_NAME ".so";
  static const std::array files{name + ".2.2", name + ".2.1", name};
  static const LoadedLibrary library("eigenstates", "ScaLAPACK", {"pdsyevd_", "Csys2blacs_handle"},
                                     {files[0].c_str(), files[1].c_str(), files[2].c_str()},
                                     "libscalapack-" PLAIT_MPI_NAME "-dev");
  return library;
}

template <class T>
class LapackEigensolver final : public Eigensolver<T> {
 public:
  using Real = typename Eigensolver<T>::Real;

  LapackEigensolver(mpi::Context& context, const layout::Layout& layout, int threads)
      : context_(context), layout_(layout), threads_(threads) {
    lapack().find(routine_name<T>("", "syevd_", "heevd_"), evd_);
    lapack().find(routine_name<T>("", "sygvd_", "hegvd_"), gvd_);
    lapack().find(routine_name<T>("", "syrk_", "herk_"), rank_k_);
  }

  void solve(Matrix<T>& h, Matrix<T>* s, Matrix<T>& z, std::span<Real> values) override {
    auto work =
        mpi::agreed(context_, [&] { return WorkArrays<T>(eigensolver_workspace<T>(layout_, context_.rank())); });
    std::swap(h, z);  // LAPACK leaves vectors in place of the matrix
    const dense::BlasOnNode threads(context_, has_all(), threads_);
    mpi::agreed_by(context_, 0, [&] {
      const int n = static_cast<int>(layout_.shape().rows);
      dense::expect_blas_memory();
      const int info = run(n, z, s, values.data(), work);
      if (info > n) throw_not_positive_definite(info - n);
      if (info != 0) throw_failed<T>("LAPACK", "", info);
    });
  }

  void add_rank_k(Real alpha, const Matrix<T>& a, Index first, Index terms, Matrix<T>& c) override {
    const dense::BlasOnNode threads(context_, has_all(), threads_);
    mpi::agreed_by(context_, 0, [&] {
      const int n = static_cast<int>(layout_.shape().rows);
      const int k = static_cast<int>(terms);
      const int stride = leading_dimension(a);
      const int stride_of_c = leading_dimension(c);
      const Real beta{1};
      call(rank_k_, "L", "N", &n, &k, &alpha, &a.const_tiles()[0](0, first), &stride, &beta, c.tiles()[0].data(),
           &stride_of_c, length, length);
    });
  }

 private:
  [[nodiscard]] bool has_all() const { return layout_.elements_of(context_.rank()) > 0; }

  int run(int n, Matrix<T>& z, Matrix<T>* s, Real* values, const WorkArrays<T>& work) const {
    const int stride = leading_dimension(z);
    T* const vectors = z.tiles()[0].data();
    if (s == nullptr) return call_with(work, evd_, "V", "L", &n, vectors, &stride, values);
    const int kind = 1;  // h z = e s z
    const int stride_of_s = leading_dimension(*s);
    return call_with(work, gvd_, &kind, "V", "L", &n, vectors, &stride, s->tiles()[0].data(), &stride_of_s, values);
  }

  mpi::Context& context_;
  const layout::Layout layout_;
  const int threads_;
  void (*evd_)() = nullptr;
  void (*gvd_)() = nullptr;
  void (*rank_k_)() = nullptr;
};

/// A process grid as BLACS has it: the first ranks of a context, numbered by rows.
class BlacsGrid {
 public:
  /// Collective over the context.
  BlacsGrid(mpi::Context& context, const layout::Owners& owners) {
    int (*system_handle)(NativeComm) = nullptr;
    void (*map_grid)(int*, int*, int, int, int) = nullptr;
    const int rows = static_cast<int>(owners.rows());
    const int columns = static_cast<int>(owners.columns());
    std::vector<int> ranks;
    mpi::agreed(context, [&] {
      scalapack().find("Csys2blacs_handle", system_handle);
      scalapack().find("Cblacs_gridmap", map_grid);
      scalapack().find("Cblacs_gridexit", leave_grid_);
      scalapack().find("Cfree_blacs_system_handle", free_system_);
      for (int j = 0; j < columns; ++j) {
        for (int i = 0; i < rows; ++i) ranks.push_back(i * columns + j);
      }
    });
    system_ = system_handle(context.comm().handle());
    handle_ = system_;
    map_grid(&handle_, ranks.data(), rows, rows, columns);
  }
  BlacsGrid(const BlacsGrid&) = delete;
  BlacsGrid& operator=(const BlacsGrid&) = delete;
  ~BlacsGrid() {
    if (has_this_rank()) leave_grid_(handle_);
    free_system_(system_);
  }

  /// Whether this rank is one of it.
  [[nodiscard]] bool has_this_rank() const noexcept { return handle_ >= 0; }
  [[nodiscard]] int handle() const noexcept { return handle_; }

 private:
  void (*leave_grid_)(int) = nullptr;
  void (*free_system_)(int) = nullptr;
  int system_ = -1;
  int handle_ = -1;
};

/// p?syevd and p?heevd, with Cholesky's factor for an overlap.
///
/// Source: Tisseur, Dongarra, "A parallel divide and conquer algorithm for the symmetric eigenvalue problem on
/// distributed memory architectures", SIAM J. Sci. Comput. 20 (1999).
template <class T>
class ScalapackEigensolver final : public Eigensolver<T> {
 public:
  using Real = typename Eigensolver<T>::Real;

  ScalapackEigensolver(mpi::Context& context, const layout::Layout& layout) : context_(context), layout_(layout) {
    scalapack().find(routine_name<T>("p", "potrf_", "potrf_"), potrf_);
    scalapack().find(routine_name<T>("p", "trsm_", "trsm_"), trsm_);
    scalapack().find(routine_name<T>("p", "syrk_", "herk_"), rank_k_);
    scalapack().find(routine_name<T>("p", "syevd_", "heevd_"), evd_);
  }

  /// Collective, before the others.
  void make_grid() { grid_.emplace(context_, layout_.owners()); }

  void solve(Matrix<T>& h, Matrix<T>* s, Matrix<T>& z, std::span<Real> values) override {
    if (s == nullptr) return find_states(h, z, values);
    // With S = LLᴴ, it is  (L⁻¹HL⁻ᴴ)(Lᴴz) = e (Lᴴz).
    int info = 0;
    const int n = static_cast<int>(layout_.shape().rows);
    const auto descriptor = descriptor_of(*s);
    if (grid_->has_this_rank()) {
      call(potrf_, "L", &n, s->tiles()[0].data(), &one, &one, descriptor.data(), &info, length);
    }
    mpi::agreed(context_, [&] {
      if (info != 0) throw_not_positive_definite(info);
    });
    divide("L", "N", *s, h);
    divide("R", "C", *s, h);
    find_states(h, z, values);
    divide("L", "C", *s, z);
  }

  void add_rank_k(Real alpha, const Matrix<T>& a, Index first, Index terms, Matrix<T>& c) override {
    if (!grid_->has_this_rank()) return;
    const int n = static_cast<int>(layout_.shape().rows);
    const int k = static_cast<int>(terms);
    const int column = static_cast<int>(first) + 1;
    const Real beta{1};
    const auto of_a = descriptor_of(a);
    const auto of_c = descriptor_of(c);
    call(rank_k_, "L", "N", &n, &k, &alpha, a.const_tiles()[0].data(), &one, &column, of_a.data(), &beta,
         c.tiles()[0].data(), &one, &one, of_c.data(), length, length);
  }

 private:
  void find_states(Matrix<T>& h, Matrix<T>& z, std::span<Real> values) {
    const auto work = mpi::agreed(context_, [&] {
      return WorkArrays<T>(grid_->has_this_rank() ? eigensolver_workspace<T>(layout_, context_.rank()) : Workspace{});
    });
    const int n = static_cast<int>(layout_.shape().rows);
    int info = 0;
    if (grid_->has_this_rank()) {
      const auto of_h = descriptor_of(h);
      const auto of_z = descriptor_of(z);
      info = call_with(work, evd_, "V", "L", &n, h.tiles()[0].data(), &one, &one, of_h.data(), values.data(),
                       z.tiles()[0].data(), &one, &one, of_z.data());
    }
    mpi::agreed(context_, [&] {
      if (info != 0) throw_failed<T>("ScaLAPACK", "p", info);
    });
  }

  /// m ← L⁻¹m or the like.
  void divide(const char* side, const char* op, const Matrix<T>& l, Matrix<T>& m) {
    if (!grid_->has_this_rank()) return;
    const int n = static_cast<int>(layout_.shape().rows);
    const T unit{1};
    const auto of_l = descriptor_of(l);
    const auto of_m = descriptor_of(m);
    call(trsm_, side, "L", op, "N", &n, &n, &unit, l.const_tiles()[0].data(), &one, &one, of_l.data(),
         m.tiles()[0].data(), &one, &one, of_m.data(), length, length, length, length);
  }

  [[nodiscard]] std::array<int, 9> descriptor_of(const Matrix<T>& matrix) const {
    constexpr int dense_type = 1;
    const int n = static_cast<int>(layout_.shape().rows);
    const int block = static_cast<int>(layout_.rows().block());
    return {dense_type, grid_->handle(), n, n, block, block, 0, 0, leading_dimension(matrix)};
  }

  mpi::Context& context_;
  const layout::Layout layout_;
  std::optional<BlacsGrid> grid_;
  void (*potrf_)() = nullptr;
  void (*trsm_)() = nullptr;
  void (*rank_k_)() = nullptr;
  void (*evd_)() = nullptr;
};

template <class T>
Workspace lapack_workspace(Index n) {
  if constexpr (is_complex<T>) return {2 * n + n * n, 1 + 5 * n + 2 * n * n, 3 + 5 * n};
  return {1 + 6 * n + 2 * n * n, 0, 3 + 5 * n};
}

template <class T>
Workspace scalapack_workspace(const layout::Layout& layout, int rank) {
  const Index n = layout.shape().rows;
  const Index block = layout.rows().block();
  const Index elements = layout.elements_of(rank);
  const Index rows = layout.rows().local_extent(0);  // of the first part, which has most
  const Index columns = layout.columns().local_extent(0);
  const Index integers = 7 * n + 8 * layout.owners().columns() + 2;
  // What p?syevd calls to turn eigenvectors back takes more than it asks for, and fails without a word.
  const Index turning = n + (rows + columns + 4 * block) * block;
  if constexpr (is_complex<T>) return {turning, 1 + 9 * n + 3 * elements, integers};
  return {8 * n + 1 + std::max(2 * elements, block * std::max(rows + 1, Index{3})) + turning, 0, integers};
}

}  // namespace

template <class T>
std::unique_ptr<Eigensolver<T>> make_eigensolver(mpi::Context& context, const layout::Layout& layout, int threads) {
  if (layout.ranks() == 1)
    return mpi::agreed(context, [&] { return std::make_unique<LapackEigensolver<T>>(context, layout, threads); });
  auto solver = mpi::agreed(context, [&] { return std::make_unique<ScalapackEigensolver<T>>(context, layout); });
  solver->make_grid();
  return solver;
}

template <class T>
Workspace eigensolver_workspace(const layout::Layout& layout, int rank) {
  if (layout.ranks() > 1) return scalapack_workspace<T>(layout, rank);
  return rank == 0 ? lapack_workspace<T>(layout.shape().rows) : Workspace{};
}

void expect_eigensolver(const layout::Layout& layout) {
  static_cast<void>(layout.ranks() > 1 ? scalapack() : lapack());
}

#define PLAIT_INSTANTIATE(T)                                                                            \
  template std::unique_ptr<Eigensolver<T>> make_eigensolver(mpi::Context&, const layout::Layout&, int); \
  template Workspace eigensolver_workspace<T>(const layout::Layout&, int);
PLAIT_INSTANTIATE(float)
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<float>)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
