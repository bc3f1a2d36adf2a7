// Where the sources and the build are.
#pragma once

#include <string>

namespace boba::test {

std::string source_dir();
std::string binary_dir();

}  // namespace boba::test
