#include "boba/capi/guard.h"

#include <algorithm>
#include <cstddef>

namespace boba::capi {
namespace {

// Fixed, so that telling of a failure cannot fail.
thread_local char last_error[2048] = "";

}  // namespace

boba_status fail(boba_status status, std::string_view sentence) noexcept {
  const std::size_t length = std::min(sentence.size(), sizeof(last_error) - 1);
  std::copy_n(sentence.begin(), length, last_error);
  last_error[length] = '\0';
  return status;
}

Result<void> need(std::string_view operation, std::initializer_list<Given> given) {
  for (const Given& one : given) {
    if (one.pointer != nullptr) continue;
    return invalid_argument(std::string(operation) + ": " + std::string(one.name) + " is NULL");
  }
  return {};
}

}  // namespace boba::capi

const char* boba_last_error(void) { return boba::capi::last_error; }
