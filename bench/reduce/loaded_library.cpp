#include "bench/reduce/loaded_library.hpp"

#include <link.h>

#include <cstddef>
#include <string_view>

namespace plait::bench {

namespace {

struct Search {
  std::string end;
  std::string path;
};

int look(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!std::string_view(info->dlpi_name).ends_with(search.end)) return 0;
  search.path = info->dlpi_name;
  return 1;
}

}  // namespace

std::string loaded_library(const std::string& file_name) {
  Search search{"/" + file_name, ""};
  dl_iterate_phdr(look, &search);
  return search.path;
}

}  // namespace plait::bench
