#include "tests/support/data_files.h"

#include "tests/support/tools_process.h"

namespace boba::test {

std::string big_endian(std::uint32_t value) {
  std::string text;
  for (const int shift : {24, 16, 8, 0}) text += static_cast<char>(value >> shift & 0xff);
  return text;
}

std::string idx_images(std::size_t count, std::uint32_t side) {
  std::string text = big_endian(0x803) + big_endian(static_cast<std::uint32_t>(count)) +
                     big_endian(side) + big_endian(side);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < std::size_t{side} * side; ++j) {
      text += static_cast<char>((7 * i + j) % 256);
    }
  }
  return text;
}

std::string idx_labels(const std::vector<std::uint8_t>& labels) {
  return big_endian(0x801) + big_endian(static_cast<std::uint32_t>(labels.size())) +
         std::string(labels.begin(), labels.end());
}

std::vector<std::uint8_t> turns(std::size_t count, std::size_t first) {
  std::vector<std::uint8_t> labels(count);
  for (std::size_t i = 0; i < count; ++i) labels[i] = static_cast<std::uint8_t>((first + i) % 10);
  return labels;
}

std::string cifar_batch(const std::vector<std::uint8_t>& labels, std::size_t seed) {
  std::string text;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    text += static_cast<char>(labels[i]);
    for (std::size_t j = 0; j < 3072; ++j) text += static_cast<char>((seed + 5 * i + j) % 256);
  }
  return text;
}

std::string vector_line(const std::string& word, double first, std::size_t length) {
  std::string line = word;
  for (std::size_t k = 0; k < length; ++k) {
    line += ' ';
    line += std::to_string(first + static_cast<double>(k));
  }
  return line + "\n";
}

void write_idx_set(const std::filesystem::path& folder, std::size_t train) {
  std::filesystem::create_directories(folder);
  write_text(folder / "train-images-idx3-ubyte", idx_images(train));
  write_text(folder / "train-labels-idx1-ubyte", idx_labels(turns(train)));
  write_text(folder / "t10k-images-idx3-ubyte", idx_images(train / 2));
  write_text(folder / "t10k-labels-idx1-ubyte", idx_labels(turns(train / 2)));
}

void write_text_set(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_text(
      folder / "train.csv",
      "\"1\",\"Peace Talks\",\"Both sides met.\"\n\"3\",\"Stocks\",\"Oil fell; stocks rose\"\n");
  write_text(folder / "test.csv", "\"4\",\"Peace\",\"of mind\"\n");
  write_text(folder / "vectors.100d.txt", vector_line("stocks", 1) + vector_line("unused", 2) +
                                              vector_line("peace", 3) + vector_line(".", 4));
}

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace boba::test
