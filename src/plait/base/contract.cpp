#include "plait/base/contract.hpp"

#include <string>

namespace plait {

void contract_violated(const char* condition, const char* why, const char* file, int line) {
  throw ContractViolation(std::string(why) + " [" + condition + " is false, " + file + ":" + std::to_string(line) +
                          "]");
}

}  // namespace plait
