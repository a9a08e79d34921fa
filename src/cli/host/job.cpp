#include "cli/host/job.hpp"

#include "plait/base/log_setting.hpp"
#include "plait/io/machine_file.hpp"
#include "plait/io/rank_zero.hpp"

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

void append(std::vector<NamedFile>& files, const std::vector<NamedFile>& more) {
  files.insert(files.end(), more.begin(), more.end());
}

// Hours may pass before the output is written, so what would stop it then is looked for now.
void expect_writable_files(Work& work, const DeclaredFiles& files) {
  mpi::Context& context = work.context;
  const Settings& settings = work.settings;
  std::vector<NamedFile> written = DeclaredFiles::given(files.writes);
  const std::size_t matrices = written.size();
  if (!settings.page.empty()) written.push_back({settings.page, "the file of --report"});
  if (!settings.checkpoint.empty()) {
    written.push_back({settings.checkpoint, "the file of --checkpoint"});
    for (const char* turn : {"a", "b"}) {
      written.push_back({contents_path(settings.checkpoint, turn), "a state of --checkpoint"});
    }
  }
  mpi::agreed(context, [&] {
    if (context.rank() != 0) return;
    expect_different_files(written, files.may_replace_input ? work.kept : work.files_read());
    for (const std::string* path : {&settings.page, &settings.checkpoint}) {
      if (!path->empty()) io::AsideFile::try_out(*path);
    }
  });
  for (std::size_t i = 0; i < matrices; ++i) io::expect_writable_matrix(context, written[i].path);
  append(written, work.files_read());
  expect_writable_trace(context, settings.trace, written);
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

Work::Work(mpi::Context& all_ranks, const Settings& its_settings, const DeclaredFiles& files)
    : context(all_ranks), settings(its_settings), meter(all_ranks, its_settings.meter()), files_(files) {
  if (settings.takes_machine) kept = machine_file(settings.machine);
}

std::vector<NamedFile> Work::files_read() const {
  std::vector<NamedFile> all = kept;
  append(all, DeclaredFiles::given(files_.reads));
  return all;
}

void Work::expect_memory(const std::vector<Index>& phases) {
  if (phases.empty()) return;
  memory = estimate_memory(context, phases);
  if (context.rank() == 0 && !memory.warning.empty()) print_warning(memory.warning);
}

void Work::write(const std::string& path, const layout::Layout& layout, Index element_bytes,
                 const std::function<void(const io::Progress&)>& write) {
  const Index bytes = layout::elements(layout.shape()) * element_bytes;
  meter.stage("writing " + path, layout.elements_of(context.rank()) * element_bytes, bytes);
  const JointStopwatch watch(context);
  write(meter.progress());
  written.emplace_back(path, Moved{bytes, watch.seconds()});
}

const report::Trace& Work::trace() {
  if (recorder_) trace_ = recorder_->write();
  recorder_.reset();
  return trace_;
}

void Work::report_end(Report& report, const std::string& what_was_read) const {
  report.line("read", what_was_read + moved_text(report.fact("read", read)));
  Moved all;
  for (const auto& [path, its] : written) {
    all = {all.bytes + its.bytes, all.seconds + its.seconds};
    report.line("wrote", fmt::format("{}: {}", path, moved_text(its)));
  }
  report.fact("write", all);
  if (!report.fact_or_null("trace", settings.trace).empty()) report.line("trace", settings.trace);
  report.line("total", seconds_text(report.fact("seconds", seconds)));
  report.fact("memory", memory);
}

int Job::start(const Start& start) {
  return run_under_mpi(start, [&](mpi::Context& context) {
    share_cores(context);
    print_choices_if_wanted(context);
    perform(context);
  });
}

void Job::perform(mpi::Context& context) {
  if (settings.takes_machine) use_machine(context, settings.machine);
  Work work(context, settings, files);
  const std::vector<Index> phases = prepare(work);
  expect_writable_files(work, files);
  work.expect_memory(phases);
  work.recorder_.emplace(context, settings.trace, settings.page, settings.reports_overlap);
  const JointStopwatch watch(context);
  run(work);
  work.meter.finish();
  work.seconds = watch.seconds();
  work.trace();
  if (context.rank() != 0) return;
  Report facts(context, settings.name, settings.line);
  report(facts, work);
  if (!settings.page.empty()) {
    write_beside_result(settings.page, [&] {
      draw(facts, work);
      return facts.page();
    });
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
