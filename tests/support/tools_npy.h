// .npy files for tests, written and read without the tool's own code.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/views.h"

namespace boba::test {

// The bytes of a file from its parts, true or not. The header is padded to a multiple of 64 with
// blanks and a newline unless pad says otherwise.
std::string npy_bytes(std::string_view dictionary, std::string_view data, int version = 1,
                      bool pad = true);

// "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".
std::string npy_dictionary(std::string_view descr, std::string_view shape,
                           std::string_view fortran = "False");

// The bytes of a file with these rows.
template <Element T>
std::string npy_of(const std::vector<std::vector<T>>& rows) {
  const std::size_t length = rows.empty() ? 1 : rows.front().size();
  std::string data;
  for (const std::vector<T>& row : rows) {
    data.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(T));
  }
  const std::string shape = fmt::format("({}, {})", rows.size(), length);
  return npy_bytes(npy_dictionary(sizeof(T) == 4 ? "<f4" : "<f8", shape), data);
}

// The numbers of a file that boba wrote. Throws where the header is not the expected one.
template <Element T>
std::vector<std::vector<T>> npy_rows(const std::string& bytes, std::size_t rows,
                                     std::size_t length);

// Label-skewed rows, the same at each call: honest ones first, then copies of -10 times their mean.
struct Sample {
  std::vector<std::vector<float>> updates;
  std::vector<std::vector<float>> server;
};
Sample sample_round(std::size_t honest, std::size_t byzantine, std::size_t classes,
                    std::size_t length);

}  // namespace boba::test
