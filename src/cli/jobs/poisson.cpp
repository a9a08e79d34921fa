// plait poisson: Poisson's equation on boxes of one to three dimensions.

#include "cli/host/job.hpp"
#include "cli/pictures/axis_plot.hpp"
#include "cli/pictures/svg.hpp"
#include "cli/poisson/run.hpp"

namespace plait::cli {

namespace {

using nlohmann::ordered_json;
using poisson::Method;

std::string convergence_of(const PoissonTask& task, const PoissonOutcome& outcome) {
  if (outcome.errors.empty()) return "<h2>Convergence</h2>\n<p>There was no iteration.</p>\n";
  std::vector<AxisPlot::Point> curve;
  for (const double error : outcome.errors) curve.push_back({static_cast<double>(curve.size() + 1), error});
  std::vector<double> numbers = outcome.errors;
  if (task.tolerance) numbers.push_back(*task.tolerance);
  const bool has_zeros = std::ranges::find(numbers, 0.0) != numbers.end();
  AxisPlot plot({"iteration", Scale::counts, 1, std::max(2.0, static_cast<double>(curve.size()))},
                logarithmic_axis(outcome.norm, numbers, has_zeros), 320,
                fmt::format("The residual after each of {} iterations, on a logarithmic scale", curve.size()));
  if (task.tolerance) plot.level(*task.tolerance, fmt::format("tolerance {:.2g}", *task.tolerance));
  plot.curve("compute", "residual", curve);
  return "<h2>Convergence</h2>\n" + plot.svg() +
         "<p class=\"soft\">What is left of the right side after each iteration, on a logarithmic scale.</p>\n";
}

class Poisson : public Job {
 public:
  void options(Options& options) override {
    options.describe(
        "Solve Poisson's equation -div(k grad u) = f on a box of one to three dimensions",
        R"(f, k and u are arrays of as many extents: values in the middle of cells, or at nodes between the sides of the box. On
each side u is given (value), or k du/dn out of the box (flux), or the opposite side comes next (periodic). Where u is
given nowhere, f and what flows in have to cancel, and the u of mean 0 is found.

SIDES is a list with commas: value, flux or periodic, with :NUMBER or :FILE for what is given, by default 0; after
0=, 0-= or 0+= for both sides of axis 0, or one of them, else for all sides that are not named.

k at faces is an array for each axis, in their order, with one value more along its own: those below points, and at the
upper side. Round a periodic axis that is the first one and left out. On nodes a face is what lies between two of them.

The domain can be a part of the box: points where --mask is not 0 are outside. Nothing flows there (--outside flux), or u
there is that of --start (value), as where a region of a picture is filled in. u of such points is written as --start has it.

Methods: jacobi, chebyshev, sor, cg, pipelined-cg; fft, transforms, for k that is the same everywhere; lu, elimination, for
few points; multigrid by v, w or f cycles, fmg, which begins on the coarsest grid, and mg-cg, conjugate gradients with
multigrid, for k that jumps by any factor and for --mask. u has the same bits on any number of ranks.

Example: flow through a medium of permeability k from side 0- to side 0+
  mpirun -n 4 plait poisson f.npy --coefficient k.npy --boundary flux,0-=value:1,0+=value:0 -o u.vti --report u.html)");
    options
        .reads("IN", task_.input,
               "f: a NumPy .npy or HDF5 file of real numbers, in C or Fortran order, or Matrix Market", io::arrays)
        ->required();
    options.writes("-o,--output", task_.output, kind::field, "u: a .npy or HDF5 file, or VTK's .vti for ParaView")
        ->required();
    add_value(
        options, "--coefficient", task_.k, [](const std::string& text) { return parse_list(text, parse_input); },
        "FILE[,FILE,...]", "k > 0 at the same points; or by face, a file for each axis; 1 by default");
    options.reads("--mask", task_.mask, "Other than 0 at the points that are outside the domain; none by default",
                  io::arrays);
    add_choice(options, "--outside", task_.options.outside.side,
               {{"flux", poisson::Side::flux}, {"value", poisson::Side::value}}, "flux|value",
               "What holds next to these: {}");
    add_value(options, "--spacing", task_.spacing, parse_spacing, "NUMBER[,NUMBER,...]",
              "Distance of points, on all axes or on each; 1 by default");
    add_value(
        options, "--boundary", task_.sides, [](const std::string& text) { return Sides(text); }, "SIDES",
        "What is given on the sides; value:0 by default");
    add_choice(options, "--at", task_.points, {{"cells", poisson::Points::cells}, {"nodes", poisson::Points::nodes}},
               "cells|nodes", "Where values are: {}");
    std::vector<Choice<std::optional<Method>>> methods{{"auto", {}}};
    for (int m = 0; m <= static_cast<int>(Method::multigrid_conjugate_gradients); ++m) {
      methods.push_back({name(static_cast<Method>(m)), static_cast<Method>(m)});
    }
    add_choice(options, "--method", task_.method, methods, "METHOD", "{}");
    add_choice(options, "--smoother", task_.options.multigrid.smoother,
               {{"red-black", poisson::Smoother::red_black}, {"jacobi", poisson::Smoother::jacobi}}, "red-black|jacobi",
               "Of multigrid's cycles: {}");
    add_flag(options, "--project", task_.options.project,
             "Where u is given nowhere: subtract the mean of f that has to be 0");
    options.group(group::iteration);
    add_value(options, "--omega", task_.options.omega, parse_relaxation, "NUMBER",
              "Relaxation of jacobi and sor, below 2; by default 1 for jacobi, or .9 where u is given nowhere on a "
              "part of the "
              "domain, and the best one for sor");
    add_value(
        options, "--steps-per-exchange",
        [this](const std::string& text) {
          task_.options.steps_per_exchange = text == "auto" ? 0 : parse_positive_count(text);
        },
        "COUNT|auto",
        "Steps of jacobi or chebyshev for each exchange, and in an iteration; 1 by default; auto: by the machine "
        "model");
    add_value(
        options, "--tolerance",
        [this](const std::string& text) {
          task_.tolerance = text == "truncation" ? std::optional<double>() : parse_positive_number(text);
        },
        "NUMBER",
        "Of ||b - A u|| / ||b||, 1e-8 by default; where k spans more than a factor of 10, of ||(b - A u)/D|| / "
        "||b/D||, "
        "D the diagonal of A, and of the error of u by estimate; or truncation: until less is left than a quarter of "
        "the error of the discretisation");
    add_value(options, "--max-iterations", task_.options.limits.most_iterations, parse_positive_count, "COUNT",
              "100000 by default; then u is written as it is");
    options.reads("--start", task_.start, "Where the iteration begins; 0 by default", io::arrays);
    options.host({.checkpoint_every = 100, .page = "the convergence, a picture of u and the checks", .trace = true});
  }

  void check() override {
    if (task_.options.outside.side != poisson::Side::flux && !task_.mask) {
      throw UsageError("--outside is given, but --mask is not");
    }
    if (task_.options.omega && task_.method != Method::jacobi && task_.method != Method::sor) {
      throw UsageError("--omega is given, but --method is neither jacobi nor sor");
    }
    if (task_.options.multigrid.smoother != poisson::Smoother::red_black && task_.method &&
        *task_.method < Method::v_cycles) {
      throw UsageError("--smoother jacobi is given, but --method has no cycles");
    }
    for (const InputFile& file : task_.k) files.reads.push_back({"--coefficient", &file.path});
    for (const std::string* path : task_.sides.files()) files.reads.push_back({"--boundary", path});
    if (task_.options.steps_per_exchange != 1 && task_.method != Method::jacobi && task_.method != Method::chebyshev) {
      throw UsageError("--steps-per-exchange is given, but --method is neither jacobi nor chebyshev");
    }
  }

  std::vector<Index> prepare(Work& work) override { return prepare_poisson(work, task_); }
  [[nodiscard]] std::vector<ErrorWord> error_words() const override {
    const auto of_k = [&](std::size_t file) { return file < task_.k.size() ? task_.k[file].path : std::string(); };
    return {{"f", task_.input.path},   {"k", task_.is_by_face ? "--coefficient " + coefficient_files() : of_k(0)},
            {"k[0]", of_k(0)},         {"k[1]", of_k(1)},
            {"k[2]", of_k(2)},         {"start", "--start"},
            {"outside", "--mask"},     {"omega", "--omega"},
            {"method", "--method"},    {"steps_per_exchange", "--steps-per-exchange"},
            {"spacing", "--spacing"},  {"sides", "--boundary"},
            {"boundary", "--boundary"}};
  }

  void run(Work& work) override {
    try {
      outcome_ = run_poisson(work, task_);
    } catch (const ArgumentError& error) {
      std::string text = error.what();
      constexpr std::string_view hint = "(project)";
      if (text.ends_with(hint)) text.replace(text.size() - hint.size(), hint.size(), "(--project)");
      throw ArgumentError(text);
    }
  }

  void report(Report& report, Work& work) override {
    const PoissonOutcome& its = outcome_;
    const std::string shape = io::to_string(task_.input.extents);
    const std::string_view points = report.fact("at", task_.points == poisson::Points::cells ? "cells" : "nodes");
    report.fact("input", task_.input);
    report.fact("extents", task_.grid.extents);
    report.fact("spacing", task_.spacing);
    report.fact("boundary", task_.sides.text());
    report.fact_or_null("coefficient", coefficient_files());
    report.fact("coefficient_by_face", task_.is_by_face);
    report.fact_or_null("start", task_.start.path);
    report.fact_or_null("mask", task_.mask.path);
    report.fact("output", output_json(task_.output));
    report.head("-div({}grad u) = f   f is {}: {} {}", task_.k.empty() ? "" : "k ", task_.input.path, shape, points);
    std::string method(report.fact("method", name(its.method)));
    if (its.has_black_box) method += " with black-box multigrid";
    report.fact("black_box", its.has_black_box);
    if (!its.why.empty()) method += ", as " + its.why;
    if (its.method == Method::jacobi || its.method == Method::sor) method += fmt::format(", omega {:.6g}", its.omega);
    if (its.steps_per_exchange > 1) method += fmt::format(", {} steps an exchange", its.steps_per_exchange);
    if (its.hidden_reductions) method += fmt::format(", {:.0f} % of reductions hidden", 100 * *its.hidden_reductions);
    report.fact("hidden_reductions", its.hidden_reductions);
    report.fact("omega", its.omega);
    report.fact("steps_per_exchange", its.steps_per_exchange);
    report.line("method", method);
    report.row("method", method);
    report.fact_in_row("jump", "largest ratio of k between neighbours", its.jump, "{:.6g}");
    report.fact("parts", its.parts);
    report.fact("outside_points", its.outside_points);
    if (task_.mask) {
      Index points_of_box = 1;
      for (const Index extent : task_.grid.extents) points_of_box *= extent;
      const std::string domain =
          fmt::format("{} of {}, in {}", points_of_box - its.outside_points, counted(points_of_box, "point"),
                      its.parts == 1 ? "one part" : fmt::format("{} parts", its.parts));
      report.line("domain", domain);
      report.row("points inside", domain);
    }
    report.iterations(its.iterated);
    report.fact("errors", its.errors);
    report.fact("tolerance", task_.tolerance);
    const std::string residual =
        report.fact_in_row("residual", "‖b - A u‖/‖b‖, computed again", its.check.residual, "{:.2e}");
    report.fact("weighted_residual", its.check.weighted_residual);
    std::string check = residual + " = ||b - A u||/||b||";
    if (its.check.weighted_residual != its.check.residual) {
      const std::string weighted = fmt::format("{:.2e}", its.check.weighted_residual);
      report.row(its.norm + ", by which it ends", weighted);
      check += fmt::format(", {} = ||(b - A u)/D||/||b/D||, D the diagonal, by which it ends", weighted);
    }
    report.line("check", check + ", computed again");
    const std::optional<double>& left = its.estimated_error;
    const bool is_known = left && std::isfinite(*left);
    report.fact("estimated_error", is_known ? left : std::nullopt);
    if (left) {
      const std::string off = is_known ? fmt::format("{:.1e} of its largest value, by estimate", *left) : "not known";
      report.line("left", "of the iteration, u is off by: " + off);
      report.row("what the iteration leaves u off by", off);
    }
    double inflow = 0;
    std::vector<std::array<double, 2>> sides;
    std::vector<std::string> by_side;
    for (std::size_t a = 0; a < task_.grid.extents.size(); ++a) {
      sides.push_back(its.balance.inflow[a]);
      for (std::size_t s = 0; s < 2; ++s) {
        inflow += sides[a][s];
        by_side.push_back(fmt::format("{}{} {:.6g}", a, s == 0 ? "-" : "+", sides[a][s]));
      }
    }
    report.fact("inflow", sides);
    report.fact("inflow_from_outside", its.balance.from_outside);
    if (task_.mask && task_.options.outside.side == poisson::Side::value) {
      inflow += its.balance.from_outside;
      by_side.push_back(fmt::format("from outside {:.6g}", its.balance.from_outside));
    }
    const double off =
        report.fact("imbalance", its.balance.size > 0 ? std::abs(its.balance.source + inflow) / its.balance.size : 0);
    report.fact_in_row("source", "integral of f", its.balance.source, "{:.8g}");
    report.row("inflow through sides", "{}", fmt::join(by_side, "<br>"));
    const std::optional<double> subtracted =
        report.fact("subtracted_mean", task_.options.project ? its.subtracted : std::nullopt);
    if (task_.options.project) {
      const std::string text = subtracted ? fmt::format("{:.8g}, subtracted from f", *subtracted)
                                          : std::string("none is subtracted, as u is given on a side");
      report.line("mean", text);
      report.row("mean of f, with what flows in", text);
    }
    report.line("balance", "f{} makes {:.6g}, {:.6g} flows in ({}), off by {:.1e} of all",
                subtracted ? " less its mean" : "", its.balance.source, inflow, fmt::join(by_side, ", "), off);
    report.row("imbalance, as a part of all", "{:.2e}", off);
    const auto& level = its.discretisation;
    report.fact("discretisation.largest", level ? std::optional(level->largest) : std::nullopt);
    report.fact("discretisation.mean_square", level ? std::optional(level->mean_square) : std::nullopt);
    const std::string estimate = level ? fmt::format("about {:.2e}, the largest {:.2e}, estimated by a second grid",
                                                     level->mean_square, level->largest)
                                       : "unknown: there is no second grid";
    report.line("error", "of the discretisation: " + estimate);
    report.row("error of the discretisation", estimate);
    report.line("u", "{:.8g} to {:.8g}", report.fact("lowest", its.lowest), report.fact("highest", its.highest));
    work.report_end(report, "");
    report.tile(fmt::format("{:.1e}", its.check.residual), "‖b - A u‖/‖b‖");
    report.tile(level ? fmt::format("{:.1e}", level->mean_square) : "-", "error of the discretisation");
    report.tile(seconds_text(work.seconds), "in all");
    if (its.iterated.state.end != iterate::End::converged) {
      print_warning("{}: {}", status_of(its.iterated.state.end), its.iterated.state.reason);
    }
    double volume = 1;
    for (std::size_t a = 0; a < task_.spacing.size(); ++a) {
      volume *= task_.spacing[a] * static_cast<double>(task_.grid.extents[a]);
    }
    constexpr double small = 1e-3, roundoff = 1e-12;
    if (off > std::max(task_.tolerance.value_or(0), small) &&
        std::abs(its.balance.source + inflow) > roundoff * volume * its.check.right_side) {
      const bool is_at_limit = its.iterated.state.end == iterate::End::limit;
      print_warning("what f makes and what flows in are off by {:.2g} % of all: for flows give {}", 100 * off,
                    is_at_limit       ? "a larger --max-iterations"
                    : task_.tolerance ? "a smaller --tolerance"
                                      : "a number as --tolerance");
    }
  }

  void draw(Report& report, Work& work) override {
    const std::string_view status = status_of(outcome_.iterated.state.end);
    report.page_head(task_.input.path, fmt::format("{} {}; {}</p>\n<p>{}: {}.", io::to_string(task_.input.extents),
                                                   task_.points == poisson::Points::cells ? "cells" : "nodes",
                                                   counted(work.context.size(), "rank"), status,
                                                   svg::escaped(outcome_.iterated.state.reason)));
    report.tile(status, "status");
    report.figure(convergence_of(task_, outcome_));
    report.figure(outcome_.picture.figure("u") +
                  (outcome_.outside_points == 0 ? ""
                   : task_.input.extents.dimensions == 1
                       ? "<p class=\"soft\">Points outside of the domain are left out.</p>\n"
                       : "<p class=\"soft\">Points outside of the domain are grey.</p>\n"));
  }

 private:
  /// As --coefficient was given them.
  [[nodiscard]] std::string coefficient_files() const {
    std::string files;
    for (const InputFile& file : task_.k) files += (files.empty() ? "" : ",") + file.path;
    return files;
  }

  PoissonTask task_;
  PoissonOutcome outcome_;
};

}  // namespace

PLAIT_JOB(poisson, Poisson)

}  // namespace plait::cli
