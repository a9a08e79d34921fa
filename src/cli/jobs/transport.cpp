// plait transport: the plan of least cost between masses, with an entropy; of one pair of masses or of several, with
// the costs of a file or between points.

#include <limits>

#include "plait/io/npy/npy.hpp"

#include "cli/scaling/cost_job.hpp"
#include "cli/scaling/points_sketch.hpp"

namespace plait::cli {

namespace {

/// "RHO", or "RHO,RHO" of which one may be inf.
sinkhorn::Rho parse_rho(std::string_view text) {
  const auto one = [](std::string_view number) {
    return number == "inf" ? std::numeric_limits<double>::infinity() : parse_positive_number(number);
  };
  const auto comma = text.find(',');
  const sinkhorn::Rho rho{one(text.substr(0, comma)),
                          one(text.substr(comma == std::string_view::npos ? 0 : comma + 1))};
  if (!rho.is_balanced()) return rho;
  throw ArgumentError(fmt::format("{} is balanced transport; expected a finite number for rows or columns", text));
}

constexpr const char* transport_footer =
    R"(The plan P >= 0 with these masses minimises  sum C P + epsilon sum P (log P - 1).  It is
exp((f + g - C) / epsilon), f the potentials of the rows and g of the columns. A small epsilon is approached from a
larger one. Unbalanced, RHO KL(sums | masses) is added, with KL(p | q) = sum p log(p / q) - p + q.

Example: the plan between given masses
  mpirun -n 2 plait transport C.npy --epsilon 0.01 --rows a.npy --columns b.npy -o P.npy
Example: what it costs to move one cloud of points to another, and where each point goes
  mpirun -n 2 plait transport --points X.npy Y.npy --epsilon 0.01 --map moved.npy
Example: move the pixels of one image to those of another one, at squared distances in pixels
  mpirun -n 2 plait transport --images a.npy b.npy --epsilon 4 --map moved.npy
Example: leave where it is what costs too much to move
  mpirun -n 2 plait transport C.npy --epsilon 0.01 --unbalanced 0.5 --rows a.npy --columns b.npy -o P.npy)";

class TransportJob final : public CostJob {
 public:
  void options(Options& command) override {
    command.describe("Transport mass at the least cost, with an entropy added", transport_footer);
    command.reads("IN", file_, fmt::format("C, the costs: {}; +infinity forbids an entry", matrix_file));
    command.writes("-o,--output", options_.output, kind::npy, "The plan, as a .npy file; may be IN itself", {"IN"});
    add_vectors(command, options_, "potential");
    add_marginals(command, options_, "Masses of the rows, a vector; 1/M each by default");
    add_precision(command, options_, {Precision::f64, Precision::f32, Precision::mixed});
    add_limits(command, options_, most_with_last_epsilon);
    add_start(command, options_, "potentials");
    add_points(command, options_);
    add_images(command, options_, 2,
               "Instead of IN and masses: arrays of 1 to 3 dimensions and the same extents, each divided by its sum "
               "unless with --unbalanced; costs between elements are sums over axes, so that no pair is looked at");
    command.writes("--map", map_, kind::npy, "Where each point of X, or element of A, goes on average, M x d");
    add_epsilon(command, options_);
    add_value(
        command, "--unbalanced", options_.how.rho, parse_rho, "RHO[,RHO]",
        "Let sums miss the masses at a cost of RHO KL(sums | masses), of rows and columns, or each its own, of which "
        "one may be inf; the masses need not have one total");
    command.host(host_options());
  }

  void check() override {
    check_costs("f64 or f32");
    if (makes_costs() || map_.empty()) return;
    throw UsageError("--map is given, but --points or --images is missing: what is mapped?");
  }

 private:
  template <class A>
  using Transports = std::vector<sinkhorn::Transport<A>>;

  /// The costs of a file, in whose place the plan comes.
  template <class T, class A>
  struct StoredCosts {
    TransportJob& job;
    layout::DistributedMatrix<T> matrix = job.read_dense<T>(job.file_);
    matrix_view<T> rows = matrix.tiles()[0];

    [[nodiscard]] Index own_rows() const { return rows.rows(); }
    [[nodiscard]] Transports<A> transports(const std::vector<sinkhorn::Marginals>& marginals,
                                           const sinkhorn::TransportOptions& how, const std::vector<A>& start) const {
      if (marginals.size() > 1) return sinkhorn::transport_batch<T, A>(job.context(), rows, marginals, how);
      return {sinkhorn::transport<T, A>(job.context(), rows, marginals[0], how, start)};
    }
    template <class Visit>
    void for_each_row(const sinkhorn::Transport<A>& found, const Visit& visit) const {
      sinkhorn::for_each_plan_row<T, A>(rows, job.options_.how.epsilon, found.f, found.g, visit, found.offsets,
                                        job.threads());
    }
    [[nodiscard]] Index swept_bytes(sinkhorn::Domain domain) const {
      const bool are_factors = domain == sinkhorn::Domain::factors;
      return layout::elements(job.file_.shape) * (are_factors ? Index{sizeof(A)} : Index{sizeof(T)});
    }

    /// Makes the plan, and looks at it.
    [[nodiscard]] sinkhorn::MarginalErrors make(const sinkhorn::Transport<A>& found,
                                                const sinkhorn::CheckedMarginals& wanted) {
      sinkhorn::transport_plan_in_place<T, A>(rows, job.options_.how.epsilon, found.f, found.g, found.offsets,
                                              job.threads());
      return job.looked_at<T>(rows, wanted);
    }
    void write(const sinkhorn::Transport<A>&, const sinkhorn::CheckedMarginals&) {
      write_rows(job.work(), job.options_.output, std::move(matrix), job.file_.order);
    }
  };

  /// Costs between points, which are not stored, nor is the plan: it is written a few rows at a time.
  template <class A>
  struct MadeCosts {
    TransportJob& job;
    PointsRead<A> points = job.read_points<A>();
    const sinkhorn::PointClouds<A>& clouds = points.clouds;
    std::optional<io::NpyRows<A>> file = {};

    [[nodiscard]] Index own_rows() const { return clouds.x.rows(); }
    [[nodiscard]] Transports<A> transports(const std::vector<sinkhorn::Marginals>& marginals,
                                           const sinkhorn::TransportOptions& how, const std::vector<A>& start) const {
      if (marginals.size() > 1) return sinkhorn::transport_batch<A>(job.context(), clouds, marginals, how);
      return {sinkhorn::transport<A>(job.context(), clouds, marginals[0], how, start)};
    }
    template <class Visit>
    void for_each_row(const sinkhorn::Transport<A>& found, const Visit& visit) const {
      sinkhorn::for_each_plan_row<A>(clouds, job.options_.how.epsilon, found.f, found.g, visit, job.threads());
    }
    [[nodiscard]] Index swept_bytes(sinkhorn::Domain) const { return 0; }

    [[nodiscard]] sinkhorn::MarginalErrors make(const sinkhorn::Transport<A>& found,
                                                const sinkhorn::CheckedMarginals& wanted) {
      const std::string& path = job.options_.output;
      const layout::Shape shape = job.file_.shape;
      constexpr Index block_bytes = Index{4} << 20;
      const Index block_rows = std::max(Index{1}, block_bytes / std::max(Index{1}, shape.columns * Index{sizeof(A)}));
      if (!path.empty()) {
        job.work().meter.stage("writing " + path, 0, layout::elements(shape) * Index{sizeof(A)});
        file.emplace(job.context(), path, shape);
      }
      const bool is_drawn = !job.settings.page.empty() && !clouds.grid;
      sinkhorn::MarginalSums sums(wanted);
      std::optional<MatrixPicture> picture;
      std::optional<LinkSketcher> links;
      mpi::agreed(job.context(), [&] {
        if (!file && !is_drawn) {  // no row is looked at by itself
          return sinkhorn::plan_sums<A>(job.context(), clouds, job.options_.how.epsilon, found.f, found.g, sums.rows,
                                        sums.columns);
        }
        if (is_drawn) {
          picture.emplace(shape);
          links.emplace(wanted, clouds.y.columns());
        }
        std::vector<A> block;
        if (file) block.reserve(at(std::min(block_rows, own_rows()) * shape.columns));
        Index first = 0;
        for_each_row(found, [&](Index i, std::span<const A> row) {
          sums.add(i, row);
          if (picture) picture->add_row(wanted.first_row + i, row, [](A entry) { return static_cast<double>(entry); });
          if (links) links->add(i, row);
          if (!file) return;
          block.insert(block.end(), row.begin(), row.end());
          if (i + 1 - first < block_rows && i + 1 < own_rows()) return;
          file->write(wanted.first_row + first, block);
          block.clear();
          first = i + 1;
        });
      });
      const auto errors = sums.errors(job.context());
      if (!is_drawn) return errors;
      job.page_.sketch = sketch_of(job.context(), std::move(*picture), sums);
      job.links_ = links->taken(job.context(), clouds, points.origin);
      return errors;
    }
    void write(const sinkhorn::Transport<A>& found, const sinkhorn::CheckedMarginals& wanted) {
      if (file) file->commit();
      const bool is_drawn = !job.settings.page.empty() && clouds.grid;
      const std::string& path = job.map_;
      if (path.empty() && !is_drawn) return;
      const auto map = mpi::agreed(job.context(), [&] {
        auto places = sinkhorn::barycentric_projection<A>(clouds, job.options_.how.epsilon, found.g, job.threads());
        const std::vector<double>& origin = points.origin;
        for (std::size_t n = 0; n < places.size() && !origin.empty(); ++n) {
          places[n] = static_cast<A>(static_cast<double>(places[n]) + origin[n % origin.size()]);
        }
        return places;
      });
      if (is_drawn) job.draw_images(wanted, map);
      if (path.empty()) return;
      const Index dimensions = clouds.grid ? clouds.grid->dimensions : clouds.x.columns();
      io::NpyRows<A> rows(job.context(), path, {job.file_.shape.rows, dimensions});
      mpi::agreed(job.context(), [&] { rows.write(wanted.first_row, map); });
      rows.commit();
    }
  };

  std::vector<Index> look_at_files() override {
    describe_costs();
    files_ = MarginalFiles(context(), options_, file_.shape);
    mpi::agreed(context(), [&] {
      files_.expect_one_for_all(options_, settings.checkpoint);
      if (!map_.empty()) files_.expect_one_for("--map", "vectors");
    });
    if (!makes_costs()) return phases_of(file_, kernel_bytes(), files_.problems());
    if (has_images()) return {bytes_of_images(12)};
    const Index rows = options_.points[0].shape.rows / context().size() + 1;
    const Index columns = file_.shape.columns;
    const Index vectors = bytes_of_vectors(rows, columns, files_.problems());
    // Each thread has exponentials of eight rows, and sums of columns that it has or has yet to add.
    const Index of_thread = (8 + 2 * files_.problems()) * columns * element_bytes(precision_);
    const Index blocks = context().topology().threads() * of_thread;
    return {(3 * rows + 4 * columns) * options_.points[0].shape.columns * Index{sizeof(double)} + vectors + blocks};
  }

  void compute() override {
    with_numbers_of(precision_, [&]<class T, class A>() {
      if (!makes_costs()) return transport<A>(StoredCosts<T, A>{*this});
      if constexpr (std::is_same_v<T, A>) transport<A>(MadeCosts<A>{*this});
    });
  }

  template <class A, class Costs>
  void transport(Costs costs) {
    files_.read(work(), costs.own_rows());
    files_.make_uniform(costs.own_rows());
    const auto marginals = files_.of_each();
    const std::size_t count = marginals.size();
    const auto start = read_start<A>();
    auto identity = CostJob::identity({}, {options_.rows, options_.columns, options_.start});
    identity.settings["rho of the rows"] = number_or_null(options_.how.rho.rows);
    identity.settings["rho of the columns"] = number_or_null(options_.how.rho.columns);
    identity.own_rows = costs.own_rows();
    begin_iterations(count == 1 ? "transporting" : fmt::format("transporting {} pairs of masses", count),
                     std::move(identity));
    const auto how = transports();
    Transports<A> found = costs.transports(marginals, how, start);
    end_iterations();

    const auto wanted = sinkhorn::wanted_masses<A>(context(), marginals, how.rho, found);
    const auto errors = count == 1 ? std::vector{costs.make(found[0], wanted[0])} : errors_of(costs, found, wanted);
    std::vector<Problem> problems;
    auto domain = sinkhorn::Domain::factors;
    std::vector<std::vector<double>> f;
    std::vector<std::vector<double>> g;
    for (std::size_t k = 0; k < count; ++k) {
      sinkhorn::Transport<A>& each = found[k];
      values_.push_back(each);
      if (each.stages.back().domain != sinkhorn::Domain::factors) domain = each.stages.back().domain;
      f.push_back(as_doubles(each.f));
      g.push_back(as_doubles(each.g));
      sinkhorn::CostOffsets::add(f.back(), each.offsets.rows);
      sinkhorn::CostOffsets::add(g.back(), each.offsets.columns);
      problems.push_back({each.outcome, errors[k], iterations_of(each.stages), each.stages});
    }
    conclude(std::move(problems));
    page_.swept_bytes = costs.swept_bytes(domain);
    if (count == 1) costs.write(found[0], wanted[0]);
    write_vectors(f, g);
  }

  /// The masses of images, and how far they go along each axis on the average.
  template <class A>
  void draw_images(const sinkhorn::CheckedMarginals& moved, const std::vector<A>& map) {
    draw_masses(files_.of_each()[0]);
    if (!options_.how.rho.is_balanced()) draw_masses({moved.rows, moved.columns}, "What is moved of ");
    const sinkhorn::NodeGrid nodes = grid();
    const auto dimensions = at(extents_.dimensions);
    Index behind = nodes.nodes();  // nodes of the axes behind this one
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      behind /= nodes.extents[axis];
      std::vector<double> ways(moved.rows.size());
      for (std::size_t i = 0; i < ways.size(); ++i) {
        const Index at_node = (moved.first_row + static_cast<Index>(i)) / behind % nodes.extents[axis];
        const double from = nodes.spacing[axis] * static_cast<double>(at_node);
        if (moved.rows[i] > 0) ways[i] = static_cast<double>(map[i * dimensions + axis]) - from;
      }
      draw_image(fmt::format("How far mass goes along axis {}", axis), ways);
    }
  }

  /// Of several plans, which are made row by row, and not kept.
  template <class A, class Costs>
  std::vector<sinkhorn::MarginalErrors> errors_of(const Costs& costs, const Transports<A>& found,
                                                  const std::vector<sinkhorn::CheckedMarginals>& wanted) {
    std::vector<sinkhorn::MarginalSums> sums;
    mpi::agreed(context(), [&] {
      sums.reserve(found.size());
      for (std::size_t k = 0; k < found.size(); ++k) {
        sinkhorn::MarginalSums& of_plan = sums.emplace_back(wanted[k]);
        costs.for_each_row(found[k], [&](Index i, std::span<const A> row) { of_plan.add(i, row); });
      }
    });
    return sinkhorn::errors_of(context(), sums);
  }

  [[nodiscard]] std::string headline() const override {
    const std::size_t count = problems_.size();
    return fmt::format("P = exp((f + g - C) / epsilon){}   {}",
                       count == 1 ? "" : fmt::format(" of {} pairs of masses", count), costs_text());
  }

  void report_own(Report& report, PageFacts& page) const override {
    const bool is_one = problems_.size() == 1;
    report_marginals(report);
    report.fact_in_row("epsilon", "epsilon", options_.how.epsilon);
    report.fact("output", output_json(options_.output));
    report.fact_or_null("row_potentials", options_.of_rows);
    report.fact_or_null("column_potentials", options_.of_columns);
    report.fact("rho", nlohmann::ordered_json{{"rows", number_or_null(options_.how.rho.rows)},
                                              {"columns", number_or_null(options_.how.rho.columns)}});
    is_one ? report_one(report, page, values_[0]) : report_several(report, page);
  }

  void report_one(Report& report, PageFacts& page, const sinkhorn::TransportValues& values) const {
    const auto aim = [](double rho) { return std::isfinite(rho) ? "optimal" : "wanted"; };
    page.aims = {aim(options_.how.rho.rows), aim(options_.how.rho.columns)};
    page.number = {fmt::format("{:.6g}", values.cost), "cost of the transport"};
    if (links_) page.figures.push_back(drawn(*links_, made_of()));
    report.fact_in_row("cost", "cost", values.cost);
    report.row("what is minimised: cost with the entropy", "{:.10g}", values.dual + values.gap());
    report.fact_in_row("dual", "dual value", values.dual);
    report.fact_in_row("duality_gap", "duality gap", values.gap(), "{:.2e}");
    report.line("cost", "{:.10g}; with entropy {:.10g}, duality gap {:.2g}", values.cost, values.dual + values.gap(),
                values.gap());
    report.fact("marginal_kl",
                nlohmann::ordered_json{{"rows", values.row_divergence}, {"columns", values.column_divergence}});
    if (!options_.how.rho.is_balanced()) {
      const auto& [rows, columns] = options_.how.rho;
      report.row("rho of the rows", "{:.10g}", rows);
      report.row("KL(sums of rows | masses)", "{:.10g}", values.row_divergence);
      report.row("rho of the columns", "{:.10g}", columns);
      report.row("KL(sums of columns | masses)", "{:.10g}", values.column_divergence);
      report.line("mass", "{:.6g} moved; rows: rho {}, KL {:.6g}; columns: rho {}, KL {:.6g}", check_.mass, rows,
                  values.row_divergence, columns, values.column_divergence);
    }
    report_stages(report);
    if (!makes_costs()) return;
    report.fact_or_null("map", map_);
    if (!map_.empty()) report.line("map", map_);
  }

  void report_several(Report& report, PageFacts& page) const {
    std::vector<double> costs;
    std::vector<nlohmann::ordered_json> of_each;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      costs.push_back(values_[k].cost);
      of_each.push_back({{"cost", values_[k].cost},
                         {"dual", values_[k].dual},
                         {"duality_gap", values_[k].gap()},
                         {"stages", json_of(problems_[k].stages)}});
    }
    report_problems(report, costs, of_each);
    page.next_stage = "another problem, or a smaller epsilon";
  }

  std::string map_;  // where the barycentric projection goes; empty: nowhere
  MarginalFiles files_;
  std::vector<sinkhorn::TransportValues> values_;
  std::optional<PointsSketch> links_;
};

}  // namespace

PLAIT_JOB(transport, TransportJob)

}  // namespace plait::cli
