#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plait/report/overlap.hpp"
#include "plait/report/trace.hpp"

namespace plait::cli {

/// What a picture of a trace shows as one thing; `name` is its CSS class.
enum class Mark : unsigned char { compute, combine, post, wait, network, node, self, posted };
inline constexpr std::array<Mark, 8> marks{Mark::compute, Mark::combine, Mark::post, Mark::wait,
                                           Mark::network, Mark::node,    Mark::self, Mark::posted};
[[nodiscard]] constexpr std::string_view name(Mark mark) noexcept {
  constexpr std::array<std::string_view, 8> names{"compute", "combine", "post", "wait",
                                                  "network", "node",    "self", "posted"};
  return names[static_cast<std::size_t>(mark)];
}

/// A message in a lane: with whom, and of how many bytes.
struct StripMessage {
  report::Interval under_way;
  int peer = -1;
  Index bytes = 0;
};

/// A horizontal strip: what was done, or was under way, when. Intervals of a mark may overlap.
struct Strip {
  std::vector<StripMessage> messages;
  std::array<std::vector<report::Interval>, marks.size()> times;
  [[nodiscard]] std::vector<report::Interval>& of(Mark mark) { return times[static_cast<std::size_t>(mark)]; }
  [[nodiscard]] const std::vector<report::Interval>& of(Mark mark) const {
    return times[static_cast<std::size_t>(mark)];
  }
};

/// What there is of communications of each kind.
template <class T>
struct Lanes {
  std::vector<T> outgoing;  ///< messages that were sent
  std::vector<T> incoming;
  std::vector<T> others;  ///< requests, and flags that were waited for
};

/// A rank's part of a picture. Communications lie in lanes: what is under way at one time is in different ones, as far
/// as there are lanes.
struct RankStrips : Lanes<Strip> {
  Strip work;
  Strip calls;  ///< posting and waiting
};

/// One entry for each rank, with at most `most_lanes` lanes of each kind.
///
/// A message has its mark while it is under way (`report::Message::under_way`), at both ends, and is `posted` before.
[[nodiscard]] std::vector<RankStrips> strips_of(const report::Trace& trace, std::size_t most_lanes);

/// The timeline of a trace as a section of a page: below a time axis come, rank by rank, its work, its posting and
/// waiting, and lanes of communications.
///
/// At full length it has as many columns as a screen has pixels; what falls into one column is drawn together, the
/// fainter the less of the column it fills. What is seen further in has as many columns as the page has room for; so
/// the text stays within some megabytes, however much the trace holds.
///
/// \param what  HTML: which part of a job it is; may be empty
[[nodiscard]] std::string timeline_section(const report::Trace& trace, Nanoseconds span, std::string_view what = {});

}  // namespace plait::cli
