// The checksum of a data set: everything training sees is in it.

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "simulator/data/digest.h"
#include "tests/support/data_files.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

Dataset sample() {
  Dataset data;
  data.name = "sample";
  data.classes = {"a", "b"};
  data.image = {.channels = 1, .height = 1, .width = 2};
  data.mean = {0.5};
  data.deviation = {0.25};
  data.length = 2;
  data.vector_length = 1;
  data.vectors = {0, 0, 1.5F};
  data.train = {.pixels = {1, 2, 3, 4}, .words = {2, 0, 1, 1}, .labels = {0, 1}};
  data.test = {.pixels = {5, 6}, .words = {2, 2}, .labels = {1}};
  return data;
}

TEST(Checksum, EveryFieldThatTrainingSeesChangesIt) {
  using Change = std::function<void(Dataset&)>;
  const std::vector<Change> changes{
      [](Dataset&) {},
      [](Dataset& d) { d.kind = DataKind::kText; },
      [](Dataset& d) { d.classes.emplace_back("c"); },
      [](Dataset& d) { d.image = {.channels = 2, .height = 1, .width = 1}; },
      [](Dataset& d) { d.mean[0] = 0.5000001; },
      [](Dataset& d) { d.deviation[0] = 0.3; },
      [](Dataset& d) { d.length = 1; },
      [](Dataset& d) { d.vector_length = 3; },
      [](Dataset& d) { d.vectors[2] = 1.5000001F; },
      [](Dataset& d) { d.train.pixels[3] = 5; },
      [](Dataset& d) { d.train.words[0] = 1; },
      [](Dataset& d) { d.train.labels[0] = 1; },
      [](Dataset& d) { d.test.pixels[0] = 0; },
      [](Dataset& d) { d.test.words[1] = 0; },
      [](Dataset& d) { d.test.labels[0] = 0; },
      // The same bytes in a row, cut elsewhere.
      [](Dataset& d) {
        d.train.pixels = {1, 2};
        d.test.pixels = {3, 4, 5, 6};
      },
      [](Dataset& d) { std::swap(d.train, d.test); },
  };
  std::set<std::string> seen;
  for (const Change& change : changes) {
    Dataset data = sample();
    change(data);
    EXPECT_TRUE(seen.insert(checksum_of(data)).second) << seen.size();
  }
}

TEST(Checksum, NamesDoNotChangeIt) {
  Dataset data = sample();
  data.name = "other";
  data.classes = {"x", "y"};
  data.checksum = "old";
  EXPECT_EQ(checksum_of(data), checksum_of(sample()));
}

TEST(Checksum, IsThePublishedFunction) {
  Digest sha;
  sha.add(bytes_of("a"));
  sha.add(bytes_of("bc"));
  EXPECT_EQ(sha.finish(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Digest md5(DigestKind::kMd5);
  md5.add(bytes_of("abc"));
  EXPECT_EQ(md5.finish(), "900150983cd24fb0d6963f7d28e17f72");
}

}  // namespace
}  // namespace boba::test
