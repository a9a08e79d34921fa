// io_hdf5_fuzz FIRST COUNT SCRATCH FILE...: reads each FILE, then inputs FIRST to FIRST + COUNT - 1: one of the files
// each, with a few bytes damaged, written to SCRATCH. Each has to be read or refused. Where the program dies, SCRATCH
// has the input. Calls no MPI.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/io/hdf5/hdf5.hpp"

namespace {

using plait::io::Hdf5Name;
using Random = std::mt19937_64;

// All rows of the only matrix, or of that in "/m".
void read(const std::string& file, const std::string& data_set) {
  constexpr plait::Index most_bytes = 1 << 20;
  const auto header = plait::io::read_hdf5_header_local({file, data_set});
  const auto [rows, columns] = header.shape;
  const plait::Index row_bytes = columns * plait::io::bytes(header.dtype);
  if (row_bytes > most_bytes || (row_bytes > 0 && rows > most_bytes / row_bytes)) return;
  std::vector<std::byte> elements(static_cast<std::size_t>(rows * row_bytes));
  plait::io::read_hdf5_rows(file, header, 0, rows, elements.data());
}

std::string content(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string damaged(std::string bytes, Random& random) {
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  for (std::size_t left = 1 + below(4); left > 0; --left) {
    const std::size_t at = below(bytes.size());
    char& byte = bytes[at];
    switch (below(8)) {
      case 0: byte = static_cast<char>(random()); break;
      case 1: byte = static_cast<char>(byte ^ 1 << below(8)); break;
      case 2: byte = static_cast<char>(byte + 1); break;
      case 3: byte = static_cast<char>(byte - 1); break;
      case 4: byte = std::array{'\0', '\1', '\x7f', '\x80', '\xff'}[below(5)]; break;
      case 5: bytes.replace(at, 1 + below(16), bytes.substr(below(bytes.size()), 1 + below(16))); break;
      case 6: bytes.replace(at, 1 + below(8), 1 + below(8), std::array{'\0', '\xff'}[below(2)]); break;
      default: bytes.resize(below(16) == 0 ? at + 1 : bytes.size()); break;
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return EXIT_FAILURE;
  const std::vector<std::string> files(argv + 4, argv + argc);
  std::vector<std::string> contents;
  for (const auto& file : files) {
    try {
      read(file, "/m");
      contents.push_back(content(file));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return EXIT_FAILURE;
    }
  }
  const std::uint64_t first = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  std::uint64_t refused = 0;
  for (std::uint64_t number = first; number < first + count; ++number) {
    Random random(number);
    std::ofstream(argv[3], std::ios::binary) << damaged(contents[random() % contents.size()], random);
    std::string text = "is read";
    try {
      read(argv[3], number % 2 == 0 ? "/m" : "");
    } catch (const plait::Error& error) {
      ++refused;
      text = error.what();
    }
    if (std::getenv("PLAIT_FUZZ_VERBOSE") != nullptr)
      std::fprintf(stderr, "%llu: %s\n", static_cast<unsigned long long>(number), text.c_str());
  }
  std::printf("%llu inputs, %llu of them refused\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(refused));
  return EXIT_SUCCESS;
}
