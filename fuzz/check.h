// A property of a fuzz target: reported and fatal, whatever NDEBUG says.
#pragma once

#include <cstdio>
#include <cstdlib>

inline void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", property);
  std::abort();
}
