#include "tests/support/paths.h"

namespace boba::test {

std::string source_dir() { return BOBA_SOURCE_DIR; }
std::string binary_dir() { return BOBA_BINARY_DIR; }

}  // namespace boba::test
