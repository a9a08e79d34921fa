#include "plait/learn/network/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plait/mpi/agreed.hpp"

namespace plait::learn {

void Network::take(const Rows& samples, Index row, double* to) const {
  samples.take(row, to);
  for (Index c = 0; c < samples.columns(); ++c) to[c] = (to[c] - means[at(c)]) / scales[at(c)];
}

void Network::predict(const Rows& samples, std::span<const Index> rows, Pass& pass, std::vector<double>& said) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    take(samples, rows[i], pass.input() + static_cast<Index>(i) * samples.columns());
  }
  // Products of one shape, so that what is said of a sample does not depend on the others.
  pass.forward(parameters, {0, predicted_at_once});
  said.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto output = pass.output(static_cast<Index>(i));
    if (!std::ranges::all_of(output, [](double each) { return std::isfinite(each); })) {
      said.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    said.push_back(tells_classes() ? static_cast<double>(std::ranges::max_element(output) - output.begin())
                                   : means.back() + scales.back() * output[0]);
  }
}

Quality Network::quality(const Samples& samples) const {
  Pass pass = mpi::agreed(samples.context(), [&] { return pass_to_predict(); });
  return quality_of(samples, [&](std::span<const Index> rows, std::vector<double>& said) {
    predict(samples.own(), rows, pass, said);
  });
}

}  // namespace plait::learn
