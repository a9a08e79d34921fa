#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

#include "plait/dense/blas/blas_threads.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/node/active_ranks.hpp"
#include "plait/purify/eigensolver.hpp"
#include "plait/purify/fortran_library.hpp"

namespace plait::purify {

namespace {

const LoadedLibrary& lapack() {
  static const LoadedLibrary library("eigenstates", "LAPACK", {"dsyevd_", "zhegvd_"},
                                     {"liblapack.so.3", "liblapack.so"}, "liblapack3");
  return library;
}

template <class T>
class LapackEigensolver final : public Eigensolver<T> {
 public:
  using Real = typename Eigensolver<T>::Real;

  LapackEigensolver(mpi::Context& context, const layout::Layout& layout, int threads)
      : context_(context),
        has_all_(layout.elements_of(context.rank()) > 0),
        n_(layout.shape().rows),
        threads_(threads) {
    const auto name = [](const char* real, const char* complex) {
      return fmt::format("{}{}_", letter<T>, is_complex<T> ? complex : real);
    };
    lapack().find(name("syevd", "heevd"), evd_);
    lapack().find(name("sygvd", "hegvd"), gvd_);
    lapack().find(name("syrk", "herk"), rank_k_);
  }

  void solve(Matrix<T>& h, Matrix<T>* s, Matrix<T>& z, std::span<Real> values) override {
    auto work = mpi::agreed(context_, [&] { return WorkArrays<T>(has_all_ ? lapack_workspace<T>(n_) : Workspace{}); });
    std::swap(h, z);  // LAPACK leaves vectors in place of the matrix
    const dense::BlasOnNode threads(context_, has_all_, threads_);
    mpi::agreed_by(context_, 0, [&] {
      const int info = run(z, s, values.data(), work);
      if (info > n_) throw_not_positive_definite(info - n_);
      if (info != 0) throw_failed(info);
    });
  }

  void add_rank_k(Real alpha, const Matrix<T>& a, Index first, Index terms, Matrix<T>& c) override {
    const dense::BlasOnNode threads(context_, has_all_, threads_);
    mpi::agreed_by(context_, 0, [&] { add(alpha, a, first, terms, c); });
  }

 private:
  void add(Real alpha, const Matrix<T>& a, Index first, Index terms, Matrix<T>& c) const {
    const auto& all = a.const_tiles()[0];
    const int n = static_cast<int>(n_);
    const int k = static_cast<int>(terms);
    const int stride = leading_dimension(a);
    const int stride_of_c = leading_dimension(c);
    const Real beta{1};
    call(rank_k_, "L", "N", &n, &k, &alpha, &all(0, first), &stride, &beta, c.tiles()[0].data(), &stride_of_c, length,
         length);
  }

  int run(Matrix<T>& z, Matrix<T>* s, Real* values, WorkArrays<T>& work) const {
    const int n = static_cast<int>(n_);
    const int stride = leading_dimension(z);
    const int kind = 1;  // h z = e s z
    int info = 0;
    const auto with_workspace = [&](auto routine, auto... first) {
      if constexpr (is_complex<T>) {
        call(routine, first..., values, work.elements.data(), &work.elements.length, work.reals.data(),
             &work.reals.length, work.integers.data(), &work.integers.length, &info, length, length);
      } else {
        call(routine, first..., values, work.elements.data(), &work.elements.length, work.integers.data(),
             &work.integers.length, &info, length, length);
      }
    };
    if (s == nullptr) {
      with_workspace(evd_, "V", "L", &n, z.tiles()[0].data(), &stride);
    } else {
      const int stride_of_s = leading_dimension(*s);
      with_workspace(gvd_, &kind, "V", "L", &n, z.tiles()[0].data(), &stride, s->tiles()[0].data(), &stride_of_s);
    }
    return info;
  }

  [[noreturn]] static void throw_failed(int info) {
    throw Error(ErrorKind::other, fmt::format("LAPACK found no eigenstates: {}{} ended with info = {}", letter<T>,
                                              is_complex<T> ? "heevd" : "syevd", info));
  }

  mpi::Context& context_;
  const bool has_all_;
  const Index n_;
  const int threads_;
  void (*evd_)() = nullptr;
  void (*gvd_)() = nullptr;
  void (*rank_k_)() = nullptr;
};

}  // namespace

template <class T>
std::unique_ptr<Eigensolver<T>> lapack_eigensolver(mpi::Context& context, const layout::Layout& layout, int threads) {
  return mpi::agreed(context, [&] { return std::make_unique<LapackEigensolver<T>>(context, layout, threads); });
}

template <class T>
Workspace lapack_workspace(Index n) {
  if constexpr (is_complex<T>) return {2 * n + n * n, 1 + 5 * n + 2 * n * n, 3 + 5 * n};
  return {1 + 6 * n + 2 * n * n, 0, 3 + 5 * n};
}

void expect_lapack() { static_cast<void>(lapack()); }

#define PLAIT_INSTANTIATE(T)                                                                              \
  template std::unique_ptr<Eigensolver<T>> lapack_eigensolver(mpi::Context&, const layout::Layout&, int); \
  template Workspace lapack_workspace<T>(Index);
PLAIT_INSTANTIATE(float)
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<float>)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
