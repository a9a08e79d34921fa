#include "cli/host/job.hpp"

#include "plait/base/log_setting.hpp"
#include "plait/io/machine_file.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/report/trace_json.hpp"

namespace plait::cli {

namespace {

// PLAIT_LOG=choices: rank 0 prints how operations are carried out, once for each way.
void print_choices_if_wanted(mpi::Context& context) {
  if (context.rank() != 0) return;
  const LogSetting setting = log_setting();
  if (!setting.complaint.empty()) print_warning(setting.complaint);
  if (!setting.choices) return;
  context.choices().tell([](const std::string& line) { print_aside(fmt::format("plait: {}\n", line)); });
}

/// "rank 3: ", with which an error may begin; without, empty.
std::string_view rank_of(std::string_view error) {
  const std::size_t digits = error.starts_with("rank ") ? error.find_first_not_of("0123456789", 5) : 0;
  const bool names_rank = digits > 5 && digits < error.size() && error.substr(digits).starts_with(": ");
  return error.substr(0, names_rank ? digits + 2 : 0);
}

/// Does `f`. Errors of files, "old.npy: ...", begin with the option that has it, too: "--from old.npy: ...".
template <class F>
void with_options_of(const JobFiles& files, F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const FileError& error) {
    const std::string_view text = error.what();
    const std::string rank(rank_of(text));
    const std::string_view rest = text.substr(rank.size());
    for (const JobFiles::Declared& file : files.reads) {
      if (file.path->empty() || !rest.starts_with(*file.path + ":")) continue;
      throw FileError(rank + files.called(*file.path) + std::string(rest.substr(file.path->size())));
    }
    throw;
  }
}

// Hours may pass before the output is written, so what would stop it then is looked for now.
void expect_writable(mpi::Context& context, const JobFiles& files) {
  for (const JobFiles::Declared& each : files.writes) {
    if (each.path->empty()) continue;
    if (each.is_matrix) {
      io::expect_writable_matrix(context, *each.path);
    } else {
      io::on_rank_zero(context, [&] { io::AsideFile::try_out(*each.path); });
    }
  }
}

}  // namespace

void use_machine(mpi::Context& context, const std::string& path) {
  if (!path.empty()) return context.use_machine(io::read_machine(context, path));
  const auto of_variable = machine_file({});
  const std::string default_path = io::text_of_rank_zero(context, of_variable.empty() ? "" : of_variable[0].path);
  if (default_path.empty()) return;
  try {
    context.use_machine(io::read_machine(context, default_path));
  } catch (const FileError& error) {
    throw FileError(fmt::format("environment variable PLAIT_MACHINE: {}", error.what()));
  }
}

void expect_real(const InputFile& file) {
  if (!io::is_complex(file.dtype)) return;
  throw ArgumentError(fmt::format("{} has elements of {}, expected real ones", file.path, io::name(file.dtype)));
}

Work::Work(mpi::Context& all_ranks, const Settings& its_settings, const JobFiles& its_files)
    : context(all_ranks), settings(its_settings), files(its_files), meter(all_ranks, its_settings.meter()) {}

std::string Work::in_words(std::string_view error, const std::vector<ErrorWord>& words) const {
  const std::string rank(rank_of(error));
  error.remove_prefix(rank.size());
  std::string about;
  for (const auto& [words_of_it, name] : words) {
    if (name.empty()) continue;
    const bool is_argument = words_of_it.find(' ') == std::string_view::npos;
    const auto is_its_name = [word = words_of_it](const NamedFile& file) { return file.path == word; };
    if (is_argument && std::ranges::none_of(files.read(), is_its_name) &&
        error.starts_with(std::string(words_of_it) + ":")) {
      return rank + files.called(name) + std::string(error.substr(words_of_it.size()));
    }
    const bool is_named = error.starts_with(name + ": ") || error.find(": " + name + ": ") != std::string_view::npos;
    if (is_named) return rank + std::string(error);
    if (!is_argument && about.empty() && error.find(words_of_it) != std::string_view::npos) {
      about = files.called(name) + ": ";
    }
  }
  return rank + about + std::string(error);
}

void Work::expect_memory(const std::vector<Index>& phases) {
  if (phases.empty()) return;
  const MemoryEstimate its = estimate_memory(context, phases);
  memory = {std::max(memory.largest_rank, its.largest_rank), std::max(memory.fullest_node, its.fullest_node)};
  if (context.rank() == 0 && !its.warning.empty()) print_warning(its.warning);
}

void Work::write(const std::string& path, const layout::Layout& layout, Index element_bytes,
                 const std::function<void(const io::Progress&)>& write) {
  const Index bytes = layout::elements(layout.shape()) * element_bytes;
  meter.stage("writing " + path, layout.elements_of(context.rank()) * element_bytes, bytes);
  const JointStopwatch watch(context);
  write(meter.progress());
  written.emplace_back(path, Moved{bytes, watch.seconds()});
}

void Work::record() {
  constexpr Index little = Index{64} << 20;
  const bool is_kept = !settings.trace.empty() || !settings.page.empty();
  if (!is_kept && !settings.reports_overlap) return;
  mpi::agreed(context, [&] {
    if (context.rank() == 0) static_cast<void>(emulated_link_rate());  // which the trace tells
  });
  tracing_.emplace(context, is_kept ? Timeline::default_bytes : little);
}

const report::Trace& Work::trace() {
  if (!tracing_) return trace_;
  try {
    trace_ = tracing_->gather();
  } catch (const OutOfMemory& error) {
    if (context.rank() == 0) print_warning("there is no trace: {}", error.what());
  }
  tracing_.reset();
  if (context.rank() != 0 || trace_.ranks.empty()) return trace_;
  trace_.link_bits_per_second = emulated_link_rate();
  const auto text = [&] { return report::chrome_json(trace_); };
  if (!settings.trace.empty() && write_beside_result(settings.trace, text)) trace_path = settings.trace;
  return trace_;
}

void Work::report_end(Report& report, const std::string& what_was_read) const {
  report.line("read", what_was_read + moved_text(report.fact("read", read)));
  Moved all;
  for (const auto& [path, its] : written) {
    all = {all.bytes + its.bytes, all.seconds + its.seconds};
    report.line("wrote", "{}: {}", path, moved_text(its));
  }
  report.fact("write", all);
  report.line("total", seconds_text(report.fact("seconds", seconds)));
  report.fact("memory", memory);
}

int Job::start(const Start& start) {
  return run_under_mpi(start, {}, [&](mpi::Context& context) {
    share_cores(context);
    print_choices_if_wanted(context);
    with_options_of(files, [&] { perform(context); });
  });
}

void Job::perform(mpi::Context& context) {
  if (settings.takes_machine) use_machine(context, settings.machine);
  Work work(context, settings, files);
  for (const auto& [input, wanted] : files.inputs) input->describe(context, wanted);
  const std::vector<Index> phases = work.in_words(error_words(), [&] { return prepare(work); });
  expect_writable(context, files);
  try {
    work.expect_memory(phases);
  } catch (const OutOfMemory& error) {
    for (const auto& read : files.reads) {
      const std::string& path = *read.path;
      if (!path.ends_with(".svm") && !path.ends_with(".libsvm")) continue;
      throw OutOfMemory(
          fmt::format("{}; {} is stored dense, as wide as its highest column number", error.what(), path));
    }
    throw;
  }
  work.record();
  const JointStopwatch watch(context);
  work.in_words(error_words(), [&] { run(work); });
  work.meter.finish();
  work.seconds = watch.seconds();
  work.trace();
  if (context.rank() != 0) return;
  Report facts(context, settings.name, settings.line);
  report(facts, work);
  if (settings.takes_trace) facts.file("trace", work.trace_path);
  if (settings.takes_page) {
    const auto page = [&] {
      draw(facts, work);
      return facts.page();
    };
    const bool is_there = !settings.page.empty() && write_beside_result(settings.page, page);
    facts.file("report", is_there ? settings.page : "");
  }
  facts.print(settings.json, settings.quiet);
}

int LoneJob::start(const Start& start) {
  if (start.launch.rank != 0) return 0;
  try {
    Report facts(settings.name, settings.line);
    run(facts);
    facts.print(settings.json, settings.quiet);
    return 0;
  } catch (...) {
    return print_failure(std::current_exception());
  }
}

}  // namespace plait::cli
