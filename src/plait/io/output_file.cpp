#include "plait/io/output_file.hpp"

#include <optional>

#include "plait/io/rank_zero.hpp"
#include "plait/mpi/agreed.hpp"

namespace plait::io {

namespace {

AsideFile opened_together(mpi::Context& context, const std::string& path, Index bytes) {
  // Lives in this frame until all ranks have it open, so that a failure of any of them removes it.
  std::optional<AsideFile> file;
  on_rank_zero(context, [&] { file.emplace(AsideFile::create(path, bytes)); });
  const std::string none;
  const std::string aside = text_of_rank_zero(context, file ? file->aside() : none);
  mpi::agreed(context, [&] {
    if (context.rank() != 0) file.emplace(AsideFile::join(path, aside, bytes));
  });
  return std::move(*file);
}

}  // namespace

OutputFile::OutputFile(mpi::Context& context, const std::string& path, Index bytes)
    : context_(context), file_(opened_together(context, path, bytes)) {}

void OutputFile::commit() {
  mpi::agreed(context_, [&] { file_.sync(); });
  on_rank_zero(context_, [&] { file_.publish(); });
}

}  // namespace plait::io
