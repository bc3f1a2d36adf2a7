// Memory alone: who is remembered, who is forgotten, and bytes that come from anywhere.
#include "boba/core/memory.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boba {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A round in which these clients came, each with the state {value}.
void come(Memory& memory, const std::vector<std::string>& ids, double value = 0) {
  std::vector<Memory::Entry> round;
  for (const std::string& id : ids) round.push_back({id, {value}});
  memory.remember("rule", 1, std::move(round));
}

std::string error_of(const Result<void>& result) { return result ? "" : result.error().message; }
std::string load_error(std::string_view bytes) {
  const Result<Memory> loaded = Memory::load(bytes);
  return loaded ? "" : loaded.error().message;
}

TEST(Memory, BeginsEmptyAndSuitsEveryRule) {
  const Memory memory;
  EXPECT_EQ(memory.rule(), "");
  EXPECT_EQ(memory.rounds(), 0U);
  EXPECT_EQ(memory.width(), 0U);
  EXPECT_EQ(memory.clients(), 0U);
  EXPECT_EQ(memory.most(), Memory::kMostClients);
  EXPECT_EQ(memory.find("a"), nullptr);
  EXPECT_TRUE(memory.suits("any(f=1)", 7));
}

TEST(Memory, RemembersTheLastStateAndCountsRounds) {
  Memory memory;
  memory.remember("rule(f=1)", 2, {{"a", {1, 2}}, {"b", {3, 4}}});
  memory.remember("rule(f=1)", 2, {{"b", {5, -6}}, {"c", {7, 8}}});
  memory.remember("rule(f=1)", 2, {});
  EXPECT_EQ(memory.rule(), "rule(f=1)");
  EXPECT_EQ(memory.width(), 2U);
  EXPECT_EQ(memory.rounds(), 3U);
  EXPECT_EQ(memory.clients(), 3U);
  const auto expect = [&](const char* id, std::uint64_t seen, std::uint64_t last,
                          const std::vector<double>& state) {
    const Memory::Client* client = memory.find(id);
    ASSERT_NE(client, nullptr) << id;
    EXPECT_EQ(client->seen, seen) << id;
    EXPECT_EQ(client->last, last) << id;
    EXPECT_EQ(client->state, state) << id;
  };
  expect("a", 1, 1, {1, 2});
  expect("b", 2, 2, {5, -6});
  expect("c", 1, 2, {7, 8});
  EXPECT_EQ(memory.find("d"), nullptr);
  EXPECT_EQ(memory.find(""), nullptr);
}

TEST(Memory, BelongsToOneRuleAndOneNumberOfClasses) {
  Memory memory;
  memory.remember("rule(f=1)", 3, {{"a", {1, 2, 3}}});
  EXPECT_TRUE(memory.suits("rule(f=1)", 3));
  EXPECT_EQ(error_of(memory.suits("other", 3)),
            "the memory belongs to the rule rule(f=1), not to other; use one memory per rule");
  EXPECT_EQ(error_of(memory.suits("rule(f=1)", 4)),
            "the memory has 3 numbers per client, and this round needs 4: the number of classes "
            "has changed; begin with a new memory");
}

TEST(Memory, ForgetsThoseSeenLongestAgoFirst) {
  Memory memory(3);
  come(memory, {"a"}, 1);
  come(memory, {"b"}, 2);
  come(memory, {"c"}, 3);
  come(memory, {"a"}, 4);
  EXPECT_EQ(memory.clients(), 3U);
  come(memory, {"d"}, 5);  // b is the one that was seen longest ago
  EXPECT_EQ(memory.clients(), 3U);
  EXPECT_EQ(memory.find("b"), nullptr);
  for (const char* id : {"a", "c", "d"}) EXPECT_NE(memory.find(id), nullptr) << id;
  EXPECT_EQ(memory.find("a")->seen, 2U);
  // One that was forgotten is a new client.
  come(memory, {"b"}, 6);
  EXPECT_EQ(memory.find("b")->seen, 1U);
  EXPECT_EQ(memory.find("c"), nullptr);
}

TEST(Memory, OfThoseSeenTogetherForgetsTheNewestFirst) {
  Memory memory(2);
  come(memory, {"z"});
  come(memory, {"a", "z"});
  come(memory, {"b", "z", "a"});
  EXPECT_EQ(memory.find("b"), nullptr);
  EXPECT_EQ(memory.find("z")->seen, 3U);
  EXPECT_EQ(memory.find("a")->seen, 2U);
  // Between equals the one whose id is later in the alphabet stays, on every machine.
  Memory equals(2);
  come(equals, {"m", "k", "l"});
  EXPECT_EQ(equals.find("k"), nullptr);
  EXPECT_NE(equals.find("l"), nullptr);
  EXPECT_NE(equals.find("m"), nullptr);
}

TEST(Memory, AFloodInOneRoundPushesOutOnlyItself) {
  Memory memory(50);
  const std::vector<std::string> loyal = {"x", "y", "a"};
  come(memory, loyal, 1);
  std::vector<std::string> ids = loyal;
  for (int i = 0; i < 500; ++i) ids.push_back("flood " + std::to_string(i));
  come(memory, ids, 2);
  EXPECT_EQ(memory.clients(), 50U);
  for (const std::string& id : loyal) {
    ASSERT_NE(memory.find(id), nullptr) << id;
    EXPECT_EQ(memory.find(id)->seen, 2U);
  }
}

TEST(Memory, AFloodOverManyRoundsPushesOutOnlyItself) {
  Memory memory(20);
  std::vector<std::string> loyal;
  for (int i = 0; i < 10; ++i) loyal.push_back("loyal " + std::to_string(i));
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> ids = loyal;
    for (int i = 0; i < 8; ++i) ids.push_back("new " + std::to_string(8 * round + i));
    come(memory, ids, round);
    EXPECT_LE(memory.clients(), 20U);
  }
  for (const std::string& id : loyal) {
    ASSERT_NE(memory.find(id), nullptr) << id;
    EXPECT_EQ(memory.find(id)->seen, 200U);
    EXPECT_EQ(memory.find(id)->state, std::vector<double>{199});
  }
}

// A client that comes every fourth round stays while the others of four rounds fit in.
TEST(Memory, ThoseThatComeNowAndThenStay) {
  Memory memory(40);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> ids = {"guest " + std::to_string(round % 4)};
    for (int i = 0; i < 6; ++i) ids.push_back("new " + std::to_string(6 * round + i));
    come(memory, ids);
  }
  for (int guest = 0; guest < 4; ++guest) {
    ASSERT_NE(memory.find("guest " + std::to_string(guest)), nullptr) << guest;
    EXPECT_EQ(memory.find("guest " + std::to_string(guest))->seen, 25U);
  }
}

// The bytes as docs say, written by hand: so that a change of the format shows.
class Bytes {
 public:
  Bytes& raw(std::string_view text) {
    text_ += text;
    return *this;
  }
  Bytes& number(std::uint64_t value) {
    for (int i = 0; i < 8; ++i, value /= 256) text_ += static_cast<char>(value % 256);
    return *this;
  }
  Bytes& real(double value) { return number(std::bit_cast<std::uint64_t>(value)); }
  Bytes& text(std::string_view text) { return number(text.size()).raw(text); }

  // With the checksum, FNV-1a.
  std::string sealed() const {
    std::uint64_t sum = 14695981039346656037U;
    for (const char c : text_) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return Bytes(*this).number(sum).text_;
  }

 private:
  std::string text_;
};

struct Head {
  std::uint64_t version = 1;
  std::string rule = "rule";
  std::uint64_t rounds = 5;
  std::uint64_t most = 10;
  std::uint64_t width = 1;
  std::uint64_t count = 1;
};
Bytes begin(const Head& head) {
  return Bytes()
      .raw("boba memory\n")
      .number(head.version)
      .text(head.rule)
      .number(head.rounds)
      .number(head.most)
      .number(head.width)
      .number(head.count);
}

Memory sample() {
  Memory memory(1000);
  memory.remember("rule(f=2,kappa=3)", 3, {{"a", {0.1, -0.0, 1e300}}, {"client 7", {1, 2, 3}}});
  memory.remember("rule(f=2,kappa=3)", 3,
                  {{std::string_view("\0\n\xFF", 3), {5e-324, 0.5, 1.0 / 3}}, {"a", {4, 5, 6}}});
  return memory;
}

TEST(MemoryBytes, AreWhatTheFormatSays) {
  Memory memory(9);
  memory.remember("rule", 2, {{"b", {1.5, -2}}, {"a", {0, 3}}});
  memory.remember("rule", 2, {{"b", {0.25, 7}}});
  EXPECT_EQ(memory.save(), begin({.rounds = 2, .most = 9, .width = 2, .count = 2})
                               .text("a")
                               .number(1)
                               .number(1)
                               .real(0)
                               .real(3)
                               .text("b")
                               .number(2)
                               .number(2)
                               .real(0.25)
                               .real(7)
                               .sealed());
}

TEST(MemoryBytes, ComeBackAsAnEqualMemory) {
  for (const Memory& memory : {Memory(), Memory(3), sample()}) {
    const std::string bytes = memory.save();
    const Result<Memory> again = Memory::load(bytes);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->save(), bytes);
    EXPECT_EQ(again->rule(), memory.rule());
    EXPECT_EQ(again->rounds(), memory.rounds());
    EXPECT_EQ(again->most(), memory.most());
    EXPECT_EQ(again->width(), memory.width());
    EXPECT_EQ(again->clients(), memory.clients());
  }
  Result<Memory> again = Memory::load(sample().save());
  ASSERT_TRUE(again);
  const Memory::Client* client = again->find(std::string_view("\0\n\xFF", 3));
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(client->state, (std::vector<double>{5e-324, 0.5, 1.0 / 3}));
  EXPECT_EQ(again->find("a")->seen, 2U);
  // And it goes on as the first does.
  Memory first = sample();
  for (Memory* memory : {&first, &*again}) {
    memory->remember("rule(f=2,kappa=3)", 3, {{"new", {1, 1, 1}}});
  }
  EXPECT_EQ(again->save(), first.save());
}

TEST(MemoryBytes, OneChangedByteIsFound) {
  const std::string bytes = sample().save();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int flip : {1, 2, 0x10, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ flip);
      EXPECT_NE(load_error(damaged), "") << "byte " << i << " xor " << flip;
    }
  }
}

TEST(MemoryBytes, EveryPrefixAndEveryAdditionIsFound) {
  const std::string bytes = sample().save();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string error = load_error(std::string_view(bytes).substr(0, size));
    EXPECT_NE(error.find("memory: "), std::string::npos) << size << ": " << error;
    EXPECT_NE(load_error(std::string_view(bytes).substr(bytes.size() - size)), "") << size;
  }
  EXPECT_NE(load_error(bytes + "x"), "");
  EXPECT_NE(load_error(bytes + bytes), "");
  EXPECT_NE(load_error(bytes + std::string(8, '\0')), "");
}

TEST(MemoryBytes, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(load_error(""),
            "memory: the bytes do not begin as those of a memory do; load the bytes of an earlier "
            "save");
  EXPECT_EQ(load_error("boba memory\n"),
            "memory: the bytes end early; load the bytes of an earlier save");
  std::string bytes = sample().save();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_EQ(load_error(bytes), "memory: the checksum is wrong; load the bytes of an earlier save");
}

TEST(MemoryBytes, OtherVersionsAreNamed) {
  for (const std::uint64_t version : {0U, 2U, 77U}) {
    const std::string sealed = begin({.version = version, .count = 0}).sealed();
    EXPECT_EQ(load_error(sealed),
              "memory: version " + std::to_string(version) + "; this boba reads version 1");
  }
  // A later version may look different behind its number.
  EXPECT_EQ(load_error(Bytes().raw("boba memory\n").number(2).raw("?").sealed()),
            "memory: version 2; this boba reads version 1");
}

// Sealed bytes, so that nothing but the contents is wrong.
std::string with_client(const Head& head, std::string_view id, std::uint64_t seen,
                        std::uint64_t last, double state) {
  return begin(head).text(id).number(seen).number(last).real(state).sealed();
}

TEST(MemoryBytes, NumbersThatAreNotFiniteAreRefused) {
  EXPECT_EQ(load_error(with_client({}, "a", 2, 5, 0.5)), "");
  for (const double bad : {kNan, -kNan, kInfinity, -kInfinity}) {
    EXPECT_NE(load_error(with_client({}, "a", 2, 5, bad)).find("a client's entry is wrong"),
              std::string::npos);
  }
}

TEST(MemoryBytes, EntriesThatContradictThemselvesAreRefused) {
  const std::pair<const char*, std::string> cases[] = {
      {"an id that is empty", with_client({}, "", 2, 5, 0)},
      {"seen in no round", with_client({}, "a", 0, 5, 0)},
      {"seen in more rounds than there were", with_client({}, "a", 6, 5, 0)},
      {"seen in a later round", with_client({}, "a", 1, 6, 0)},
      {"rounds without end",
       with_client({.rounds = ~std::uint64_t{0}}, "a", ~std::uint64_t{0}, ~std::uint64_t{0}, 0)},
      {"no room for anybody", with_client({.most = 0}, "a", 1, 1, 0)},
      {"a client of no rule", with_client({.rule = ""}, "a", 1, 1, 0)},
      {"more clients than may be", begin({.most = 1, .count = 2})
                                       .text("a")
                                       .number(1)
                                       .number(1)
                                       .real(0)
                                       .text("b")
                                       .number(1)
                                       .number(1)
                                       .real(0)
                                       .sealed()},
      {"a client twice", begin({.count = 2})
                             .text("a")
                             .number(1)
                             .number(1)
                             .real(0)
                             .text("a")
                             .number(1)
                             .number(1)
                             .real(0)
                             .sealed()},
      {"clients out of order", begin({.count = 2})
                                   .text("b")
                                   .number(1)
                                   .number(1)
                                   .real(0)
                                   .text("a")
                                   .number(1)
                                   .number(1)
                                   .real(0)
                                   .sealed()},
      {"a client too few", begin({.count = 2}).text("a").number(1).number(1).real(0).sealed()},
      {"a client too many", with_client({.count = 0}, "a", 1, 1, 0)},
      {"a number too few", begin({}).text("a").number(1).number(1).sealed()},
      {"a number too many", begin({}).text("a").number(1).number(1).real(0).real(0).sealed()},
  };
  for (const auto& [what, bytes] : cases) EXPECT_NE(load_error(bytes), "") << what;
}

// Sizes that no bytes can hold must not make load() ask for memory.
TEST(MemoryBytes, HugeSizesAreRefused) {
  for (const std::uint64_t huge :
       {std::uint64_t{1} << 32, std::uint64_t{1} << 61, ~std::uint64_t{0} / 8, ~std::uint64_t{0}}) {
    const auto one = [&](const Head& head) { return with_client(head, "a", 1, 1, 0); };
    EXPECT_NE(load_error(one({.most = huge, .count = huge})), "") << huge;
    EXPECT_NE(load_error(one({.width = huge})), "") << huge;
    EXPECT_NE(load_error(one({.most = huge, .width = huge, .count = huge})), "") << huge;
    EXPECT_NE(load_error(begin({}).number(huge).raw("a").number(1).number(1).real(0).sealed()), "")
        << huge;
    EXPECT_NE(load_error(Bytes().raw("boba memory\n").number(1).number(huge).raw("rule").sealed()),
              "")
        << huge;
  }
  // A memory for many clients is none with many.
  const Result<Memory> roomy = Memory::load(with_client({.most = ~std::uint64_t{0}}, "a", 1, 1, 0));
  ASSERT_TRUE(roomy);
  EXPECT_EQ(roomy->clients(), 1U);
}

}  // namespace
}  // namespace boba
