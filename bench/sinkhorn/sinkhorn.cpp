// One iteration of Sinkhorn and Knopp's, by each of the forms: against a streaming read of the same matrix, which is
// the least that any of them can do, and against two matrix-vector products of the BLAS.
//
//   ./dev bench sinkhorn                      on one rank and on two
//   ./dev bench sinkhorn --filter scaling     only these
//   ./dev bench sinkhorn --filter "rows|columns"           rows and columns apart (one rank)
//   ./dev bench sinkhorn --filter points                   costs made between points (one rank)
//   ./dev bench sinkhorn --ranks 2 --rate 1gbit            between 2 nodes of the emulated cluster
//   ./dev bench sinkhorn --ranks 4 --ppn 2 --rate 100mbit  between 2 nodes of 2 ranks; --rate 100gbit limits nothing
//
// 1 / "of limit" is how many streaming reads an iteration takes, the fastest of several, which is named. The limit of
// bf16 is the read of a matrix of floats.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/io/slab.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/row_block.hpp"
#include "plait/sinkhorn/coffee/scale_in_place.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/sinkhorn/factor_iteration.hpp"
#include "bench/sinkhorn/gemv.hpp"
#include "bench/sinkhorn/sinkhorn_entry.hpp"
#include "bench/sinkhorn/sinkhorn_network.hpp"
#include "bench/sinkhorn/sinkhorn_parts.hpp"
#include "bench/sinkhorn/sinkhorn_points.hpp"
#include "bench/sinkhorn/streaming_read.hpp"

namespace {

using namespace plait;
using layout::DistributedMatrix;

enum class Form : unsigned char { scaling, in_place, algorithm1, algorithm2, algorithm3, logarithmic };

constexpr std::string_view name(Form form) {
  switch (form) {
    case Form::scaling: return "scaling";
    case Form::in_place: return "in-place";
    case Form::algorithm1: return "algorithm-1";
    case Form::algorithm2: return "algorithm-2";
    case Form::algorithm3: return "algorithm-3";
    case Form::logarithmic: return "log-domain";
  }
  return "";
}

/// The operands of one form: all marginals are 1, and an iteration begins with ones.
template <class T, class A>
class Operands {
 public:
  Operands(mpi::Context& context, Form form, Index n)
      : form_(form),
        matrix_(io::slab_layout({n, n}, StorageOrder::row_major, context.size()), context.rank()),
        sums_over_ranks_(context, n + 1),
        sums_(static_cast<std::size_t>(n + 1)),
        row_marginals_(static_cast<std::size_t>(rows().rows()), 1.0),
        column_marginals_(static_cast<std::size_t>(n), 1.0) {
    first_ = mpi::sum_below(context.comm(), rows().rows());
    if constexpr (std::is_same_v<T, simd::BFloat16>) floats_ = Array<float>(rows().rows() * n);
    expect(context);
    std::ranges::fill(floats_.span(), 1.0F);
    write_matrix();
    make_iteration();
  }

  /// Before each run. A matrix that is only read is not written again, so that no run begins with a cache full of what
  /// has yet to go to memory.
  void rewrite() {
    const bool is_only_read = form_ == Form::scaling || form_ == Form::logarithmic;
    if (!is_only_read) write_matrix();
    make_iteration();
  }

  void iterate() {
    std::ranges::fill(sums_, A{0});
    const std::span<A> sums = std::span(sums_).first(sums_.size() - 1);
    if (form_ == Form::logarithmic) {
      by_logarithms(sums);
      return;
    }
    iteration_->rows(sums);
    sums_over_ranks_(sums_);
    iteration_->columns(sums);
  }

  [[nodiscard]] Index wrong_elements() const {
    // The expected ones are those of the matrix before it was rounded.
    const double accuracy = std::is_same_v<T, double> ? 1e-10 : std::is_same_v<T, float> ? 1e-4 : 1e-2;
    Index wrong = 0;
    const auto compare = [&](const auto& values, const std::vector<double>& expected) {
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const auto found = static_cast<double>(values[k]);
        const double factor = form_ == Form::logarithmic ? std::exp(found) : found;
        if (!(std::abs(factor - expected[k]) <= accuracy * expected[k])) ++wrong;
      }
    };
    if (form_ == Form::logarithmic) {
      compare(f_, expected_u_);
      compare(g_, expected_v_);
    } else {
      compare(iteration_->factors().u, expected_u_);
      if (form_ != Form::in_place)
        compare(iteration_->factors().v, expected_v_);  // in place these wait for the next sweep
    }
    return wrong;
  }

  [[nodiscard]] std::span<const std::byte> limit_memory() {
    if (floats_.size() > 0) return std::as_bytes(floats_.span());
    return std::as_bytes(std::span(rows().data(), at(rows().span())));
  }

  [[nodiscard]] std::optional<bench::Contender> gemv() {
    if constexpr (std::is_same_v<T, A>) {
      u_.assign(row_marginals_.size(), A{1});
      v_.assign(column_marginals_.size(), A{1});
      return bench::two_gemv<T>(rows(), u_.data(), v_.data());
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] matrix_view<T> rows() { return matrix_.tiles()[0]; }

  void write_matrix() {
    for (Index i = 0; i < rows().rows(); ++i) {
      T* row = rows().data() + i * rows().leading_dimension();
      for (Index j = 0; j < rows().columns(); ++j) row[j] = simd::narrowed<T>(value(first_ + i, j));
    }
  }

  [[nodiscard]] double value(Index i, Index j) const {
    const double of_matrix = bench::sinkhorn_entry(i, j);
    return form_ == Form::logarithmic ? -std::log(of_matrix) : of_matrix;
  }

  void make_iteration() {
    using sinkhorn::InPlaceForm;
    const auto in_place = [&](InPlaceForm form) {
      iteration_ = sinkhorn::in_place_iteration<T, A>(form, rows(), row_marginals_, column_marginals_);
    };
    switch (form_) {
      case Form::scaling:
        iteration_ = std::make_unique<bench::FactorIteration<T, A>>(rows(), row_marginals_, column_marginals_);
        return;
      case Form::in_place: return in_place(InPlaceForm::fused);
      case Form::algorithm1: return in_place(InPlaceForm::typical);
      case Form::algorithm2: return in_place(InPlaceForm::by_rows);
      case Form::algorithm3: return in_place(InPlaceForm::blocked);
      case Form::logarithmic:
        f_.assign(row_marginals_.size(), A{0});
        g_.assign(column_marginals_.size(), A{0});
        if constexpr (!std::is_same_v<T, simd::BFloat16>) {
          sweep_.emplace(rows(), 1);
          sweep_->set_epsilon(1.0, 1);
        }
        return;
      default: break;
    }
  }

  void by_logarithms(std::span<A> sums) {
    if constexpr (!std::is_same_v<T, simd::BFloat16>) {
      const sinkhorn::LogVectors<A> vectors{row_marginals_, f_, g_, sums};
      sinkhorn::RowsSwept swept;
      sweep_->sweep({&vectors, 1}, sinkhorn::LogUpdate(1), {&swept, 1});
      sums_over_ranks_(sums_);
      for (std::size_t j = 0; j < sums.size(); ++j) g_[j] -= std::log(sums[j]);
    }
  }

  /// The factors after one iteration, by plain loops.
  void expect(const mpi::Context& context) {
    const Index n = rows().columns();
    std::vector<double> sums(static_cast<std::size_t>(n));
    for (Index i = 0; i < rows().rows(); ++i) {
      double sum = 0;
      for (Index j = 0; j < n; ++j) sum += bench::sinkhorn_entry(first_ + i, j);
      expected_u_.push_back(1 / sum);
      for (Index j = 0; j < n; ++j) sums[static_cast<std::size_t>(j)] += bench::sinkhorn_entry(first_ + i, j) / sum;
    }
    mpi::all_reduce(context.comm(), std::span<double>(sums), mpi::Operation::sum());
    for (const double sum : sums) expected_v_.push_back(1 / sum);
  }

  Form form_;
  DistributedMatrix<T> matrix_;
  Array<float> floats_;
  sinkhorn::SumOverRanks<A> sums_over_ranks_;
  std::vector<A> sums_;
  std::vector<double> row_marginals_;
  std::vector<double> column_marginals_;
  std::unique_ptr<sinkhorn::InPlaceIteration<A>> iteration_;
  std::optional<sinkhorn::StoredCosts<std::conditional_t<std::is_same_v<T, simd::BFloat16>, float, T>, A>> sweep_;
  std::vector<A> f_;
  std::vector<A> g_;
  std::vector<A> u_;
  std::vector<A> v_;
  std::vector<double> expected_u_;
  std::vector<double> expected_v_;
  Index first_ = 0;
};

struct Setting {
  Form form;
  std::string_view type;
  Index extent;
  std::optional<double> gate = {};  // streaming reads
  std::optional<double> aim = {};
};

template <class T, class A>
bench::Job set_up(mpi::Context& context, const Setting& setting) {
  const auto operands = std::make_shared<Operands<T, A>>(context, setting.form, setting.extent);
  bench::Job job;
  job.rewrite = [=] { operands->rewrite(); };
  job.run = [=] { operands->iterate(); };
  job.limits = bench::streaming_reads(operands->limit_memory());
  job.wrong_elements = [=] { return operands->wrong_elements(); };
  if (setting.form == Form::scaling && context.size() == 1) {
    if (const auto gemv = operands->gemv()) {
      job.others = {{gemv->name, [operands, run = gemv->run] { run(); }}};
    }
  }
  return job;
}

bench::Case make_case(mpi::Context& context, const Setting& setting) {
  bench::Case result;
  result.name = fmt::format("{} {} {} ranks={}", name(setting.form), setting.type, setting.extent, context.size());
  if (setting.gate) result.gate.fraction_of_limit = 1 / *setting.gate;
  if (setting.aim) result.aim.fraction_of_limit = 1 / *setting.aim;
  result.set_up = [&context, setting] {
    if (setting.type == "float") return set_up<float, float>(context, setting);
    if (setting.type == "mixed") return set_up<float, double>(context, setting);
    if (setting.type == "bf16") return set_up<simd::BFloat16, float>(context, setting);
    return set_up<double, double>(context, setting);
  };
  return result;
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  if (context.topology().nodes() > 1) return bench::sinkhorn_network_cases(context, quick);
  const std::vector<Index> extents = quick ? std::vector<Index>{211} : std::vector<Index>{2000, 4000, 8000, 16000};
  std::vector<bench::Case> result;
  for (const Index n : extents) {
    const auto add = [&](const Setting& setting) { result.push_back(make_case(context, setting)); };
    const bool is_large = n >= 4000;  // smaller matrices stay in caches
    const auto wanted = [is_large](double reads) { return is_large ? std::optional(reads) : std::nullopt; };
    add({Form::scaling, "double", n, wanted(n == 4000 ? 1.20 : 1.40), wanted(n == 4000 ? 1.10 : 1.15)});
    add({Form::scaling, "float", n, wanted(1.35), wanted(1.15)});
    add({Form::scaling, "mixed", n});
    add({Form::scaling, "bf16", n, wanted(0.85), wanted(0.6)});
    add({Form::in_place, "double", n, wanted(2.1), wanted(1.9)});
    add({Form::in_place, "float", n, wanted(2.1), wanted(1.9)});
    add({Form::logarithmic, "double", n, wanted(2.35), wanted(1.6)});
    add({Form::logarithmic, "float", n});
    add({Form::logarithmic, "mixed", n});
    for (const Form form : {Form::algorithm1, Form::algorithm2, Form::algorithm3}) {
      for (const std::string_view type : {"double", "float"}) {
        const bool is_gated = form == Form::algorithm3 && type == "double";
        add({form, type, n, is_gated ? wanted(9.5) : std::nullopt});
      }
    }
  }
  auto parts = bench::sinkhorn_part_cases(context, quick);
  std::ranges::move(parts, std::back_inserter(result));
  auto points = bench::sinkhorn_point_cases(context, quick);
  std::ranges::move(points, std::back_inserter(result));
  if (quick && context.size() > 1) {
    auto others = bench::sinkhorn_network_cases(context, quick);
    std::ranges::move(others, std::back_inserter(result));
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"sinkhorn",
       "One iteration of the scaling of an N x N matrix to given sums, each rank holding its share of the rows, "
       "against "
       "a streaming read of the same matrix (of floats for bf16); beside it, two matrix-vector products of the BLAS. "
       "On one rank also the rescaling of rows, and that of columns by each of COFFEE's algorithms, by themselves, and "
       "iterations where only some share of the entries is not 0 (density), and sweeps over costs between points, d "
       "coordinates each, against as many exponentials in the first-level cache, or the BLAS's product of coordinates. "
       "Between nodes of the emulated cluster Algorithm 3 of COFFEE, its sums of columns exchanged by MPI_Allreduce, a "
       "ring, leaders of nodes (two-level) or COFFEE's leaders, and rescaled afterwards or chunk by chunk (+overlap), "
       "by "
       "the workers alone (+dealt); and plait's forms, in place and by scaling vectors (ours)",
       {1, 2},
       cases});
}
