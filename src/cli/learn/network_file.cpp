#include "cli/learn/network_file.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/io/hdf5/hdf5.hpp"

namespace plait::cli {

namespace {

constexpr const char* network_group = "/network";

/// A matrix of f64 that all ranks read.
std::vector<double> read_matrix(Work& work, const std::string& path, const std::string& name, layout::Shape shape) {
  const io::Hdf5Header header = io::read_hdf5_header(work.context, {path, fmt::format("{}/{}", network_group, name)});
  return mpi::agreed(work.context, [&] {
    if (header.dtype != io::DType::f64 || header.shape != shape) {
      throw FileError(fmt::format("{}: {} is {} of {}, expected {} of f64", path, header.data_set,
                                  layout::to_string(header.shape), io::name(header.dtype), layout::to_string(shape)));
    }
    std::vector<double> all(at(shape.rows * shape.columns));
    io::read_hdf5_rows(path, header, 0, shape.rows, std::as_writable_bytes(std::span(all)).data());
    const auto wrong = std::ranges::find_if_not(all, [](double each) { return std::isfinite(each); });
    if (wrong != all.end()) {
      const Index k = wrong - all.begin();
      throw FileError(fmt::format("{}: {} has {} in row {}, column {} (counted from 0), expected finite numbers", path,
                                  header.data_set, *wrong, k / shape.columns, k % shape.columns));
    }
    return all;
  });
}

}  // namespace

void expect_replaceable_network(const std::string& path) {
  io::expect_replaceable_hdf5({path, fmt::format("{}/", network_group)});
}

void write_network(Work& work, const std::string& path, const learn::Network& network) {
  std::vector<std::vector<double>> numbers{network.means};
  std::vector<io::Hdf5Array> arrays;
  Index bytes = 0;
  mpi::agreed(work.context, [&] {
    numbers[0].insert(numbers[0].end(), network.scales.begin(), network.scales.end());
    std::vector<std::pair<std::string, layout::Shape>> shapes{
        {"scaling", {2, static_cast<Index>(network.means.size())}}};
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
      const learn::Layer& layer = network.layers[l];
      if (layer.parameters() == 0) continue;
      numbers.push_back(network.parameters[l]);
      shapes.emplace_back(fmt::format("{}", l + 1), layout::Shape{layer.outputs(), layer.inputs() + 1});
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      arrays.push_back({shapes[i].first, {2, {shapes[i].second.rows, shapes[i].second.columns}}, numbers[i]});
      bytes += static_cast<Index>(numbers[i].size() * sizeof(double));
    }
  });
  work.meter.stage("writing " + path, bytes, bytes);
  const JointStopwatch watch(work.context);
  io::write_hdf5_group(work.context, path, network_group, arrays,
                       {{"layers", to_string(network.layers)}, {"input", to_string(network.layers.front().in)}});
  work.written.emplace_back(path, Moved{bytes, watch.seconds()});
}

learn::Network read_network(Work& work, const std::string& path) {
  const auto text = [&](const char* what) { return io::read_hdf5_text(work.context, {path, network_group}, what); };
  const std::string layers = text("layers"), input = text("input");
  learn::Network network;
  mpi::agreed(work.context, [&] {
    try {
      network.layers = learn::parse_layers(layers, learn::parse_volume(input));
    } catch (const ArgumentError& error) {
      throw ArgumentError(fmt::format("{}: {}", path, error.what()));
    }
  });
  const Index columns = network.layers.front().in.size() + 1;
  const auto scaling = read_matrix(work, path, "scaling", {2, columns});
  network.means.assign(scaling.begin(), scaling.begin() + columns);
  network.scales.assign(scaling.begin() + columns, scaling.end());
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const learn::Layer& layer = network.layers[l];
    learn::Parameters& parameters = network.parameters.emplace_back();
    if (layer.parameters() == 0) continue;
    parameters = read_matrix(work, path, fmt::format("{}", l + 1), {layer.outputs(), layer.inputs() + 1});
  }
  return network;
}

}  // namespace plait::cli
