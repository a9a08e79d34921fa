#pragma once

#include <string_view>
#include <vector>

namespace plait {

/// The NUMA domain to which all cores belong that the calling thread may run on, as the kernel numbers it, or -1 where
/// they belong to several (as those of a rank that is bound nowhere) or that is unknown.
[[nodiscard]] int numa_domain();

/// The numbers of a list as Linux writes those of cores and domains, such as "0-3,8"; what is none is left out.
[[nodiscard]] std::vector<int> listed_numbers(std::string_view list);

}  // namespace plait
