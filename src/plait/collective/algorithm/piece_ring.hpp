#pragma once

#include <cstdint>

#include "plait/base/index.hpp"

namespace plait::collective {

/// Where pieces of data under way lie in a ring of memory: one behind the other, and at its beginning again where it
/// ends. All of the ring is used however short the pieces are: what was written last is in a cache of who has read it,
/// and memory that has left it is written up to four times as fast.
///
/// Of `pieces_ahead` pieces in a row none lies over another.
class PieceRing {
 public:
  static constexpr std::uint64_t pieces_ahead = 8;
  /// Pieces begin on pairs of cache lines, which processors fetch at once.
  static constexpr Index apart = 128;
  [[nodiscard]] static constexpr Index rounded_up(Index bytes) noexcept { return (bytes + apart - 1) / apart * apart; }

  /// What a ring takes for pieces of at most so many bytes. One more than may be under way, as none is cut in two
  /// where the ring ends.
  [[nodiscard]] static constexpr Index bytes_for(Index longest_piece) noexcept {
    return static_cast<Index>(pieces_ahead + 1) * rounded_up(longest_piece);
  }

  /// \pre  longest_piece >= 1
  explicit PieceRing(Index longest_piece) noexcept : bytes_(bytes_for(longest_piece)) {}

  /// The pieces from here on, of number 0 and up, are equally long.
  /// \pre  1 <= piece_bytes <= the longest
  void begin(Index piece_bytes) noexcept {
    stride_ = rounded_up(piece_bytes);
    first_ = next_;
    until_end_ = (bytes_ - first_) / stride_;
  }

  /// In bytes from the ring's beginning.
  [[nodiscard]] Index place(Index piece) const noexcept {
    if (piece < until_end_) return first_ + piece * stride_;
    return (piece - until_end_) % (bytes_ / stride_) * stride_;
  }

  /// There were so many.
  void end(Index pieces) noexcept {
    if (pieces > 0) next_ = place(pieces - 1) + stride_;
  }

 private:
  Index bytes_;
  Index stride_ = 0;
  Index first_ = 0;      // where piece 0 lies, if it is not beyond the end
  Index until_end_ = 0;  // pieces from there on
  Index next_ = 0;       // where the next piece 0 will lie
};

}  // namespace plait::collective
