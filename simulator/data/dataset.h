// A data set in memory, as it was stored: bytes of images or numbers of words, with labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace boba::sim {

enum class DataKind : std::uint8_t { kImages, kText };

struct ImageShape {
  std::size_t channels = 1;
  std::size_t height = 28;
  std::size_t width = 28;

  std::size_t size() const { return channels * height * width; }
};

// Word numbers with a meaning of their own; both have the zero vector.
inline constexpr std::int32_t kNoWord = 0;       // after the end of a text
inline constexpr std::int32_t kUnknownWord = 1;  // a word without a vector

struct Examples {
  std::vector<std::uint8_t> pixels;  // images: one after another, channel by channel, row by row
  std::vector<std::int32_t> words;   // texts: Dataset::length numbers each
  std::vector<std::uint8_t> labels;  // below the number of classes

  std::size_t count() const { return labels.size(); }
};

struct Dataset {
  std::string name;  // as an experiment writes it: "mnist"
  DataKind kind = DataKind::kImages;
  std::vector<std::string> classes;

  // Images: a pixel of channel k enters a model as (byte / 255 - mean[k]) / deviation[k].
  ImageShape image = {};
  std::vector<double> mean;
  std::vector<double> deviation;

  // Texts: the vector of word i is row i of vectors.
  std::size_t length = 0;
  std::size_t vector_length = 0;
  std::vector<float> vectors;

  Examples train;
  Examples test;

  // Of everything above that training sees, 64 hexadecimal digits: two data sets with the same one
  // give the same numbers.
  std::string checksum;
};

}  // namespace boba::sim
