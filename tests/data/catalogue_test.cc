// Data sets by name: where they are found, and what is in them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "simulator/data/catalogue.h"
#include "tests/support/data_archive.h"
#include "tests/support/data_files.h"
#include "tests/support/doc_blocks.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

namespace fs = std::filesystem;

class Catalogue : public ::testing::Test {
 protected:
  fs::path at(const std::string& name) const { return folder_.path() / name; }
  Result<Dataset> load(const std::string& spec, const LoadOptions& options = {}) const {
    return load_dataset(spec, {.folders = {folder_.path()}}, options);
  }
  std::string message(const std::string& spec) const {
    const Result<Dataset> data = load(spec);
    return data ? "" : data.error().message;
  }
  TemporaryFolder folder_;
};

TEST_F(Catalogue, LoadsIdxSets) {
  write_idx_set(at("mnist"), 20);
  const Result<Dataset> data = load("mnist");
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->name, "mnist");
  EXPECT_EQ(data->kind, DataKind::kImages);
  EXPECT_EQ(data->image.size(), 784U);
  EXPECT_EQ(data->classes.size(), 10U);
  EXPECT_EQ(data->mean, std::vector<double>{0.1307});
  EXPECT_EQ(data->deviation, std::vector<double>{0.3081});
  EXPECT_EQ(data->train.labels, turns(20));
  EXPECT_EQ(data->test.labels, turns(10));
  EXPECT_EQ(data->train.pixels.size(), 20U * 784);
  EXPECT_EQ(data->train.pixels[784], 7);
  EXPECT_EQ(data->checksum.size(), 64U);
}

TEST_F(Catalogue, PackedFilesAndOtherNamesLoadTheSame) {
  write_idx_set(at("fashion-mnist"), 20);
  const Result<Dataset> plain = load("fashion-mnist");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->mean, std::vector<double>{0.2860});
  EXPECT_EQ(plain->classes[9], "Ankle boot");
  for (const auto& entry : fs::directory_iterator(at("fashion-mnist"))) {
    std::string name = entry.path().filename().string();
    const std::string text = read_text(entry.path());
    // train-images-idx3-ubyte and train-images.idx3-ubyte are both about.
    name[name.find("-idx")] = '.';
    fs::create_directories(at("other/fashion_mnist"));
    if (name.starts_with("train")) {
      write_gzip(at("other/fashion_mnist") / (name + ".gz"), text);
    } else {
      write_xz(at("other/fashion_mnist") / (name + ".xz"), text);
    }
  }
  const Result<Dataset> packed = load_dataset("fashion-mnist", {.folders = {at("other")}});
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(packed->checksum, plain->checksum);
}

TEST_F(Catalogue, EarlierFoldersCome) {
  write_idx_set(at("first/mnist"), 10);
  write_idx_set(at("second/mnist"), 20);
  const Result<Dataset> both =
      load_dataset("mnist", {.folders = {at("nowhere"), at("first"), at("second")}});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->train.count(), 10U);
  // A folder that lacks a file is passed over; files of two folders are not mixed.
  fs::remove(at("first/mnist/t10k-labels-idx1-ubyte"));
  const Result<Dataset> second = load_dataset("mnist", {.folders = {at("first"), at("second")}});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->train.count(), 20U);
}

// Who names a folder means it: another one must not stand in for it without a word.
TEST_F(Catalogue, ANamedFolderThatIsIncompleteIsAnError) {
  write_idx_set(at("first/mnist"), 10);
  write_idx_set(at("second/mnist"), 20);
  fs::remove(at("first/mnist/t10k-labels-idx1-ubyte"));
  for (const std::string origin : {"--data", "BOBA_DATA"}) {
    const DataSources sources{.folders = {at("first"), at("second")}, .origins = {origin, "cache"}};
    const Result<Dataset> data = load_dataset("mnist", sources);
    ASSERT_FALSE(data);
    EXPECT_EQ(data.error().message,
              "mnist: " + at("first/mnist").string() + " (" + origin +
                  ") has training images, training labels, test images, but no test labels. "
                  "Complete that folder or do not name it; " +
                  at("second/mnist").string() + " has all of them.");
    EXPECT_FALSE(has_dataset("mnist", sources));
  }
  // A named folder without any of the files says nothing about the set.
  fs::create_directories(at("empty"));
  EXPECT_TRUE(load_dataset(
      "mnist", {.folders = {at("empty"), at("second")}, .origins = {"--data", "cache"}}));
  // One behind the folder that is taken does not matter.
  EXPECT_TRUE(load_dataset(
      "mnist", {.folders = {at("second"), at("first")}, .origins = {"--data", "BOBA_DATA"}}));
}

// A row of a long word for each byte of a packed file: they are unknown words, not memory.
TEST_F(Catalogue, LongWordsOfTextsAreUnknown) {
  write_text_set(at("ag_news"));
  const Result<Dataset> before = load("ag-news");
  ASSERT_TRUE(before) << before.error().message;
  std::string rows = read_text(at("ag_news/train.csv"));
  if (!rows.ends_with('\n')) rows += '\n';
  for (int i = 0; i < 20; ++i) {
    rows += "\"1\",\"" + std::string(60000, static_cast<char>('a' + i)) + "\",\"\"\n";
  }
  write_text(at("ag_news/train.csv"), rows);
  const Result<Dataset> after = load("ag-news");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->vectors, before->vectors);
  ASSERT_EQ(after->train.count(), before->train.count() + 20);
  const std::size_t place = before->train.words.size();
  EXPECT_EQ(after->train.words[place], kUnknownWord);
  EXPECT_EQ(after->train.words[place + 1], kNoWord);
}

TEST_F(Catalogue, ASourceMayBeTheFolderItself) {
  write_idx_set(at("mnist"), 10);
  EXPECT_TRUE(load_dataset("mnist", {.folders = {at("mnist")}}));
  EXPECT_TRUE(load_dataset("mnist", {.folders = {at("mnist/")}}));
  // Files of the same names in a folder that says that they are another set's.
  EXPECT_FALSE(load_dataset("fashion-mnist", {.folders = {at("mnist")}}));
  EXPECT_FALSE(load_dataset("fashion-mnist", {.folders = {at("mnist/")}}));
}

TEST_F(Catalogue, CanonicalLabelsTellTheTwoIdxSetsApart) {
  // As Fashion-MNIST begins, in a folder of no telling name, and in one that lies.
  const std::vector<std::uint8_t> labels{9, 0, 0, 3, 0, 2, 7, 2, 5, 5, 0, 9, 5, 5, 7, 9};
  for (const std::string name : {"stuff", "mnist"}) {
    write_idx_set(at(name), 16);
    write_text(at(name) / "train-labels-idx1-ubyte", idx_labels(labels));
    EXPECT_FALSE(load_dataset("mnist", {.folders = {at(name)}})) << name;
  }
  EXPECT_TRUE(load_dataset("fashion-mnist", {.folders = {at("stuff")}}));
}

TEST_F(Catalogue, CountsOfImagesAndLabelsMustAgree) {
  write_idx_set(at("mnist"), 20);
  write_text(at("mnist/t10k-labels-idx1-ubyte"), idx_labels(turns(9)));
  EXPECT_EQ(message("mnist"),
            at("mnist/t10k-labels-idx1-ubyte").string() +
                ": at byte 4: 9 labels; expected one for each of the 10 images of " +
                at("mnist/t10k-images-idx3-ubyte").string());
}

TEST_F(Catalogue, LoadsCifarFromFilesAndFromTheArchive) {
  fs::create_directories(at("cifar10"));
  std::vector<Member> members{{"cifar-10-batches-bin/", ""},
                              {"cifar-10-batches-bin/readme.html", "<html>"}};
  // In an order of its own, as the published archive has it.
  for (const std::size_t k :
       {std::size_t{3}, std::size_t{1}, std::size_t{5}, std::size_t{2}, std::size_t{4}}) {
    const std::string name = "data_batch_" + std::string(1, static_cast<char>('0' + k)) + ".bin";
    const std::string batch = cifar_batch(turns(k, k), 10 * k);
    members.push_back({"cifar-10-batches-bin/" + name, batch});
    if (k % 2 == 0) {
      write_text(at("cifar10") / name, batch);
    } else {
      write_xz(at("cifar10") / (name + ".xz"), batch);
    }
  }
  const std::string test = cifar_batch({7, 8}, 99);
  members.insert(members.begin() + 3, {"cifar-10-batches-bin/test_batch.bin", test});
  write_gzip(at("cifar10/test_batch.bin.gz"), test);
  fs::create_directories(at("archive"));
  write_tar_gzip(at("archive/cifar-10-binary.tar.gz"), members);
  const Result<Dataset> files = load("cifar10");
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->train.count(), 15U);
  EXPECT_EQ(files->train.labels[0], 1);
  EXPECT_EQ(files->train.labels[1], 2);
  EXPECT_EQ(files->train.labels[14], 9);
  EXPECT_EQ(files->train.pixels[0], 10);
  EXPECT_EQ(files->train.pixels[3072], 20);
  EXPECT_EQ(files->test.labels, (std::vector<std::uint8_t>{7, 8}));
  EXPECT_EQ(files->image.channels, 3U);
  EXPECT_EQ(files->mean, (std::vector<double>{0.4914, 0.4822, 0.4465}));
  const Result<Dataset> archive = load_dataset("cifar10", {.folders = {at("archive")}});
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_EQ(archive->checksum, files->checksum);
}

TEST_F(Catalogue, LoadsTextsWithVectors) {
  write_text_set(at("ag_news"));
  const Result<Dataset> data = load("ag-news", {.length = 5});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->kind, DataKind::kText);
  EXPECT_EQ(data->classes.size(), 4U);
  EXPECT_EQ(data->length, 5U);
  EXPECT_EQ(data->vector_length, 100U);
  EXPECT_EQ(data->train.labels, (std::vector<std::uint8_t>{0, 2}));
  EXPECT_EQ(data->test.labels, std::vector<std::uint8_t>{3});
  // Rows: stocks 2, peace 3. The full stop is cut off with the first text's sixth word.
  EXPECT_EQ(data->train.words,
            (std::vector<std::int32_t>{3, 1, 1, 1, 1,     // peace talks both ...
                                       2, 1, 1, 1, 2}));  // stocks oil fell ; ...
  EXPECT_EQ(data->test.words, (std::vector<std::int32_t>{3, 1, 1, 0, 0}));
  ASSERT_EQ(data->vectors.size(), 400U);
  EXPECT_EQ(std::count(data->vectors.begin(), data->vectors.begin() + 200, 0.0F), 200);
  EXPECT_EQ(data->vectors[200], 1);
  EXPECT_EQ(data->vectors[301], 4);
}

TEST_F(Catalogue, TextsFromArchivesLoadTheSame) {
  write_text_set(at("ag_news"));
  const Result<Dataset> plain = load("ag-news");
  ASSERT_TRUE(plain) << plain.error().message;
  fs::create_directories(at("packed"));
  const auto text = [&](const std::string& name) { return read_text(at("ag_news") / name); };
  write_tar_gzip(at("packed/ag_news_csv.tar.gz"), {{"ag_news_csv/", ""},
                                                   {"ag_news_csv/test.csv", text("test.csv")},
                                                   {"ag_news_csv/train.csv", text("train.csv")}});
  write_zip(at("packed/glove.6B.zip"),
            {{"glove.6B.50d.txt", "the 1 2\n"}, {"glove.6B.100d.txt", text("vectors.100d.txt")}});
  const Result<Dataset> packed = load_dataset("ag-news", {.folders = {at("packed")}});
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(packed->checksum, plain->checksum);
  // Vectors may lie in another folder than the texts.
  fs::create_directories(at("texts"));
  fs::create_directories(at("vectors/glove"));
  write_gzip(at("texts/train_subset_30k.csv.gz"), text("train.csv"));
  write_text(at("texts/test.csv"), text("test.csv"));
  write_gzip(at("vectors/glove/glove.6B.100d.txt.gz"), text("vectors.100d.txt"));
  const Result<Dataset> apart = load_dataset("ag-news", {.folders = {at("vectors"), at("texts")}});
  ASSERT_TRUE(apart) << apart.error().message;
  EXPECT_EQ(apart->checksum, plain->checksum);
}

TEST_F(Catalogue, DamagedTextsAreTold) {
  write_text_set(at("ag_news"));
  const std::string train = at("ag_news/train.csv").string();
  write_text(train, "\"1\",\"a\",\"b\"\n\"5\",\"a\",\"b\"\n");
  EXPECT_EQ(message("ag-news"), train + ": at byte 12: row 2 has class '5'; expected 1 to 4");
  write_text(train, "Class Index,Title,Description\n");
  EXPECT_EQ(message("ag-news"),
            train + ": at byte 0: row 1 has class 'Class Index'; expected 1 to 4");
  write_text(train, "");
  EXPECT_EQ(message("ag-news"),
            train + ": at byte 0: the file is empty; expected class, title, description");
  write_text(train, "\"1\",\"a\",\"b\n");
  EXPECT_NE(message("ag-news").find("the quote at byte 8 is not closed"), std::string::npos);
  write_text_set(at("ag_news"));
  write_text(at("ag_news/vectors.100d.txt"), vector_line("nothing", 1));
  EXPECT_EQ(message("ag-news"),
            at("ag_news/vectors.100d.txt").string() + ": it has none of the 13 words of " + train);
  write_text(at("ag_news/vectors.100d.txt"), vector_line("peace", 1, 99));
  EXPECT_NE(message("ag-news").find("line 1: 99 numbers; expected 100"), std::string::npos);
  EXPECT_FALSE(load("ag-news", {.length = 0}));
  EXPECT_FALSE(load("ag-news", {.length = 5000}));
}

TEST_F(Catalogue, AMissingSetIsToldWithWhereAndWhatToDo) {
  write_idx_set(at("mnist"), 10);
  fs::remove(at("mnist/t10k-labels-idx1-ubyte"));
  const std::string text = message("mnist");
  EXPECT_NE(text.find("mnist: not found: test labels. Looked in " + folder_.path().string()),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("BOBA_DATA"), std::string::npos) << text;
  EXPECT_NE(message("fashion-mnist").find("apt-get install dataset-fashion-mnist"),
            std::string::npos);
}

TEST_F(Catalogue, TheFolderOfTheOptionMustExist) {
  write_idx_set(at("mnist"), 10);
  const DataSources sources{.folders = {at("nowhere"), folder_.path()},
                            .origins = {"--data", "BOBA_DATA"}};
  const Result<Dataset> data = load_dataset("mnist", sources);
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().message, "--data " + at("nowhere").string() + ": no such folder");
  EXPECT_TRUE(load_dataset("synthetic", sources));
}

TEST(CatalogueNames, SpecsAreCheckedWithoutFiles) {
  EXPECT_EQ(dataset_traits("mnist")->spec, "mnist");
  EXPECT_EQ(dataset_traits("synthetic( noise=0.8, classes=4 )")->spec, "synthetic(classes=4)");
  const auto message = [](std::string_view spec) {
    const Result<DatasetTraits> name = dataset_traits(spec);
    return name ? "" : name.error().message;
  };
  EXPECT_EQ(message("mnst"),
            "no data set 'mnst'; did you mean mnist? data sets are: mnist, fashion-mnist, cifar10, "
            "ag-news, synthetic");
  EXPECT_EQ(message("mnist(classes=3)"), "mnist takes no options; got classes");
  EXPECT_EQ(message("synthetic(classes=1)"), "synthetic: classes=1 is outside [2, 100]");
  EXPECT_EQ(message("synthetic(noise=nan)").find("synthetic: noise=nan"), 0U);
  EXPECT_EQ(message("synthetic(train=9)"),
            "synthetic: 9 examples for 10 classes; expected one each");
  EXPECT_NE(message("synthetic(train=1000000,side=64)").find("at most"), std::string::npos);
  EXPECT_NE(message("mnist | mnist").find("takes no stages; got 'mnist | mnist'"),
            std::string::npos);
  EXPECT_NE(message(""), "");
}

TEST(CatalogueNames, TraitsNeedNoFiles) {
  EXPECT_EQ(dataset_traits("mnist")->classes, 10U);
  EXPECT_EQ(dataset_traits("ag-news")->kind, DataKind::kText);
  EXPECT_EQ(dataset_traits("ag-news")->classes, 4U);
  EXPECT_EQ(dataset_traits("synthetic(classes=3)")->classes, 3U);
  EXPECT_FALSE(dataset_traits("imagenet"));
}

// Sets a variable of the environment for the life of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ~Variable() { old_.empty() ? ::unsetenv(name_) : ::setenv(name_, old_.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string old_;
};

TEST(CatalogueSources, TheOrderIsFixed) {
  const Variable data("BOBA_DATA", "/b");
  const Variable cache("XDG_CACHE_HOME", "/c");
  EXPECT_EQ(default_sources("/a").folders,
            (std::vector<fs::path>{"/a", "/b", "/usr/share/datasets", "/c/boba"}));
  EXPECT_EQ(default_sources("/a").origins,
            (std::vector<std::string>{"--data", "BOBA_DATA", "Debian package", "cache"}));
}

TEST(CatalogueSources, ThePageHasEverySet) {
  const std::string page = read_page("docs/data.md");
  for (const std::string_view name : dataset_names()) {
    EXPECT_NE(page.find("\n| `" + std::string(name)), std::string::npos)
        << "no table of docs/data.md has the data set " << name;
  }
}

TEST(CatalogueSources, WhatIsNotSetIsNotLookedInto) {
  const Variable data("BOBA_DATA", nullptr);
  const Variable cache("XDG_CACHE_HOME", "relative");
  const Variable home("HOME", "/home/ada");
  EXPECT_EQ(default_sources("").folders,
            (std::vector<fs::path>{"/usr/share/datasets", "/home/ada/.cache/boba"}));
  const Variable homeless("HOME", nullptr);
  EXPECT_EQ(default_sources("").folders, (std::vector<fs::path>{"/usr/share/datasets"}));
}

}  // namespace
}  // namespace boba::test
