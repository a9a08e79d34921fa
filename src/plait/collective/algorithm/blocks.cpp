#include "plait/collective/algorithm/blocks.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/collective/stream.hpp"

namespace plait::collective {

Blocks Blocks::split(const Stream& stream, int parts) {
  Blocks blocks(stream.element_bytes(), parts);
  for (const Segment& segment : stream.segments()) blocks.chunks_.push_back(collective::split(segment, parts));
  return blocks;
}

Blocks Blocks::cut(std::span<const Index> counts, Index element_bytes, int strands, Index segment_elements) {
  if (counts.empty()) throw ArgumentError("counts: none, expected one for each rank");
  Blocks blocks(element_bytes, static_cast<int>(counts.size()));
  std::map<std::pair<int, Index>, Chunk> chunks;  // by strand and number
  std::vector<Segment> nothing;                   // of each block, where it begins
  Index begin = 0;
  for (const Index count : counts) {
    nothing.push_back({.begin = begin, .end = begin, .strand = 0, .number = 0, .stage = 0});
    begin += count;
  }
  for (std::size_t index = 0; index < counts.size(); ++index) {
    const Stream stream = Stream::cut(counts[index], element_bytes, strands, segment_elements, nothing[index].begin);
    for (const Segment& segment : stream.segments()) {
      Chunk& chunk = chunks.try_emplace({segment.strand, segment.number}, nothing).first->second;
      chunk[index] = segment;
    }
  }
  for (auto& [key, chunk] : chunks) {
    for (Segment& piece : chunk) {
      piece.strand = key.first;
      piece.number = key.second;
      piece.stage = key.second;
    }
  }
  for (auto& [key, chunk] : chunks) blocks.chunks_.push_back(std::move(chunk));
  return blocks;
}

Stream Blocks::block(int index) const {
  std::vector<Segment> segments;
  segments.reserve(chunks_.size());
  for (const Chunk& chunk : chunks_) segments.push_back(chunk[at(index)]);
  return {element_bytes_, std::move(segments)};
}

void Blocks::replace(int index, const Stream& block) {
  PLAIT_ASSERT(block.segments().size() == chunks_.size(), "a block has a piece of each chunk");
  for (std::size_t c = 0; c < chunks_.size(); ++c) {
    chunks_[c][at(index)] = block.segments()[c];
    for (Segment& piece : chunks_[c]) piece.stage = block.segments()[c].stage;
  }
}

void Blocks::replace(const std::vector<Stream>& blocks) {
  PLAIT_ASSERT(blocks.size() == at(size_), "each rank has a block");
  for (std::size_t c = 0; c < chunks_.size(); ++c) {
    const Index stage = blocks.back().segments()[c].stage;
    for (std::size_t index = 0; index < blocks.size(); ++index) {
      chunks_[c][index] = blocks[index].segments()[c];
      chunks_[c][index].stage = stage;
    }
  }
}

void Blocks::add_stages(Index stages) {
  for (Chunk& chunk : chunks_) {
    for (Segment& piece : chunk) piece.stage += stages;
  }
}

std::pair<Index, Index> Blocks::extent(int index) const {
  if (chunks_.empty()) return {0, 0};
  std::pair<Index, Index> found{chunks_.front()[at(index)].begin, chunks_.front()[at(index)].end};
  for (const Chunk& chunk : chunks_) {
    found.first = std::min(found.first, chunk[at(index)].begin);
    found.second = std::max(found.second, chunk[at(index)].end);
  }
  return found;
}

Stream Blocks::joined() const {
  std::vector<Segment> segments;
  for (const Chunk& chunk : chunks_) {
    Segment whole = chunk.front();
    whole.end = chunk.back().end;
    whole.final = {};
    whole.readers = {};
    for (const Segment& piece : chunk) {
      append_new(whole.final, piece.final);
      append_new(whole.readers, piece.readers);
    }
    segments.push_back(std::move(whole));
  }
  return {element_bytes_, std::move(segments)};
}

Stream Blocks::pieces() const {
  std::vector<Segment> segments;
  for (const Chunk& chunk : chunks_) segments.insert(segments.end(), chunk.begin(), chunk.end());
  return {element_bytes_, std::move(segments)};
}

void Blocks::expect_one_each(const Group& group) const {
  if (size_ != group.size()) {
    throw ArgumentError("blocks: " + std::to_string(size_) + ", expected one for each of the " +
                        std::to_string(group.size()) + " ranks");
  }
}

std::vector<PieceRun> runs(const Chunk& chunk, int first, int count) {
  const int size = static_cast<int>(chunk.size());
  std::vector<PieceRun> found;
  for (int k = 0; k < count; ++k) {
    const int block = (first + k) % size;
    const Segment& piece = chunk[at(block)];
    if (piece.elements() == 0) continue;
    if (found.empty() || found.back().end != piece.begin) found.push_back({piece.begin, piece.begin, {}});
    found.back().end = piece.end;
    found.back().blocks.push_back(block);
  }
  return found;
}

Dependencies finals(const Chunk& chunk, const PieceRun& run) {
  Dependencies all;
  for (const int block : run.blocks) append_new(all, chunk[at(block)].final);
  return all;
}

Dependencies finals_and_readers(const Chunk& chunk, const PieceRun& run) {
  Dependencies all = finals(chunk, run);
  for (const int block : run.blocks) append_new(all, chunk[at(block)].readers);
  return all;
}

Blocks copy_own_block(Graph& graph, const Group& group, Blocks blocks, Place block, Place data) {
  blocks.expect_one_each(group);
  if (!group.contains_me() || blocks.chunks().empty()) return blocks;
  const auto own = at(group.me());
  const Index first = blocks.extent(group.me()).first;
  for (Chunk& chunk : blocks.chunks()) {
    Segment& piece = chunk[own];
    if (piece.elements() == 0) continue;
    const OperationId copied =
        own_copy(graph, piece.position(), blocks.range(block, piece.begin - first, piece.end - first),
                 blocks.range(data, piece.begin, piece.end), piece.final_and_read());
    piece.final = {copied};
    piece.readers = {};
  }
  return blocks;
}

}  // namespace plait::collective
