#include "tests/support/tools_npy.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "boba/core/random.h"

namespace boba::test {

std::string npy_bytes(std::string_view dictionary, std::string_view data, int version, bool pad) {
  const std::size_t before = version == 1 ? 10 : 12;
  std::string header(dictionary);
  if (pad) {
    while ((before + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
  }
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (std::size_t k = 0; k < before - 8; ++k) {
    bytes += static_cast<char>(header.size() >> (8 * k) & 0xff);
  }
  return bytes + header + std::string(data);
}

std::string npy_dictionary(std::string_view descr, std::string_view shape,
                           std::string_view fortran) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr, fortran,
                     shape);
}

template <Element T>
std::vector<std::vector<T>> npy_rows(const std::string& bytes, std::size_t rows,
                                     std::size_t length) {
  const std::string shape = fmt::format("({}, {})", rows, length);
  const std::string header = npy_bytes(npy_dictionary(sizeof(T) == 4 ? "<f4" : "<f8", shape), "");
  if (!bytes.starts_with(header) || bytes.size() != header.size() + rows * length * sizeof(T)) {
    throw std::runtime_error("not the .npy file that was expected");
  }
  std::vector<std::vector<T>> result(rows, std::vector<T>(length));
  for (std::size_t i = 0; i < rows; ++i) {
    std::memcpy(result[i].data(), bytes.data() + header.size() + i * length * sizeof(T),
                length * sizeof(T));
  }
  return result;
}

template std::vector<std::vector<float>> npy_rows<float>(const std::string&, std::size_t,
                                                         std::size_t);
template std::vector<std::vector<double>> npy_rows<double>(const std::string&, std::size_t,
                                                           std::size_t);

Sample sample_round(std::size_t honest, std::size_t byzantine, std::size_t classes,
                    std::size_t length) {
  Sample sample;
  const auto noise = [&](std::size_t stream, std::size_t j) {
    const StreamKey key{7, 0, static_cast<std::uint32_t>(stream), Purpose::kSynthetic};
    return normal_at(key, j);
  };
  for (std::size_t z = 0; z < classes; ++z) {
    // Unequal sizes: a multiple of the honest mean then asks for negative shares of a class.
    const double size = 0.5 + static_cast<double>(z) / static_cast<double>(classes);
    std::vector<float> row(length);
    for (std::size_t j = 0; j < length; ++j) row[j] = static_cast<float>(size * noise(z, j));
    sample.server.push_back(row);
  }
  std::vector<double> mean(length, 0.0);
  for (std::size_t i = 0; i < honest; ++i) {
    const std::vector<float>& a = sample.server[i % classes];
    const std::vector<float>& b = sample.server[(i * 3 + 1) % classes];
    std::vector<float> row(length);
    for (std::size_t j = 0; j < length; ++j) {
      row[j] = static_cast<float>(0.6 * a[j] + 0.4 * b[j] + 0.1 * noise(1000 + i, j));
      mean[j] += row[j] / static_cast<double>(honest);
    }
    sample.updates.push_back(row);
  }
  std::vector<float> evil(length);
  for (std::size_t j = 0; j < length; ++j) evil[j] = static_cast<float>(-10 * mean[j]);
  sample.updates.insert(sample.updates.end(), byzantine, evil);
  return sample;
}

}  // namespace boba::test
