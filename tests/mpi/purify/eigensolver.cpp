#include "mpi/purify/eigensolver.hpp"

#include <complex>
#include <stdexcept>

extern "C" {
void dsygv_(const int* type, const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* b,
            const int* ldb, double* w, double* work, const int* lwork, int* info);
void zhegv_(const int* type, const char* jobz, const char* uplo, const int* n, std::complex<double>* a, const int* lda,
            std::complex<double>* b, const int* ldb, double* w, std::complex<double>* work, const int* lwork,
            double* rwork, int* info);
}

namespace plait::test {

template <class T>
Eigenstates<T> eigenstates(Whole<T> h, Whole<T> s) {
  const int n = static_cast<int>(h.n);
  const int type = 1;
  const int lwork = 40 * n + 100;
  // OpenBLAS 0.3.21 reads some columns beyond the matrix of zgemv.
  for (auto* matrix : {&h, &s}) matrix->elements.reserve(matrix->elements.size() + 16 * static_cast<std::size_t>(n));
  int info = 0;
  std::vector<T> work(static_cast<std::size_t>(lwork));
  Eigenstates<T> result{std::vector<double>(static_cast<std::size_t>(n)), {}};
  if constexpr (std::is_same_v<T, double>) {
    dsygv_(&type, "V", "U", &n, h.elements.data(), &n, s.elements.data(), &n, result.values.data(), work.data(), &lwork,
           &info);
  } else {
    std::vector<double> real_work(static_cast<std::size_t>(3 * n));
    zhegv_(&type, "V", "U", &n, h.elements.data(), &n, s.elements.data(), &n, result.values.data(), work.data(), &lwork,
           real_work.data(), &info);
  }
  if (info != 0) throw std::runtime_error("LAPACK found no eigenstates");
  result.vectors = std::move(h);
  return result;
}

template <class T>
Eigenstates<T> eigenstates(Whole<T> matrix) {
  Whole<T> identity{matrix.n};
  for (Index i = 0; i < matrix.n; ++i) identity(i, i) = 1;
  return eigenstates(std::move(matrix), std::move(identity));
}

template <class T>
Whole<T> density_of(const Eigenstates<T>& states, Index occupied, bool by_energy) {
  const Index n = states.vectors.n;
  Whole<T> d{n};
  for (Index k = 0; k < occupied; ++k) {
    const double weight = by_energy ? states.values[static_cast<std::size_t>(k)] : 1;
    for (Index j = 0; j < n; ++j) {
      T factor = weight * states.vectors(j, k);
      if constexpr (!std::is_same_v<T, double>) factor = std::conj(factor);
      for (Index i = 0; i < n; ++i) d(i, j) += states.vectors(i, k) * factor;
    }
  }
  return d;
}

template Eigenstates<double> eigenstates(Whole<double>, Whole<double>);
template Eigenstates<double> eigenstates(Whole<double>);
template Whole<double> density_of(const Eigenstates<double>&, Index, bool);
template Eigenstates<std::complex<double>> eigenstates(Whole<std::complex<double>>, Whole<std::complex<double>>);
template Eigenstates<std::complex<double>> eigenstates(Whole<std::complex<double>>);
template Whole<std::complex<double>> density_of(const Eigenstates<std::complex<double>>&, Index, bool);

}  // namespace plait::test
