#include "plait/collective/node/posted_reductions.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"
#include "plait/collective/node/reduction.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/node/shared_file.hpp"
#include "plait/mpi/node/shared_mapping.hpp"

namespace plait::collective::node {

namespace {

constexpr Index cache_line = 64;
constexpr Index page = 4096;
constexpr Index piece_bytes = Index{128} << 10;

/// What is the same on all ranks of a reduction.
struct Agreed {
  Index bytes;  // of an operand
  Index element_bytes;
  Deliver deliver;
  int root;

  explicit Agreed(const Reduction& reduction)
      : bytes(reduction.n * reduction.combine->element_bytes()),
        element_bytes(reduction.combine->element_bytes()),
        deliver(reduction.deliver),
        root(reduction.root) {}
  friend bool operator==(const Agreed&, const Agreed&) = default;
};

/// In front of an operand in shared memory; behind it, a flag for each piece that is combined, then the operand.
struct alignas(cache_line) Block {
  std::atomic<int> readers;       // that have yet to read the operand
  std::atomic<Index> next_piece;  // not yet taken by any rank
  Index flags;                    // how many there are
  Agreed agreed;

  [[nodiscard]] static Index header_bytes(Index flags) {
    return rounded_up(static_cast<Index>(sizeof(Block)) + flags, cache_line);
  }
  [[nodiscard]] std::atomic_ref<unsigned char> is_combined(Index piece) {
    return std::atomic_ref(*(reinterpret_cast<unsigned char*>(this + 1) + piece));
  }
  [[nodiscard]] std::byte* operand() { return reinterpret_cast<std::byte*>(this) + header_bytes(flags); }
};

/// At the beginning of a rank's memory: where its operands lie.
struct Directory {
  struct Entry {
    std::atomic<std::uint64_t> call;  // 0 where there is none
    Index block;                      // the bytes before it
  };
  static constexpr Index most = Index{1} << 12;

  std::atomic<Index> used;      // entries that may be anything else than 0
  std::atomic<bool> has_ended;  // there was no memory for an operand: it and what comes later are missing
  std::array<Entry, most> entries;
};

constexpr Index blocks_at = rounded_up(Index{sizeof(Directory)}, page);

// How many addresses a rank's memory may come to take: as many as the node has memory, if there are enough for all
// ranks of some dozens of these.
Index longest_mapping(Index ranks) {
  const auto memory = static_cast<Index>(::sysconf(_SC_PHYS_PAGES)) * static_cast<Index>(::sysconf(_SC_PAGESIZE));
  constexpr Index addresses = Index{1} << 39;
  return std::min(memory, addresses / ranks) / page * page;
}

}  // namespace

/// What the ranks see of each other, and where this one's operands lie.
struct PostedReductions::Memory {
  int rank = 0;
  mpi::SharedFile file;                    // of this rank
  std::vector<mpi::SharedMapping> mapped;  // of all ranks

  // An operand that other ranks may not have read yet.
  struct Live {
    Index begin;
    Index end;
    Index entry;
  };
  std::mutex posting;
  std::vector<Live> live;  // by place
  Index taken = 0;         // bytes of the file that have memory

  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(mapped.size()); }
  [[nodiscard]] std::byte* base(int of) const { return mapped[static_cast<std::size_t>(of)].bytes().data(); }
  [[nodiscard]] Directory& directory(int of) const { return *reinterpret_cast<Directory*>(base(of)); }

  [[nodiscard]] Block* find(int of, std::uint64_t call) const;
  void leave(std::uint64_t call, const std::byte* operand, const Agreed& agreed, Index flags, int readers);

 private:
  void forget_what_is_read();
  [[nodiscard]] Index place_for(Index bytes, std::vector<Live>::iterator& before);
};

// The operand of that call; null while the rank has not posted it.
Block* PostedReductions::Memory::find(int of, std::uint64_t call) const {
  Directory& known = directory(of);
  const bool has_ended = known.has_ended.load(std::memory_order_acquire);
  const Index used = known.used.load(std::memory_order_acquire);
  for (Index i = 0; i < used; ++i) {
    const Directory::Entry& entry = known.entries[static_cast<std::size_t>(i)];
    if (entry.call.load(std::memory_order_acquire) == call) return reinterpret_cast<Block*>(base(of) + entry.block);
  }
  if (!has_ended) return nullptr;
  throw OutOfMemory("memory of the node: rank " + std::to_string(of) + " has too little for its operand");
}

void PostedReductions::Memory::forget_what_is_read() {
  Directory& own = directory(rank);
  std::erase_if(live, [&](const Live& operand) {
    const auto* const block = reinterpret_cast<const Block*>(base(rank) + operand.begin);
    if (block->readers.load(std::memory_order_acquire) != 0) return false;
    own.entries[static_cast<std::size_t>(operand.entry)].call.store(0, std::memory_order_relaxed);
    return true;
  });
}

// The first gap that is long enough.
Index PostedReductions::Memory::place_for(Index bytes, std::vector<Live>::iterator& before) {
  Index begin = blocks_at;
  for (before = live.begin(); before != live.end() && before->begin - begin < bytes; ++before) begin = before->end;
  const auto addresses = static_cast<Index>(mapped[static_cast<std::size_t>(rank)].bytes().size());
  if (bytes > addresses - begin) throw OutOfMemory("memory of the node: too little for an operand");
  if (begin + bytes > taken) {
    if (file.take_memory(taken, begin + bytes - taken) != 0) {
      throw OutOfMemory("memory of the node: too little for an operand");
    }
    taken = begin + bytes;
  }
  return begin;
}

// Publishes the operand of a call.
void PostedReductions::Memory::leave(std::uint64_t call, const std::byte* operand, const Agreed& agreed, Index flags,
                                     int readers) {
  Directory& own = directory(rank);
  if (own.has_ended.load(std::memory_order_relaxed)) return;
  forget_what_is_read();
  Index entry = 0;
  while (entry < Directory::most && own.entries[static_cast<std::size_t>(entry)].call.load() != 0) ++entry;
  if (entry == Directory::most) throw OutOfMemory("memory of the node: too many reductions are under way at once");

  auto before = live.begin();
  const Index whole = rounded_up(Block::header_bytes(flags) + agreed.bytes, cache_line);
  const Index begin = place_for(whole, before);
  live.insert(before, {begin, begin + whole, entry});
  auto* const block = new (base(rank) + begin) Block{readers, 0, flags, agreed};
  std::memset(static_cast<void*>(block + 1), 0, static_cast<std::size_t>(flags));
  std::memcpy(block->operand(), operand, static_cast<std::size_t>(agreed.bytes));

  own.entries[static_cast<std::size_t>(entry)].block = begin;
  own.entries[static_cast<std::size_t>(entry)].call.store(call, std::memory_order_release);
  if (own.used.load(std::memory_order_relaxed) <= entry) own.used.store(entry + 1, std::memory_order_release);
}

namespace {

/// The part that a rank gets of the operands of the first ranks, all ranks' or fewer.
class Progressing final : public PostedReductions::Running {
 public:
  using Progress = PostedReductions::Progress;

  Progressing(std::shared_ptr<PostedReductions::Memory> memory, std::uint64_t call, const Reduction& reduction,
              int operands, Index first, Index n)
      : memory_(std::move(memory)),
        call_(call),
        agreed_(reduction),
        combine_(*reduction.combine),
        first_(first),
        n_(n),
        out_(reduction.out),
        is_for_all_(reduction.deliver == Deliver::to_all),
        piece_(piece_length(combine_)),
        blocks_(static_cast<std::size_t>(operands)),
        parts_(static_cast<std::size_t>(operands)),
        delivered_(static_cast<std::size_t>(is_for_all_ ? pieces() : 0)) {}

  [[nodiscard]] static Index piece_length(const Combine& combine) {
    return std::max<Index>(piece_bytes / combine.element_bytes(), 1);
  }

  [[nodiscard]] Progress advance() override {
    if (is_done_ || blocks_.empty()) return Progress::done;
    for (; found_ < blocks_.size(); ++found_) {
      blocks_[found_] = memory_->find(static_cast<int>(found_), call_);
      if (blocks_[found_] == nullptr) return Progress::waiting;
      if (blocks_[found_]->agreed != agreed_) complain_of(static_cast<int>(found_));
    }
    if (is_for_all_) return advance_for_all();
    if (next_ < pieces()) {
      combine(next_, out_ + begin_of(next_) * combine_.element_bytes());
      ++next_;
    }
    return next_ < pieces() ? Progress::moved : end();
  }

 private:
  [[nodiscard]] Index pieces() const { return (n_ + piece_ - 1) / piece_; }
  [[nodiscard]] Index begin_of(Index piece) const { return piece * piece_; }
  [[nodiscard]] Index length_of(Index piece) const { return std::min(piece_, n_ - begin_of(piece)); }

  void combine(Index piece, std::byte* out) {
    const Index before = (first_ + begin_of(piece)) * combine_.element_bytes();
    for (std::size_t rank = 0; rank < blocks_.size(); ++rank) parts_[rank] = blocks_[rank]->operand() + before;
    fold(combine_, length_of(piece), parts_, out);
  }

  // Each piece is combined by whoever takes it, in the place of rank 0's operand.
  Progress advance_for_all() {
    Block& home = *blocks_.front();
    if (!are_all_taken_) {
      const Index piece = home.next_piece.fetch_add(1, std::memory_order_relaxed);
      are_all_taken_ = piece >= pieces();
      if (!are_all_taken_) {
        combine(piece, home.operand() + begin_of(piece) * combine_.element_bytes());
        home.is_combined(piece).store(1, std::memory_order_release);
        deliver(piece);
        return Progress::moved;
      }
    }
    for (; next_ < pieces(); ++next_) {
      if (delivered_[static_cast<std::size_t>(next_)]) continue;
      if (home.is_combined(next_).load(std::memory_order_acquire) == 0) return Progress::waiting;
      deliver(next_);
    }
    return end();
  }

  void deliver(Index piece) {
    const Index element = combine_.element_bytes();
    std::memcpy(out_ + begin_of(piece) * element, blocks_.front()->operand() + begin_of(piece) * element,
                static_cast<std::size_t>(length_of(piece) * element));
    delivered_[static_cast<std::size_t>(piece)] = true;
  }

  // What it has left may be shorter than what would be read.
  [[noreturn]] void complain_of(int rank) const {
    throw ArgumentError("reduction: " + std::to_string(agreed_.bytes) + " bytes, and " +
                        std::to_string(blocks_[static_cast<std::size_t>(rank)]->agreed.bytes) + " on rank " +
                        std::to_string(rank) + ", expected the same one on all ranks, with the same root");
  }

  Progress end() {
    for (Block* block : blocks_) block->readers.fetch_sub(1, std::memory_order_acq_rel);
    is_done_ = true;
    memory_.reset();
    return Progress::done;
  }

  std::shared_ptr<PostedReductions::Memory> memory_;
  std::uint64_t call_;
  Agreed agreed_;
  Combine combine_;
  Index first_;  // element of the operands
  Index n_;
  std::byte* out_;
  bool is_for_all_;
  Index piece_;  // elements
  std::vector<Block*> blocks_;
  std::vector<const std::byte*> parts_;
  std::vector<bool> delivered_;
  std::size_t found_ = 0;
  Index next_ = 0;
  bool are_all_taken_ = false;
  bool is_done_ = false;
};

/// Who reads the operand of a rank.
int readers_of(int rank, int ranks, const Reduction& reduction) {
  switch (reduction.deliver) {
    case Deliver::to_all: return ranks;
    case Deliver::to_root: return 1;
    case Deliver::to_owners: {
      int readers = 0;
      for (int owner = 0; owner < ranks; ++owner) readers += reduction.slice_size(owner) > 0 ? 1 : 0;
      return readers;
    }
    case Deliver::up_to_itself: return ranks - rank;
    case Deliver::up_to_the_last: return ranks - 1 - rank;
  }
  return 0;
}

/// Of how many ranks, from the first on, a rank reads the operands.
int operands_of(int rank, int ranks, const Reduction& reduction) {
  if (reduction.is_prefix()) return reduction.ranks_up_to(rank);
  if (reduction.deliver == Deliver::to_owners) return reduction.slice_size(rank) > 0 ? ranks : 0;
  return reduction.delivers_to(rank) ? ranks : 0;
}

}  // namespace

PostedReductions::PostedReductions(mpi::Context& context) {
  const mpi::Communicator& node = context.topology().node();
  auto memory = std::make_shared<Memory>();
  std::vector<mpi::SharedFile::Address> addresses;
  bool fine = true;
  mpi::agreed(context, [&] {
    memory->rank = node.rank();
    memory->mapped.resize(static_cast<std::size_t>(node.size()));
    addresses.resize(memory->mapped.size());
  });
  const Index bytes = longest_mapping(node.size());
  const auto map = [&](int rank, const mpi::SharedFile& file) {
    try {
      if (fine) fine = file.is_open();
      if (fine) memory->mapped[static_cast<std::size_t>(rank)] = mpi::SharedMapping(file, bytes);
    } catch (const OutOfMemory&) {
      fine = false;
    }
  };
  memory->file = mpi::SharedFile::of_memory();
  fine = bytes > blocks_at && memory->file.is_open() && memory->file.take_memory(0, blocks_at) == 0;
  memory->taken = blocks_at;
  map(node.rank(), memory->file);
  mpi::all_gather_bytes(node, std::as_bytes(std::span(&memory->file.address(), 1)),
                        std::as_writable_bytes(std::span(addresses)));
  for (int rank = 0; rank < node.size(); ++rank) {
    if (rank != node.rank()) map(rank, mpi::SharedFile::of_other(addresses[static_cast<std::size_t>(rank)]));
  }
  if (mpi::all_reduce(node, Index{fine}, mpi::Operation::minimum()) != 0) memory_ = std::move(memory);
}

PostedReductions::~PostedReductions() = default;

// Several may be under way.
Index PostedReductions::longest_operand() const noexcept { return longest_mapping(memory_->ranks()) / 4; }

PostedReductions::Series PostedReductions::new_series() noexcept {
  constexpr int bits_of_calls = 40;
  const std::scoped_lock lock(memory_->posting);
  Series series;
  series.last_call_ = ++series_ << bits_of_calls;
  return series;
}

std::unique_ptr<PostedReductions::Running> PostedReductions::post(const Reduction& reduction, Series& series) {
  PLAIT_ASSERT(shares_memory(), "reductions are posted in memory that the ranks share");
  PLAIT_ASSERT(!reduction.combine->may_throw(), "a posted reduction can't fail while it combines");
  Memory& memory = *memory_;
  const std::scoped_lock lock(memory.posting);
  const std::uint64_t call = ++series.last_call_;
  const int ranks = memory.ranks();
  const bool is_scattered = reduction.deliver == Deliver::to_owners;
  const auto self = static_cast<std::size_t>(memory.rank);
  const int readers = readers_of(memory.rank, ranks, reduction);
  const Index piece = Progressing::piece_length(*reduction.combine);
  const bool is_home = reduction.deliver == Deliver::to_all && memory.rank == 0;
  std::unique_ptr<Progressing> running;
  try {
    running = std::make_unique<Progressing>(memory_, call, reduction, operands_of(memory.rank, ranks, reduction),
                                            is_scattered ? reduction.begins[self] : 0,
                                            is_scattered ? reduction.slice_size(memory.rank) : reduction.n);
    if (readers > 0) {
      memory.leave(call, reduction.in, Agreed(reduction), is_home ? (reduction.n + piece - 1) / piece : 0, readers);
    }
  } catch (...) {  // those who wait for the operand are told, this rank among them
    memory.directory(memory.rank).has_ended.store(true, std::memory_order_release);
    if (running == nullptr) throw;
  }
  return running;
}

}  // namespace plait::collective::node
