#include "cli/host/checkpoint.hpp"

#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>

#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/io/file.hpp"
#include "plait/io/hdf5/hdf5.hpp"
#include "plait/io/npy/npy.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/io/text/text_file.hpp"
#include "plait/layout/axis.hpp"
#include "plait/mpi/agreed.hpp"

#include "cli/host/text.hpp"

namespace plait::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int format_number = 5;
constexpr Index most_bytes = Index{64} << 20;
constexpr Index word_bytes = 8;
constexpr std::string_view checksum_key = "\"checksum\": \"";
constexpr std::size_t digits = 16;

/// Of bytes that begin with word number `first`: places mix words one to one, and it does not matter who adds them up.
std::uint64_t sum_of_words(std::string_view bytes, std::uint64_t first) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += word_bytes) {
    std::array<char, word_bytes> part{};
    std::ranges::copy(bytes.substr(at, word_bytes), part.begin());
    std::uint64_t word = 0;
    std::memcpy(&word, part.data(), sizeof word);
    sum += random_bits(word, first + at / word_bytes);
  }
  return sum;
}

std::string in_digits(std::uint64_t number) { return fmt::format("{:016x}", number); }

std::string key_of(std::string_view job) {
  std::string key(job);
  std::ranges::replace(key, ' ', '_');
  return key + "_checkpoint";
}

/// The text with zeros in the place of its checksum, and these digits. Empty, if it has none.
std::string take_checksum(std::string& text) {
  const auto at = text.find(checksum_key);
  if (at == std::string::npos || at + checksum_key.size() + digits > text.size()) return {};
  const auto place = at + checksum_key.size();
  std::string found = text.substr(place, digits);
  text.replace(place, digits, digits, '0');
  return found;
}

/// Any change of one byte changes it.
std::uint64_t checksum(std::string_view bytes) { return sum_of_words(bytes, 0) + random_bits(bytes.size(), ~0ULL - 1); }

/// The `checksum` of all bytes of a file, each rank reading its part.
std::uint64_t checksum_of_file(mpi::Context& context, const std::string& path) {
  const io::File file = mpi::agreed(context, [&] { return io::File::open_to_read(path); });
  const Index size = io::told_by_rank_zero(context, [&] { return file.size(); });
  std::uint64_t sum = 0;
  mpi::agreed(context, [&] {
    std::vector<char> piece;
    layout::Axis::even(quotient_up(size, word_bytes), context.size())
        .for_each_segment(context.rank(), [&](const layout::Segment& words) {
          const Index end = std::min(size, (words.global + words.length) * word_bytes);
          for (Index at = words.global * word_bytes; at < end; at += io::piece_bytes) {
            piece.resize(static_cast<std::size_t>(std::min(io::piece_bytes, end - at)));
            const auto got = static_cast<std::size_t>(file.read_at(at, std::as_writable_bytes(std::span(piece))));
            sum += sum_of_words({piece.data(), got}, static_cast<std::uint64_t>(at / word_bytes));
          }
        });
  });
  for (const std::uint64_t other : mpi::all_gather(context.comm(), std::exchange(sum, 0))) sum += other;
  return sum + random_bits(static_cast<std::uint64_t>(size), ~0ULL - 1);
}

/// The checksum of what a job reads: of all bytes of the file, and of an HDF5 file also of which data set `path` names,
/// or which is the only one.
std::uint64_t checksum_of_input(mpi::Context& context, const std::string& path) {
  const io::Hdf5Name name = io::parse_hdf5_name(path);
  const std::uint64_t of_file = checksum_of_file(context, name.file);
  const bool is_hdf5 =
      io::told_by_rank_zero(context, [&] { return io::find_hdf5(io::File::open_to_read(name.file)).has_value(); });
  return is_hdf5 ? of_file + checksum(io::read_hdf5_header(context, name).data_set) : of_file;
}

/// Which contents come after those of `before`, which may be empty.
std::string next_contents(std::string_view before) { return before == "a" ? "b" : "a"; }

/// \throws FileError  on every rank: the contents of a checkpoint in `path` are not those that it was written with
void expect_contents(mpi::Context& context, const std::string& path, const json& checkpoint) {
  const std::string contents = contents_path(path, checkpoint.at("contents").get<std::string>());
  const std::string found = in_digits(checksum_of_file(context, contents));
  mpi::agreed(context, [&] {
    if (checkpoint.value("contents_checksum", "") == found) return;
    throw FileError(fmt::format("{}: was changed: its checksum is not the one in {}", contents, path));
  });
}

/// The checkpoint of a job in a file; nothing, if there is no such file. Its contents are looked at, too.
std::optional<json> read_checkpoint_file(mpi::Context& context, const std::string& path, std::string_view job) {
  const bool is_there = io::told_by_rank_zero(context, [&] {
    std::error_code failure;
    return fs::exists(path, failure);
  });
  if (!is_there) return std::nullopt;
  std::string text = io::read_text(context, path, most_bytes, fmt::format("a checkpoint of {}", job));
  json value = mpi::agreed(context, [&] {
    const auto fail = [&](const std::string& why) {
      throw FileError(fmt::format("{}: is no checkpoint of {}: {}", path, job, why));
    };
    json parsed = io::parse_strictly(text, [&](const std::string&) {
      fail("it was cut off or changed; without --resume the job begins again, and writes another one");
    });
    if (!parsed.is_object() || !parsed.contains(key_of(job))) fail("it is something else");
    if (parsed[key_of(job)] != format_number) fail("it is of another version");
    const std::string found = take_checksum(text);
    if (found != in_digits(checksum(text))) fail("it was changed: its checksum differs");
    const std::string contents = parsed.value("contents", "");
    if (contents != "a" && contents != "b") fail("it names no contents");
    return parsed;
  });
  expect_contents(context, path, value);
  set_resumable(true);
  return value;
}

/// Writes a checkpoint whose contents lie there; where that fails, the one that was there is as it was.
void write_checkpoint_file(mpi::Context& context, const std::string& path, std::string_view job, json checkpoint) {
  io::on_rank_zero(context, [&] {
    checkpoint[key_of(job)] = format_number;
    checkpoint["checksum"] = std::string(digits, '0');
    std::string text = checkpoint.dump(1) + "\n";
    const auto place = text.find(checksum_key) + checksum_key.size();
    text.replace(place, digits, in_digits(checksum(text)));
    text_aside(path, text).publish();
  });
}

}  // namespace

// The checkpoint does not name the file, as names may be any bytes, but not in JSON.
std::string contents_path(const std::string& path, const std::string& contents) {
  return path + "." + contents + ".npy";
}

Checkpoints::Checkpoints(mpi::Context& context, const Settings& settings, Index most_iterations, Identity identity)
    : context_(context),
      settings_(settings),
      job_("plait " + settings.name),
      most_iterations_(most_iterations),
      identity_(std::move(identity)),
      first_row_(mpi::sum_below(context.comm(), identity_.own_rows)),
      all_rows_(mpi::all_reduce(context.comm(), identity_.own_rows, mpi::Operation::sum())) {
  if (settings.checkpoint.empty()) return;
  json& files = identity_.settings["files"] = json::array();
  for (const std::string& path : identity_.inputs) {
    files.push_back(path.empty() ? json() : json(checksum_of_input(context, path)));
  }
  if (settings.resume) {
    if (auto found = read_checkpoint_file(context, settings.checkpoint, job_)) {
      read(std::move(*found));
      return;
    }
  }
  remove();  // an old one must not come to name new contents
}

void Checkpoints::read(json checkpoint) {
  const std::string& path = settings_.checkpoint;
  const auto fail = [&](const std::string& why) {
    throw FileError(fmt::format("{}: is no checkpoint of {}: {}", path, job_, why));
  };
  mpi::agreed(context_, [&] {
    const json settings = checkpoint.value("job", json());
    if (settings == identity_.settings) return;
    for (const auto& [key, value] : identity_.settings.items()) {
      const json was = settings.is_object() && settings.contains(key) ? settings.at(key) : json();
      if (was == value) continue;
      throw FileError(fmt::format("{}: is a checkpoint of another job: {}", path,
                                  key == "files"
                                      ? "the files that are read differ"
                                      : fmt::format("its {} was {}, now it is {}", key, was.dump(), value.dump())));
    }
    throw FileError(fmt::format("{}: is a checkpoint of another job", path));
  });
  if (checkpoint.contains("before") && checkpoint.value("iterations", Index{0}) == most_iterations_) {
    json before = std::move(checkpoint["before"]);
    checkpoint = std::move(before);
    expect_contents(context_, path, checkpoint);
    write_checkpoint_file(context_, path, job_, checkpoint);  // lest the contents of the later one are written again
  }
  contents_ = checkpoint.at("contents").get<std::string>();
  const std::string of_contents = contents_path(path, contents_);
  const io::NpyHeader header = io::read_npy_header(context_, of_contents);
  mpi::agreed(context_, [&] {
    Index at = 0;
    /// `count` numbers, of which those from number `first` on are read.
    const auto take = [&](Index length, Index first, Index count) {
      if (length < 0 || length > header.shape.rows - at || header.shape.columns != 1) {
        fail("its contents are of another length");
      }
      std::vector<double> numbers(static_cast<std::size_t>(count));
      io::read_npy_rows<double>(of_contents, header, std::exchange(at, at + length) + first, numbers);
      return numbers;
    };
    try {
      iterate::Checkpoint state;
      state.numbers = checkpoint.at("numbers").get<std::map<std::string, double>>();
      for (const auto& [name, length] : checkpoint.at("by_rank").get<std::map<std::string, Index>>()) {
        const Index of_row = length / std::max<Index>(all_rows_, 1);  // numbers of each row
        if (of_row * all_rows_ != length) fail("its contents are of another length");
        state.by_rank[name] = take(length, first_row_ * of_row, identity_.own_rows * of_row);
      }
      for (const auto& [name, length] : checkpoint.at("shared").get<std::map<std::string, Index>>()) {
        state.shared[name] = take(length, 0, length);
      }
      if (at != header.shape.rows || !state.shared.contains("errors")) fail("its contents are of another length");
      resumed_at_ = std::ssize(state.shared.at("errors"));
      if (resumed_at_ >= most_iterations_ && !state.numbers.contains("not limited")) {
        throw ArgumentError(
            fmt::format("{}: the limit of {} is reached already, as {} goes on after iteration {}; expected a larger "
                        "one to go on",
                        identity_.limit, most_iterations_, path, resumed_at_));
      }
      is_of_other_ranks_ = checkpoint.at("ranks") != context_.size();
      from_ = std::move(state);
      checkpoint.erase("before");
      last_ = std::move(checkpoint);
    } catch (const json::exception&) {
      fail("it lacks a part");
    }
  });
}

void Checkpoints::write(const iterate::Checkpoint& state) {
  const std::string contents = next_contents(contents_);
  json checkpoint{{"numbers", state.numbers}, {"by_rank", json::object()}, {"shared", json::object()}};
  Index all = 0;
  std::vector<Index> begins;
  for (const auto& [name, values] : state.by_rank) {
    const auto own = static_cast<Index>(values.size());
    begins.push_back(all + mpi::sum_below(context_.comm(), own));
    checkpoint["by_rank"][name] = mpi::all_reduce(context_.comm(), own, mpi::Operation::sum());
    all += checkpoint["by_rank"][name].get<Index>();
  }
  for (const auto& [name, values] : state.shared) {
    begins.push_back(all);
    checkpoint["shared"][name] = values.size();
    all += static_cast<Index>(values.size());
  }
  io::NpyRows<double> file(context_, contents_path(settings_.checkpoint, contents), {all, 1});
  mpi::agreed(context_, [&] {
    auto begin = begins.begin();
    for (const auto& [name, values] : state.by_rank) file.write(*begin++, values);
    if (context_.rank() != 0) return;
    for (const auto& [name, values] : state.shared) file.write(*begin++, values);
  });
  file.commit();
  checkpoint["iterations"] = state.shared.at("errors").size();
  checkpoint["contents"] = contents;
  checkpoint["contents_checksum"] =
      in_digits(checksum_of_file(context_, contents_path(settings_.checkpoint, contents)));
  checkpoint["job"] = identity_.settings;
  checkpoint["ranks"] = context_.size();
  json next = checkpoint;
  if (checkpoint["iterations"] == most_iterations_ && !last_.is_null()) checkpoint["before"] = last_;
  write_checkpoint_file(context_, settings_.checkpoint, job_, std::move(checkpoint));
  contents_ = contents;
  last_ = std::move(next);
}

// Where the disk does not take it, rank 0 warns, once until it does again: the last one is as it was, and the job goes
// on.
void Checkpoints::keep(const iterate::Checkpoint& state) {
  try {
    write(state);
    has_failed_ = false;
    set_resumable(true);
  } catch (const FileError& error) {
    const bool is_first = !std::exchange(has_failed_, true);
    if (is_first && context_.rank() == 0) {
      print_warning("no checkpoint was written: {}; the job goes on, and the last one stays", error.what());
    }
  }
  if (signal_ != 0) throw Stopped(signal_, settings_.checkpoint);
}

bool Checkpoints::is_due(Index iterations) {
  signal_ = stop_->signal();
  // Where the last iteration differs from others, as it has to leave a result, nobody asks after it.
  const bool is_at_limit = iterations == most_iterations_ - 1 || iterations == most_iterations_;
  return signal_ != 0 || is_at_limit ||
         iterations % settings_.checkpoint_every.value_or(settings_.usual_checkpoint_every) == 0;
}

void Checkpoints::end(iterate::End end, std::string& reason) {
  if (end == iterate::End::converged) return remove();
  if ((end != iterate::End::limit && end != iterate::End::finished) || contents_.empty()) return;
  reason += fmt::format("; --resume with a larger {} goes on from {}", identity_.limit, settings_.checkpoint);
}

void Checkpoints::remove() {
  if (settings_.checkpoint.empty()) return;
  set_resumable(false);
  if (context_.rank() != 0) return;
  std::error_code ignored;  // what is left is in nobody's way
  fs::remove(settings_.checkpoint, ignored);
  for (const char* contents : {"a", "b"}) fs::remove(contents_path(settings_.checkpoint, contents), ignored);
}

}  // namespace plait::cli
