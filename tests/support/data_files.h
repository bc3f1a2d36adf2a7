// The contents of small data files, for tests that write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace boba::test {

// Four bytes, the highest first.
std::string big_endian(std::uint32_t value);

// Pixel j of image i is (7 i + j) mod 256.
std::string idx_images(std::size_t count, std::uint32_t side = 28);
std::string idx_labels(const std::vector<std::uint8_t>& labels);
// 0, 1, ..., 9, 0, ...
std::vector<std::uint8_t> turns(std::size_t count, std::size_t first = 0);

// Records with these labels; pixel j of record i is (seed + 5 i + j) mod 256.
std::string cifar_batch(const std::vector<std::uint8_t>& labels, std::size_t seed);

// A line of a file of vectors: the numbers first, first + 1, ...
std::string vector_line(const std::string& word, double first, std::size_t length = 100);

// The four idx files, plain, into a folder that is made: this many training examples, half of it
// for testing.
void write_idx_set(const std::filesystem::path& folder, std::size_t train);
// train.csv, test.csv and vectors.100d.txt of a few words.
void write_text_set(const std::filesystem::path& folder);

// Bytes for ByteStream::from_memory.
std::vector<std::uint8_t> bytes_of(const std::string& text);

}  // namespace boba::test
