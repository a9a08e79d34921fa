#pragma once

#include <functional>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/io/rank_zero.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"

#include "support/ranks.hpp"
#include "unit/io/scratch.hpp"

namespace plait::test {

inline constexpr StorageOrder by_rows = StorageOrder::row_major, by_columns = StorageOrder::column_major;

/// A context and a folder that all ranks share, which lasts until the last of them is done with it.
class SharedScratch {
 public:
  SharedScratch() : context_(test_comm()) {
    if (context_.rank() == 0) folder_ = std::make_unique<ScratchFolder>();
    path_ = io::text_of_rank_zero(context_, folder_ ? folder_->path().string() : std::string());
  }
  SharedScratch(const SharedScratch&) = delete;
  SharedScratch& operator=(const SharedScratch&) = delete;
  ~SharedScratch() { mpi::barrier(context_.comm()); }

  [[nodiscard]] mpi::Context& context() { return context_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  /// Has rank 0 write a file, and lets nobody go on before. Collective.
  void write(const std::string& name, std::string_view content) {
    if (context_.rank() == 0) write_file(*this / name, content);
    mpi::barrier(context_.comm());
  }

  /// What is in the folder once all ranks have come here. Collective.
  [[nodiscard]] std::string names() {
    mpi::barrier(context_.comm());
    std::string result;
    if (folder_) {
      for (const auto& name : folder_->names()) result += (result.empty() ? "" : " ") + name;
    }
    return io::text_of_rank_zero(context_, result);
  }

 private:
  mpi::Context context_;
  std::unique_ptr<ScratchFolder> folder_;
  std::string path_;
};

/// The text of the E that `f` throws on this rank, without the "rank N: " that an agreement puts in front. Expects that
/// it throws one on every rank, with the same text. Collective.
template <class E>
std::string text_thrown_alike(mpi::Context& context, const std::function<void()>& f) {
  std::string text;
  try {
    f();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const E& error) {
    text = error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error was thrown: " << error.what();
  }
  EXPECT_EQ(text, io::text_of_rank_zero(context, text)) << "ranks throw alike";
  const auto prefix_end = text.find(": ");
  return text.starts_with("rank ") && prefix_end != std::string::npos ? text.substr(prefix_end + 2) : text;
}

}  // namespace plait::test
