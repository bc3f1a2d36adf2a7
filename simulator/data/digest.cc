#include "simulator/data/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <bit>
#include <new>

namespace boba::sim {

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  State() = default;
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Digest::Digest(DigestKind kind) : state_(std::make_unique<State>()) {
  const EVP_MD* method = kind == DigestKind::kMd5 ? EVP_md5() : EVP_sha256();
  // Memory is the only thing these calls can want for.
  if (state_->context == nullptr || EVP_DigestInit_ex(state_->context, method, nullptr) != 1) {
    throw std::bad_alloc();
  }
}

Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

void Digest::add(std::span<const std::uint8_t> bytes) {
  if (EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) != 1) throw std::bad_alloc();
}

std::string Digest::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  if (EVP_DigestFinal_ex(state_->context, bytes.data(), &size) != 1) throw std::bad_alloc();
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

namespace {

void add_text(Digest& digest, const std::string& text) {
  digest.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// As little-endian bytes, so that every machine gives the same checksum.
template <class T>
void add_numbers(Digest& digest, const std::vector<T>& values) {
  add_text(digest, fmt::format("{} numbers\n", values.size()));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
  if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1) {
    digest.add({bytes, values.size() * sizeof(T)});
  } else {
    std::array<std::uint8_t, sizeof(T)> turned{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t k = 0; k < sizeof(T); ++k) {
        turned[k] = bytes[(i + 1) * sizeof(T) - 1 - k];
      }
      digest.add(turned);
    }
  }
}

void add_examples(Digest& digest, const Examples& examples) {
  add_numbers(digest, examples.pixels);
  add_numbers(digest, examples.words);
  add_numbers(digest, examples.labels);
}

}  // namespace

std::string checksum_of(const Dataset& data) {
  Digest digest;
  add_text(digest,
           fmt::format("boba data 1\nkind {} classes {} image {} {} {} length {} vectors {}\n",
                       data.kind == DataKind::kImages ? "images" : "text", data.classes.size(),
                       data.image.channels, data.image.height, data.image.width, data.length,
                       data.vector_length));
  add_numbers(digest, data.mean);
  add_numbers(digest, data.deviation);
  add_numbers(digest, data.vectors);
  add_examples(digest, data.train);
  add_examples(digest, data.test);
  return digest.finish();
}

}  // namespace boba::sim
