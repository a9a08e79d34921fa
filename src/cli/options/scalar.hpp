#pragma once

#include <complex>
#include <string>
#include <string_view>

#include "plait/io/dtype.hpp"

namespace plait::cli {

/// A number as the command line gives it, before the type of the elements is known: "2", "-0.5", "1e-3", and complex
/// ones "1+2i", "-0.5i", "i", "(1,2)" (with i or j). Kept as text, so that whole numbers of 64 bits stay exact.
class Scalar {
 public:
  /// \throws ArgumentError  if the text is no finite number
  explicit Scalar(std::string_view text);

  /// \throws ArgumentError  if T can't hold the number: a fraction for integers, an imaginary part for reals, too large
  template <io::FileElement T>
  [[nodiscard]] T as() const;

  /// To doubles.
  [[nodiscard]] std::complex<double> rounded() const noexcept { return rounded_; }
  [[nodiscard]] bool is_zero() const noexcept { return rounded_ == 0.0; }
  [[nodiscard]] bool is_one() const noexcept { return rounded_ == 1.0; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  std::string real_;  // decimal numbers
  std::string imaginary_;
  std::complex<double> rounded_;
};

[[nodiscard]] inline Scalar parse_scalar(std::string_view text) { return Scalar(text); }

}  // namespace plait::cli
