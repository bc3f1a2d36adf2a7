// What there is, and whether it is intact.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/data/inventory.h"
#include "tests/support/data_archive.h"
#include "tests/support/data_files.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

namespace fs = std::filesystem;

class Inventory : public ::testing::Test {
 protected:
  fs::path at(const std::string& name) const { return folder_.path() / name; }
  DataSources sources() const { return {.folders = {folder_.path()}}; }
  FoundSet found(const std::string& name) const {
    for (const FoundSet& set : list_datasets(sources())) {
      if (set.name == name) return set;
    }
    ADD_FAILURE() << name;
    return {};
  }
  TemporaryFolder folder_;
};

TEST_F(Inventory, ListsAllSetsInOrder) {
  std::vector<std::string> names;
  for (const FoundSet& set : list_datasets(sources())) {
    names.push_back(set.name);
    EXPECT_FALSE(set.complete);
    EXPECT_EQ(set.trouble, "not found");
    EXPECT_FALSE(set.advice.empty());
    EXPECT_EQ(set.folder, "");
  }
  EXPECT_EQ(names, (std::vector<std::string>{"mnist", "fashion-mnist", "cifar10", "ag-news"}));
  EXPECT_FALSE(holds_data(folder_.path()));
}

TEST_F(Inventory, CountsWithoutReadingAll) {
  write_idx_set(at("mnist"), 20);
  const FoundSet set = found("mnist");
  EXPECT_TRUE(set.complete);
  EXPECT_EQ(set.train, 20U);
  EXPECT_EQ(set.test, 10U);
  EXPECT_EQ(set.folder, at("mnist").string());
  EXPECT_EQ(set.trouble, "20 training examples; the published set has 60000");
  EXPECT_EQ(set.checksum.size(), 64U);
  EXPECT_TRUE(holds_data(folder_.path()));
  std::string labels = read_text(at("mnist/t10k-labels-idx1-ubyte"));
  labels.back() = 3;
  write_text(at("mnist/t10k-labels-idx1-ubyte"), labels);
  EXPECT_NE(found("mnist").checksum, set.checksum);
}

TEST_F(Inventory, CountsPackedBatches) {
  fs::create_directories(at("cifar10"));
  for (const std::string name : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4",
                                 "data_batch_5", "test_batch"}) {
    write_xz(at("cifar10") / (name + ".bin.xz"), cifar_batch(turns(3), 1));
  }
  EXPECT_EQ(found("cifar10").train, 15U);
  EXPECT_EQ(found("cifar10").test, 3U);
}

TEST_F(Inventory, CountsMembersOfArchives) {
  std::vector<Member> members;
  for (const std::string name : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4",
                                 "data_batch_5", "test_batch"}) {
    members.push_back({"cifar-10-batches-bin/" + name + ".bin", cifar_batch(turns(2), 1)});
  }
  write_tar_gzip(at("cifar-10-binary.tar.gz"), members);
  EXPECT_EQ(found("cifar10").train, 10U);
  members.pop_back();
  write_tar_gzip(at("cifar-10-binary.tar.gz"), members);
  EXPECT_FALSE(found("cifar10").complete);
  EXPECT_EQ(found("cifar10").trouble,
            at("cifar-10-binary.tar.gz").string() + ": it has no member test_batch.bin");
}

TEST_F(Inventory, TellsWhatIsMissingOrWrong) {
  write_text_set(at("ag_news"));
  fs::remove(at("ag_news/vectors.100d.txt"));
  EXPECT_EQ(found("ag-news").trouble, "not found: word vectors");
  EXPECT_EQ(found("ag-news").folder, at("ag_news").string());
  write_idx_set(at("mnist"), 20);
  write_text(at("mnist/train-labels-idx1-ubyte"), idx_labels(turns(19)));
  EXPECT_EQ(found("mnist").trouble, at("mnist/train-labels-idx1-ubyte").string() +
                                        ": 19 labels; expected one for each of 20 images");
  EXPECT_FALSE(found("mnist").complete);
  write_text(at("mnist/train-labels-idx1-ubyte"), "x");
  EXPECT_NE(found("mnist").trouble.find("the file ends"), std::string::npos);
}

TEST_F(Inventory, VerifyTellsReadableFromDamaged) {
  write_idx_set(at("mnist"), 20);
  std::string labels = idx_labels(turns(20));
  labels[12] = 77;
  write_text(at("mnist/train-labels-idx1-ubyte"), labels);
  const Result<VerifiedSet> set = verify_dataset("mnist", sources());
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_TRUE(set->damaged());
  ASSERT_EQ(set->files.size(), 4U);
  EXPECT_EQ(set->files[0].state, FileState::kReadable);
  EXPECT_EQ(set->files[0].items, 20U);
  EXPECT_EQ(set->files[0].digest.size(), 64U);
  EXPECT_NE(set->files[0].remark.find("not the published file"), std::string::npos);
  EXPECT_EQ(set->files[1].state, FileState::kDamaged);
  EXPECT_EQ(set->files[1].remark, at("mnist/train-labels-idx1-ubyte").string() +
                                      ": at byte 12: label 77; expected 0 to 9");
  EXPECT_EQ(set->files[3].state, FileState::kReadable);
}

TEST_F(Inventory, VerifyGoesOnAfterAFileThatCannotBeUnpacked) {
  write_idx_set(at("mnist"), 20);
  fs::remove(at("mnist/train-images-idx3-ubyte"));
  write_text(at("mnist/train-images-idx3-ubyte.gz"), "no gzip");
  const Result<VerifiedSet> set = verify_dataset("mnist", sources());
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->files[0].state, FileState::kDamaged);
  EXPECT_NE(set->files[0].remark.find("1f 8b"), std::string::npos);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(set->files[i].state, FileState::kReadable) << i;
}

TEST_F(Inventory, VerifyComparesNumbersOfImagesAndLabels) {
  write_idx_set(at("mnist"), 20);
  write_text(at("mnist/t10k-labels-idx1-ubyte"), idx_labels(turns(11)));
  const Result<VerifiedSet> set = verify_dataset("mnist", sources());
  ASSERT_TRUE(set);
  EXPECT_TRUE(set->damaged());
  EXPECT_EQ(set->files[3].state, FileState::kDamaged);
}

TEST_F(Inventory, VerifyHashesWhatIsUnpacked) {
  write_idx_set(at("a/mnist"), 20);
  const Result<VerifiedSet> plain = verify_dataset("mnist", {.folders = {at("a")}});
  fs::create_directories(at("b/mnist"));
  for (const auto& entry : fs::directory_iterator(at("a/mnist"))) {
    write_gzip(at("b/mnist") / (entry.path().filename().string() + ".gz"), read_text(entry.path()));
  }
  const Result<VerifiedSet> packed = verify_dataset("mnist", {.folders = {at("b")}});
  ASSERT_TRUE(plain);
  ASSERT_TRUE(packed);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(plain->files[i].digest, packed->files[i].digest);
}

TEST_F(Inventory, VerifyTellsOfEachMember) {
  write_text_set(at("texts"));
  write_tar_gzip(at("ag_news_csv.tar.gz"),
                 {{"ag_news_csv/train.csv", "\"9\",\"a\",\"b\"\n"},
                  {"ag_news_csv/test.csv", read_text(at("texts/test.csv"))}});
  write_text(at("glove.6B.100d.txt"), vector_line("peace", 1));
  const Result<VerifiedSet> set = verify_dataset("ag-news", sources());
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->files[0].state, FileState::kDamaged);
  EXPECT_NE(set->files[0].remark.find("class '9'"), std::string::npos);
  EXPECT_EQ(set->files[1].state, FileState::kReadable);
  EXPECT_EQ(set->files[1].items, 1U);
  EXPECT_EQ(set->files[2].state, FileState::kReadable);
}

TEST_F(Inventory, VerifyComparesTheChecksumOfAnArchive) {
  write_text_set(at("texts"));
  write_tar_gzip(at("ag_news_csv.tar.gz"),
                 {{"ag_news_csv/train.csv", read_text(at("texts/train.csv"))},
                  {"ag_news_csv/test.csv", read_text(at("texts/test.csv"))}});
  write_text(at("glove.6B.100d.txt"), vector_line("peace", 1));
  EXPECT_FALSE(verify_dataset("ag-news", sources())->damaged());
  std::string bytes = read_text(at("ag_news_csv.tar.gz"));
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);
  write_text(at("ag_news_csv.tar.gz"), bytes);
  const Result<VerifiedSet> set = verify_dataset("ag-news", sources());
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->files[0].state, FileState::kDamaged);
  EXPECT_EQ(set->files[1].state, FileState::kDamaged);
  EXPECT_EQ(set->files[1].digest, "");
  EXPECT_NE(set->files[1].remark.find("ag_news_csv.tar.gz: damaged: "), std::string::npos);
  EXPECT_EQ(set->files[2].state, FileState::kReadable);
  EXPECT_FALSE(load_dataset("ag-news", sources()));
}

TEST_F(Inventory, VerifyRefusesWhatIsNotThere) {
  EXPECT_FALSE(verify_dataset("mnist", sources()));
  EXPECT_FALSE(verify_dataset("synthetic", sources()));
  EXPECT_FALSE(verify_dataset("imagenet", sources()));
}

}  // namespace
}  // namespace boba::test
