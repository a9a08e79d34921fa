#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"
#include "plait/layout/text.hpp"

namespace plait::layout {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A text and a place in it, counted in bytes: what the parser of the text form of a layout is made of.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t place() const noexcept { return place_; }
  [[nodiscard]] bool at_end() const noexcept { return place_ == text_.size(); }

  /// \throws LayoutError  in three lines: `what`, the text, and a caret under the given place
  [[noreturn]] void fail(std::size_t place, const std::string& what) const;
  [[noreturn]] void fail_here(const std::string& what) const { fail(place_, what); }

  /// Moves past this character, if it is the next one.
  bool take(char c) noexcept;

  /// Moves past this character, or fails and names what it should have followed.
  void expect(char c, std::string_view after);

  /// Moves past a comma that belongs to a value.
  bool take_comma_of_value() noexcept { return !at_option() && take(','); }

  /// Letters and hyphens; may be empty.
  std::string_view word() noexcept;

  /// A decimal number from `least` to `most`; `what` names it in the texts of errors.
  Index number(std::string_view what, Index least, Index most);

  /// Everything up to the next option or the end.
  std::string_view value() noexcept;

 private:
  /// Whether a comma and `name=` follow.
  [[nodiscard]] bool at_option() const noexcept;

  std::string_view text_;
  std::size_t place_ = 0;
};

void TextReader::fail(std::size_t place, const std::string& what) const {
  // The caret stands under a character, which may be several bytes (UTF-8), and no character may break the line.
  std::string shown;
  std::size_t indent = 0;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text_[i]);
    const bool control = byte < 0x20 || byte == 0x7f;
    const bool continues_character = (byte & 0xc0U) == 0x80U;
    shown += control ? '?' : text_[i];
    if (i < place && !continues_character) ++indent;
  }
  throw LayoutError(fmt::format("{}\n{}\n{}^", what, shown, std::string(indent, ' ')));
}

bool TextReader::take(char c) noexcept {
  if (at_end() || text_[place_] != c) return false;
  ++place_;
  return true;
}

void TextReader::expect(char c, std::string_view after) {
  if (!take(c)) fail_here(fmt::format("expected '{}' after {}", c, after));
}

std::string_view TextReader::word() noexcept {
  const std::size_t begin = place_;
  while (!at_end() && (is_letter(text_[place_]) || text_[place_] == '-')) ++place_;
  return text_.substr(begin, place_ - begin);
}

Index TextReader::number(std::string_view what, Index least, Index most) {
  const std::size_t begin = place_;
  const bool negative = take('-');
  std::size_t end = place_;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  if (end == place_) fail(begin, fmt::format("expected {}, a whole number of at least {}", what, least));

  Index value = 0;
  const auto parsed = std::from_chars(text_.data() + place_, text_.data() + end, value);
  const bool too_long = parsed.ec == std::errc::result_out_of_range;
  const std::string_view given = text_.substr(begin, end - begin);
  if (negative ? too_long || -value < least : !too_long && value < least) {
    fail(begin, fmt::format("{} is {}, expected at least {}", what, given, least));
  }
  if (!negative && (too_long || value > most)) {
    fail(begin, fmt::format("{} is {}, expected at most {}", what, given, most));
  }
  place_ = end;
  return value;
}

std::string_view TextReader::value() noexcept {
  const std::size_t begin = place_;
  while (!at_end() && !at_option()) ++place_;
  return text_.substr(begin, place_ - begin);
}

bool TextReader::at_option() const noexcept {
  if (at_end() || text_[place_] != ',') return false;
  const std::size_t name = place_ + 1;
  std::size_t end = name;
  while (end < text_.size() && is_letter(text_[end])) ++end;
  return end > name && end < text_.size() && text_[end] == '=';
}

/// Reads one text; remembers where options stood for the checks between them.
class SpecReader {
 public:
  explicit SpecReader(std::string_view text) : reader_(text) {}

  LayoutSpec read() {
    read_kind();
    while (!reader_.at_end()) {
      if (!reader_.take(',')) reader_.fail_here("expected the end or a comma and an option (" + names() + ")");
      read_option();
    }
    check_together();
    const bool goes_without_saying = spec_.storage == default_storage(spec_.kind);
    if (goes_without_saying && spec_.kind != LayoutKind::custom)
      spec_.storage.reset();  // a custom file may say another
    return std::move(spec_);
  }

 private:
  enum Option : std::size_t { order, src, storage, ranks, within, at, options };
  static constexpr std::array<std::string_view, options> option_names{"order", "src",    "storage",
                                                                      "ranks", "within", "at"};
  static constexpr std::size_t nowhere = std::string_view::npos;

  static std::string names() { return fmt::format("{}", fmt::join(option_names, "=, ")) + "="; }

  void read_kind() {
    const std::string_view kind = reader_.word();
    if (kind == "block-cyclic") {
      spec_.kind = LayoutKind::block_cyclic;
      reader_.expect(':', kind);
      spec_.block_rows = reader_.number("the block's row count", 1, most);
      reader_.expect('x', "the block's row count");
      spec_.block_columns = reader_.number("the block's column count", 1, most);
      read_grid("the block's column count");
    } else if (kind == "rows") {
      spec_.kind = LayoutKind::rows;
      spec_.grid_rows = read_ranks(kind);
    } else if (kind == "cols") {
      spec_.kind = LayoutKind::columns;
      spec_.grid_columns = read_ranks(kind);
    } else if (kind == "blocks") {
      spec_.kind = LayoutKind::blocks;
      read_grid(kind);
    } else if (kind == "custom") {
      spec_.kind = LayoutKind::custom;
      reader_.expect(':', kind);
      spec_.path = reader_.value();
      if (spec_.path.empty()) reader_.fail_here("expected the path of a file");
    } else {
      reader_.fail(
          0, fmt::format("the kind of layout is '{}', expected block-cyclic, rows, cols, blocks or custom", kind));
    }
  }

  Index read_ranks(std::string_view after) {
    reader_.expect('@', after);
    return reader_.number("the number of ranks", 1, most_ranks);
  }

  void read_grid(std::string_view after) {
    reader_.expect('@', after);
    const std::size_t place = reader_.place();
    spec_.grid_rows = reader_.number("the grid's row count", 1, most_ranks);
    reader_.expect('x', "the grid's row count");
    spec_.grid_columns = reader_.number("the grid's column count", 1, most_ranks);
    if (spec_.grid_rows > most_ranks / spec_.grid_columns) {
      reader_.fail(place, fmt::format("the process grid has {} x {} ranks, expected at most {} in all", spec_.grid_rows,
                                      spec_.grid_columns, most_ranks));
    }
  }

  void read_option() {
    const std::size_t place = reader_.place();
    const std::string_view name = reader_.word();
    if (name.empty()) reader_.fail_here("expected an option (" + names() + ")");
    const auto option = static_cast<std::size_t>(std::ranges::find(option_names, name) - option_names.begin());
    if (option == options) reader_.fail(place, fmt::format("the option is '{}', expected one of {}", name, names()));
    if (places_[option] != nowhere) reader_.fail(place, fmt::format("{}= is given twice, expected it once", name));
    places_[option] = place;
    check_belongs(static_cast<Option>(option));
    reader_.expect('=', name);
    switch (static_cast<Option>(option)) {
      case order: spec_.order = read_direction(name) ? GridOrder::row : GridOrder::column; break;
      case storage: spec_.storage = read_direction(name) ? StorageOrder::row_major : StorageOrder::column_major; break;
      case src:
        spec_.first_row_part = read_first_part("the row of the grid to which the first block belongs", spec_.grid_rows);
        reader_.expect(',', "the row of the grid");
        spec_.first_column_part =
            read_first_part("the column of the grid to which the first block belongs", spec_.grid_columns);
        break;
      case ranks: read_listed_ranks(); break;
      case within: read_within(); break;
      case at:
        spec_.row = reader_.number("the first row", 0, most);
        reader_.expect(',', "the first row");
        spec_.column = reader_.number("the first column", 0, most);
        break;
      case options: break;
    }
  }

  void check_belongs(Option option) const {
    if (option == src && spec_.kind != LayoutKind::block_cyclic) {
      reader_.fail(places_[src], "src= belongs to block-cyclic, expected another option or none");
    }
    if ((option == order || option == ranks) && spec_.kind == LayoutKind::custom) {
      reader_.fail(places_[option], fmt::format("{}= numbers a process grid, and the file of a custom layout names its "
                                                "owners, expected another option or none",
                                                option_names[option]));
    }
  }

  /// Whether the value is "row".
  bool read_direction(std::string_view name) {
    const std::size_t place = reader_.place();
    const std::string_view value = reader_.word();
    if (value != "row" && value != "col")
      reader_.fail(place, fmt::format("{}= is '{}', expected row or col", name, value));
    return value == "row";
  }

  Index read_first_part(std::string_view what, Index parts) { return reader_.number(what, 0, parts - 1); }

  void read_listed_ranks() {
    const std::size_t place = reader_.place();
    do {
      spec_.listed_ranks.push_back(static_cast<int>(reader_.number("a rank", 0, most_ranks - 1)));
    } while (reader_.take_comma_of_value());
    const auto given = static_cast<Index>(spec_.listed_ranks.size());
    const Index expected = spec_.grid_rows * spec_.grid_columns;
    if (given != expected) {
      reader_.fail(place, fmt::format("ranks= lists {} ranks, expected {} for a process grid of {} x {}", given,
                                      expected, spec_.grid_rows, spec_.grid_columns));
    }
  }

  void read_within() {
    Shape shape;
    shape.rows = reader_.number("the whole matrix's row count", 0, most);
    reader_.expect('x', "the whole matrix's row count");
    shape.columns = reader_.number("the whole matrix's column count", 0, most);
    spec_.within = shape;
  }

  void check_together() const {
    if (places_[order] != nowhere && places_[ranks] != nowhere) {
      reader_.fail(places_[order], "order= and ranks= both number the process grid, expected only one of them");
    }
    if (places_[at] == nowhere) return;
    if (!spec_.within)
      reader_.fail(places_[at], "at= is given without within=RxC, the shape of the whole matrix, expected both");
    if (spec_.row > spec_.within->rows || spec_.column > spec_.within->columns) {
      reader_.fail(places_[at], fmt::format("at= is {},{}, expected a place within {}", spec_.row, spec_.column,
                                            to_string(*spec_.within)));
    }
  }

  static constexpr Index most = std::numeric_limits<Index>::max();
  static constexpr Index most_ranks = std::numeric_limits<int>::max();

  TextReader reader_;
  LayoutSpec spec_;
  std::array<std::size_t, options> places_{nowhere, nowhere, nowhere, nowhere, nowhere, nowhere};
};

}  // namespace

LayoutSpec LayoutSpec::parse(std::string_view text) { return SpecReader(text).read(); }

}  // namespace plait::layout
