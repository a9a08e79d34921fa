#include "bench/sinkhorn/sinkhorn_network.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "plait/base/memory.hpp"
#include "plait/layout/shape.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/sinkhorn/coffee/scale_in_place.hpp"

#include "bench/harness/mpi_name.hpp"
#include "bench/sinkhorn/factor_iteration.hpp"
#include "bench/sinkhorn/sinkhorn_entry.hpp"
#include "bench/sinkhorn/streaming_read.hpp"

namespace plait::bench {

namespace {

using sinkhorn::SumWay;

constexpr Index riders = 1;

enum class Form : unsigned char { algorithm3, in_place, scaling };

/// How an iteration is carried out.
struct Way {
  Form form = Form::algorithm3;
  SumWay sums = SumWay::chosen;
  bool overlaps = false;
  bool deals_rows = false;

  [[nodiscard]] std::string name() const {
    if (form == Form::scaling) return "ours";
    std::string text = form == Form::in_place ? "in-place" : fmt::format("algorithm-3 {}", sinkhorn::name(sums));
    if (overlaps) text += "+overlap";
    if (deals_rows) text += "+dealt";
    return text;
  }
};

constexpr Way coffee{Form::algorithm3, SumWay::coffee, true};
constexpr Way coffee_in_turn{Form::algorithm3, SumWay::coffee};
constexpr Way by_mpi{Form::algorithm3, SumWay::mpi};

/// This rank's rows, all of them alike but for their numbers; all marginals are 1.
class Rows {
 public:
  Rows(const mpi::Context& context, layout::Shape shape)
      : elements_(shape.rows * shape.columns),
        view_(elements_.data(), shape.rows, shape.columns, std::max(Index{1}, shape.columns), StorageOrder::row_major),
        first_(context.rank() * shape.rows),
        of_rows_(static_cast<std::size_t>(shape.rows), 1.0),
        of_columns_(static_cast<std::size_t>(shape.columns), 1.0) {
    expect(context);
  }

  void rewrite() const {
    for (Index i = 0; i < view_.rows(); ++i) {
      for (Index j = 0; j < view_.columns(); ++j) view_(i, j) = sinkhorn_entry(first_ + i, j);
    }
  }

  [[nodiscard]] const matrix_view<double>& view() const noexcept { return view_; }
  [[nodiscard]] const std::vector<double>& of_rows() const noexcept { return of_rows_; }
  [[nodiscard]] const std::vector<double>& of_columns() const noexcept { return of_columns_; }
  [[nodiscard]] Index first() const noexcept { return first_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(elements_.span()); }

  [[nodiscard]] Index wrong_columns(std::span<const double> v) const { return wrong(v, expected_v_); }
  [[nodiscard]] Index wrong_rows(std::span<const double> u) const { return wrong(u, expected_u_); }

 private:
  [[nodiscard]] static Index wrong(std::span<const double> found, const std::vector<double>& expected) {
    Index count = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      if (!(std::abs(found[k] - expected[k]) <= 1e-10 * expected[k])) ++count;
    }
    return count;
  }

  /// The factors after one iteration, by plain loops.
  void expect(const mpi::Context& context) {
    expected_v_.assign(of_columns_.size(), 0);
    for (Index i = 0; i < view_.rows(); ++i) {
      double sum = 0;
      for (Index j = 0; j < view_.columns(); ++j) sum += sinkhorn_entry(first_ + i, j);
      expected_u_.push_back(1 / sum);
      for (Index j = 0; j < view_.columns(); ++j) {
        expected_v_[static_cast<std::size_t>(j)] += sinkhorn_entry(first_ + i, j) / sum;
      }
    }
    mpi::all_reduce(context.comm(), std::span<double>(expected_v_), mpi::Operation::sum());
    for (double& value : expected_v_) value = 1 / value;
  }

  Array<double> elements_;
  matrix_view<double> view_;
  Index first_;
  std::vector<double> of_rows_;
  std::vector<double> of_columns_;
  std::vector<double> expected_u_;
  std::vector<double> expected_v_;
};

/// An iteration on rows that others may use in between. Collective to make.
class Runner {
 public:
  Runner(mpi::Context& context, std::shared_ptr<Rows> rows, const Way& way) : rows_(std::move(rows)), way_(way) {
    const Index columns = rows_->view().columns();
    of_rows_ = rows_->of_rows();
    if (way.deals_rows) {
      for (std::size_t i = 0; i < of_rows_.size(); ++i)
        of_rows_[i] = static_cast<double>(rows_->first() + static_cast<Index>(i));
      dealt_.emplace(context, rows_->view(), of_rows_);  // with their numbers
      of_rows_.assign(dealt_->marginals().size(), 1.0);
    }
    make_iteration();
    sums_over_ranks_.emplace(context, way.sums, columns, riders, way.overlaps ? iteration_.get() : nullptr);
    sums_.resize(static_cast<std::size_t>(columns + riders));
  }

  void rewrite() {
    if (dealt_) {
      const matrix_view<double> on = dealt_->rows();
      for (Index i = 0; i < on.rows(); ++i) {
        const auto number = static_cast<Index>(dealt_->marginals()[static_cast<std::size_t>(i)]);
        for (Index j = 0; j < on.columns(); ++j) on(i, j) = sinkhorn_entry(number, j);
      }
    }
    if (way_.form == Form::in_place) make_iteration();
    std::ranges::fill(iteration_->factors().u, 1.0);
    std::ranges::fill(iteration_->factors().v, 1.0);
  }

  void run() {
    std::ranges::fill(sums_, 0.0);
    const std::span<double> sums = std::span(sums_).first(sums_.size() - riders);
    iteration_->rows(sums);
    (*sums_over_ranks_)(sums_);
    if (!way_.overlaps) iteration_->columns(sums);
  }

  [[nodiscard]] Index wrong_elements() const {
    Index wrong = dealt_ ? 0 : rows_->wrong_rows(iteration_->factors().u);
    if (way_.form != Form::in_place)
      wrong += rows_->wrong_columns(iteration_->factors().v);  // these wait for the next sweep
    return wrong;
  }

 private:
  void make_iteration() {
    const matrix_view<double> on = dealt_ ? dealt_->rows() : rows_->view();
    if (way_.form == Form::scaling) {
      iteration_ = std::make_unique<FactorIteration<double, double>>(on, of_rows_, rows_->of_columns());
    } else {
      const auto form = way_.form == Form::in_place ? sinkhorn::InPlaceForm::fused : sinkhorn::InPlaceForm::blocked;
      iteration_ = sinkhorn::in_place_iteration<double, double>(form, on, of_rows_, rows_->of_columns());
    }
  }

  std::shared_ptr<Rows> rows_;
  Way way_;
  std::optional<sinkhorn::DealtRows<double>> dealt_;
  std::vector<double> of_rows_;
  std::unique_ptr<sinkhorn::InPlaceIteration<double>> iteration_;
  std::optional<sinkhorn::ExchangedSums<double>> sums_over_ranks_;
  std::vector<double> sums_;
};

struct Setting {
  layout::Shape shape;  // of a rank's rows
  Way way;
  std::optional<Way> peer;
};

Job set_up(mpi::Context& context, const Setting& setting) {
  const auto rows = std::make_shared<Rows>(context, setting.shape);
  rows->rewrite();
  const auto own = std::make_shared<Runner>(context, rows, setting.way);
  const auto peer = setting.peer ? std::make_shared<Runner>(context, rows, *setting.peer) : nullptr;
  const auto last = std::make_shared<Runner*>(own.get());
  Job job;
  job.rewrite = [=] {
    rows->rewrite();
    own->rewrite();
    if (peer) peer->rewrite();
  };
  job.run = [=] { (*last = own.get())->run(); };
  if (peer) job.peer = Contender{setting.peer->name(), [=] { (*last = peer.get())->run(); }};
  job.limits = streaming_reads(rows->bytes());
  job.wrong_elements = [=] { return (*last)->wrong_elements(); };
  return job;
}

/// Algorithm 3 by each exchange; COFFEE's overlap against its forms that do one thing after the other; plait's against
/// COFFEE's overlap.
std::vector<std::pair<Way, std::optional<Way>>> compared(bool shares_nodes) {
  std::vector<std::pair<Way, std::optional<Way>>> result{
      {by_mpi, {}},
      {{Form::algorithm3, SumWay::ring}, by_mpi},
      {{Form::algorithm3, SumWay::two_level}, by_mpi},
      {coffee_in_turn, by_mpi},
      {coffee, coffee_in_turn},
      {coffee, by_mpi},
  };
  if (shares_nodes) result.push_back({{Form::algorithm3, SumWay::coffee, true, true}, coffee});
  result.push_back({{Form::in_place}, coffee});
  result.push_back({{Form::scaling}, coffee});
  return result;
}

}  // namespace

std::vector<Case> sinkhorn_network_cases(mpi::Context& context, bool quick) {
  const char* const text = std::getenv("PLAIT_CLUSTER_RATE");
  const double rate = text == nullptr ? 0 : std::strtod(text, nullptr);
  const std::string shown = rate >= 1e11 ? " unlimited" : rate > 0 ? fmt::format(" rate={:g}mbit", rate / 1e6) : "";
  const mpi::NodeTopology& topology = context.topology();
  const bool is_promised = rate == 1e9 && topology.nodes() == 2 && context.size() == 2;
  std::vector<layout::Shape> shapes{{1600, 28800}, {28800, 1600}};
  if (quick) shapes = {{31, 700}, {70, 31}};
  std::vector<Case> result;
  for (const layout::Shape shape : shapes) {
    for (const auto& [way, peer] : compared(topology.ranks_per_node() > 1)) {
      Case one;
      // The peer stands beside the case, but one way has two of them.
      const bool is_second = way.overlaps && !way.deals_rows && peer && peer->sums == SumWay::mpi;
      one.name = fmt::format("{}{} {}x{} a rank nodes={} ranks={}{} {}", way.name(), is_second ? " against mpi" : "",
                             shape.rows, shape.columns, topology.nodes(), context.size(), shown, mpi_name());
      one.set_up = [&context, setting = Setting{shape, way, peer}] { return set_up(context, setting); };
      one.repetitions = {5, 20, 2};
      if (is_promised && shape == shapes.front()) {
        if (way.form == Form::scaling) {
          one.gate.speedup_over_peer = 1.8, one.aim.speedup_over_peer = 2.5;
        } else if (way.overlaps && peer && peer->sums == SumWay::coffee) {
          one.gate.speedup_over_peer = 1.2, one.aim.speedup_over_peer = 1.4;
        }
      }
      result.push_back(std::move(one));
    }
  }
  return result;
}

}  // namespace plait::bench
