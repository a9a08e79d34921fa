#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plait/mpi/agreed.hpp"
#include "plait/purify/eigensolver.hpp"
#include "plait/purify/fortran_library.hpp"

namespace plait::purify {

namespace {

using NativeComm = decltype(std::declval<const mpi::Communicator&>().handle());

const LoadedLibrary& scalapack() {
  static const std::string name = "libscalapack-" PLAIT_MPI_NAME ".so";
  static const std::array files{name + ".2.2", name + ".2.1", name};
  static const LoadedLibrary library("eigenstates", "ScaLAPACK", {"pdsyevd_", "Csys2blacs_handle"},
                                     {files[0].c_str(), files[1].c_str(), files[2].c_str()},
                                     "libscalapack-" PLAIT_MPI_NAME "-dev");
  return library;
}

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
    const auto name = [](const char* real, const char* complex) {
      return fmt::format("p{}{}_", letter<T>, is_complex<T> ? complex : real);
    };
    scalapack().find(name("potrf", "potrf"), potrf_);
    scalapack().find(name("trsm", "trsm"), trsm_);
    scalapack().find(name("syrk", "herk"), rank_k_);
    scalapack().find(name("syevd", "heevd"), evd_);
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
  static constexpr int one = 1;

  void find_states(Matrix<T>& h, Matrix<T>& z, std::span<Real> values) {
    auto work = mpi::agreed(context_, [&] {
      return WorkArrays<T>(grid_->has_this_rank() ? scalapack_workspace<T>(layout_, context_.rank()) : Workspace{});
    });
    const int n = static_cast<int>(layout_.shape().rows);
    int info = 0;
    if (grid_->has_this_rank()) {
      const auto of_h = descriptor_of(h);
      const auto of_z = descriptor_of(z);
      const auto with_workspace = [&](auto... last) {
        call(evd_, "V", "L", &n, h.tiles()[0].data(), &one, &one, of_h.data(), values.data(), z.tiles()[0].data(), &one,
             &one, of_z.data(), work.elements.data(), &work.elements.length, last..., &info, length, length);
      };
      if constexpr (is_complex<T>) {
        with_workspace(work.reals.data(), &work.reals.length, work.integers.data(), &work.integers.length);
      } else {
        with_workspace(work.integers.data(), &work.integers.length);
      }
    }
    mpi::agreed(context_, [&] {
      if (info == 0) return;
      throw Error(ErrorKind::other, fmt::format("ScaLAPACK found no eigenstates: p{}{} ended with info = {}", letter<T>,
                                                is_complex<T> ? "heevd" : "syevd", info));
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

}  // namespace

template <class T>
std::unique_ptr<Eigensolver<T>> scalapack_eigensolver(mpi::Context& context, const layout::Layout& layout) {
  auto solver = mpi::agreed(context, [&] { return std::make_unique<ScalapackEigensolver<T>>(context, layout); });
  solver->make_grid();
  return solver;
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

void expect_scalapack() { static_cast<void>(scalapack()); }

#define PLAIT_INSTANTIATE(T)                                                                            \
  template std::unique_ptr<Eigensolver<T>> scalapack_eigensolver(mpi::Context&, const layout::Layout&); \
  template Workspace scalapack_workspace<T>(const layout::Layout&, int);
PLAIT_INSTANTIATE(float)
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<float>)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
