#include "boba/core/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace boba {
namespace {

constexpr std::string_view kMagic = "boba memory\n";
constexpr std::uint64_t kVersion = 1;

// FNV-1a: finds damage, not forgery.
std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t sum = 0xCBF29CE484222325U;
  for (const char byte : bytes) {
    sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  }
  return sum;
}

// Numbers are written as 8 bytes, the least significant first.
void put(std::string& bytes, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<char>(value >> shift & 0xFF));
  }
}
void put(std::string& bytes, std::string_view text) {
  put(bytes, std::uint64_t{text.size()});
  bytes += text;
}

// Reads what put() wrote. After the end of the bytes, every answer is empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::optional<std::uint64_t> number() {
    if (rest_.size() < 8) return {};
    std::uint64_t value = 0;
    for (std::size_t i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(8);
    return value;
  }
  std::optional<std::string> text() {
    const auto length = number();
    if (!length || *length > rest_.size()) return {};
    std::string text(rest_.substr(0, *length));
    rest_.remove_prefix(*length);
    return text;
  }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

Error damaged(std::string_view what) {
  return invalid_argument(fmt::format("memory: {}; load the bytes of an earlier save", what));
}

}  // namespace

const Memory::Client* Memory::find(std::string_view id) const {
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : &found->second;
}

Memory Memory::only(std::span<const std::string> ids) const {
  Memory part(most_);
  part.rule_ = rule_;
  part.rounds_ = rounds_;
  part.width_ = width_;
  for (const std::string& id : ids) {
    if (const Client* client = find(id)) part.clients_.emplace(id, *client);
  }
  return part;
}

Result<void> Memory::suits(const std::string& rule, std::size_t width) const {
  if (rule_.empty()) return {};
  if (rule != rule_) {
    return invalid_argument(fmt::format(
        "the memory belongs to the rule {}, not to {}; use one memory per rule", rule_, rule));
  }
  if (width == width_) return {};
  return invalid_argument(
      fmt::format("the memory has {} numbers per client, and this round needs {}: the number of "
                  "classes has changed; begin with a new memory",
                  width_, width));
}

void Memory::remember(const std::string& rule, std::size_t width, std::vector<Entry> round) {
  rule_ = rule;
  width_ = width;
  ++rounds_;
  for (Entry& entry : round) {
    Client& client = clients_[std::string(entry.id)];
    ++client.seen;
    client.last = rounds_;
    client.state = std::move(entry.state);
  }
  forget_beyond_most();
}

void Memory::forget_beyond_most() {
  if (clients_.size() <= most_) return;
  using Position = std::map<std::string, Client, std::less<>>::iterator;
  std::vector<Position> all;
  for (auto at = clients_.begin(); at != clients_.end(); ++at) all.push_back(at);
  const auto forgotten = static_cast<std::ptrdiff_t>(all.size() - most_);
  const auto earlier = [](const Position& a, const Position& b) {
    return std::tie(a->second.last, a->second.seen, a->first) <
           std::tie(b->second.last, b->second.seen, b->first);
  };
  std::nth_element(all.begin(), all.begin() + forgotten, all.end(), earlier);
  std::for_each(all.begin(), all.begin() + forgotten,
                [&](const Position& at) { clients_.erase(at); });
}

std::string Memory::save() const {
  std::string bytes(kMagic);
  put(bytes, kVersion);
  put(bytes, rule_);
  put(bytes, rounds_);
  put(bytes, std::uint64_t{most_});
  put(bytes, std::uint64_t{width_});
  put(bytes, std::uint64_t{clients_.size()});
  for (const auto& [id, client] : clients_) {
    put(bytes, id);
    put(bytes, client.seen);
    put(bytes, client.last);
    for (const double number : client.state) put(bytes, std::bit_cast<std::uint64_t>(number));
  }
  put(bytes, checksum(bytes));
  return bytes;
}

Result<Memory> Memory::load(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return damaged("the bytes do not begin as those of a memory do");
  Reader reader(bytes.substr(kMagic.size()));
  const auto version = reader.number();
  if (version && *version != kVersion) {
    return invalid_argument(
        fmt::format("memory: version {}; this boba reads version {}", *version, kVersion));
  }
  const auto rule = reader.text();
  const auto rounds = reader.number();
  const auto most = reader.number();
  const auto width = reader.number();
  const auto count = reader.number();
  if (!count) return damaged("the bytes end early");
  if (checksum(bytes.substr(0, bytes.size() - 8)) !=
      Reader(bytes.substr(bytes.size() - 8)).number()) {
    return damaged("the checksum is wrong");
  }
  // A client takes its width and at least three more numbers.
  const std::uint64_t numbers = reader.left() / 8;
  const bool fits = *count == 0 || (*width <= numbers && *count <= numbers / (*width + 3));
  const bool endless = *rounds == std::numeric_limits<std::uint64_t>::max();
  if (*most == 0 || *count > *most || !fits || endless || (rule->empty() && *count > 0)) {
    return damaged("its sizes contradict each other");
  }
  Memory memory(*most);
  memory.rule_ = *rule;
  memory.rounds_ = *rounds;
  memory.width_ = *width;
  for (std::uint64_t k = 0; k < *count; ++k) {
    auto id = reader.text();
    const auto seen = reader.number();
    const auto last = reader.number();
    if (!last || id->empty() || *seen == 0 || *seen > *last || *last > *rounds ||
        (k > 0 && *id <= memory.clients_.rbegin()->first)) {
      return damaged("a client's entry is wrong");
    }
    Client client{.seen = *seen, .last = *last, .state = {}};
    for (std::uint64_t i = 0; i < *width; ++i) {
      const auto bits = reader.number();
      if (!bits || !std::isfinite(std::bit_cast<double>(*bits))) {
        return damaged("a client's entry is wrong");
      }
      client.state.push_back(std::bit_cast<double>(*bits));
    }
    memory.clients_.emplace_hint(memory.clients_.end(), *std::move(id), std::move(client));
  }
  if (reader.left() != 8) return damaged("bytes follow its end");
  return memory;
}

}  // namespace boba
