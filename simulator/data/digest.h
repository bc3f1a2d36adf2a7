// Checksums of bytes as they pass by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "simulator/data/dataset.h"

namespace boba::sim {

enum class DigestKind : std::uint8_t {
  kSha256,
  kMd5,  // for files whose publishers give no other; guards against accidents only
};

class Digest {
 public:
  explicit Digest(DigestKind kind = DigestKind::kSha256);
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;

  void add(std::span<const std::uint8_t> bytes);
  // Of all bytes so far, in hexadecimal digits. REQUIRES: called once, add not after it.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Dataset::checksum of all the other fields; names of sets and classes are not seen by training.
std::string checksum_of(const Dataset& data);

}  // namespace boba::sim
