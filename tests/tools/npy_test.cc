// .npy files, sound and damaged, as boba aggregate meets them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/tools_npy.h"
#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

const std::string kSix = floats({1, 2, 3, 5, 6, 7});

class Npy : public ::testing::Test {
 protected:
  // The average of the file's rows.
  Finished average(const std::string& bytes) {
    write_text(folder_.path() / "u.npy", bytes);
    return run_boba({"aggregate", "--rule", "average", "--updates", "u.npy", "--out", "a.npy"},
                    {.folder = folder_.path()});
  }
  void expect_average(const std::string& bytes, const std::vector<float>& mean) {
    const Finished finished = average(bytes);
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(npy_rows<float>(read_text(folder_.path() / "a.npy"), 1, mean.size()).front(), mean);
  }
  void expect_refused(const std::string& bytes, const std::string& says) {
    const Finished finished = average(bytes);
    EXPECT_EQ(finished.status, 1) << says;
    EXPECT_TRUE(finished.err.starts_with("boba aggregate: u.npy: ")) << finished.err;
    EXPECT_NE(finished.err.find(says), std::string::npos) << finished.err << "expected: " << says;
    EXPECT_EQ(folder_.names(), (std::vector<std::string>{"u.npy"})) << says;
  }

  TemporaryFolder folder_;
};

TEST_F(Npy, ReadsEveryVersion) {
  for (int version : {1, 2, 3}) {
    expect_average(npy_bytes(npy_dictionary("<f4", "(2, 3)"), kSix, version), {3, 4, 5});
  }
}

TEST_F(Npy, ReadsHeadersAsOtherWritersSpellThem) {
  // Sixteen bytes were the old alignment; keys may come in any order, with either quote.
  for (const char* dictionary :
       {"{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
        "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2, 3)}",
        "{'descr':'<f4','fortran_order':False,'shape':(2,3,),}",
        "  {  'descr' : '<f4' ,  'fortran_order' : False , 'shape' : ( 2L , 3L ) , }  "}) {
    expect_average(npy_bytes(dictionary, kSix), {3, 4, 5});
  }
}

TEST_F(Npy, OneDimensionIsOneRow) {
  expect_average(npy_bytes(npy_dictionary("<f4", "(6,)"), kSix), {1, 2, 3, 5, 6, 7});
}

TEST_F(Npy, RefusesWhatItCannotMap) {
  expect_refused(npy_bytes(npy_dictionary("<f4", "(2, 3)", "True"), kSix), "Fortran order");
  expect_refused(npy_bytes(npy_dictionary(">f4", "(2, 3)"), kSix), "'>f4' (big-endian)");
  expect_refused(npy_bytes(npy_dictionary(">f8", "(1, 3)"), kSix), "'>f8' (big-endian)");
  for (const char* descr : {"<i4", "<f2", "<c8", "|O", "|V4", "<U1", "|b1", "f4", "=f4", ""}) {
    expect_refused(npy_bytes(npy_dictionary(descr, "(2, 3)"), kSix),
                   fmt::format("'{}'; expected float32 ('<f4') or float64 ('<f8')", descr));
  }
  expect_refused(
      npy_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", kSix),
      "holds records");
  expect_refused(npy_bytes(npy_dictionary("<f4", "()"), floats({1})), "0-dimensional");
  expect_refused(npy_bytes(npy_dictionary("<f4", "(1, 2, 3)"), kSix), "3-dimensional");
}

TEST_F(Npy, RefusesDataOfAnotherLengthThanTheShape) {
  const std::string whole = npy_bytes(npy_dictionary("<f4", "(2, 3)"), kSix);
  expect_refused(whole.substr(0, whole.size() - 1),
                 "shape (2, 3) needs 24 bytes of data, the file has 23: it is cut short");
  expect_refused(whole + "x", "needs 24 bytes of data, the file has 25: it is too long");
  expect_refused(npy_bytes(npy_dictionary("<f4", "(2, 3)"), ""), "cut short");
  expect_refused(npy_bytes(npy_dictionary("<f4", "(5, 0)"), ""), "length 0");
  expect_refused(npy_bytes(npy_dictionary("<f4", "(99999999999999, 0)"), ""), "length 0");
}

TEST_F(Npy, NoRowsAreTheRulesAffair) {
  const Finished finished = average(npy_bytes(npy_dictionary("<f4", "(0, 3)"), ""));
  EXPECT_EQ(finished.status, 1);
  EXPECT_NE(finished.err.find("no updates came"), std::string::npos) << finished.err;
}

TEST_F(Npy, RefusesShapesBeyondCounting) {
  for (const char* shape : {"(4294967296, 4294967296)", "(2, 4611686018427387904)",
                            "(18446744073709551615, 18446744073709551615)"}) {
    expect_refused(npy_bytes(npy_dictionary("<f4", shape), kSix), "more than 64 bits can count");
  }
  expect_refused(npy_bytes(npy_dictionary("<f4", "(18446744073709551616, 1)"), kSix),
                 "does not fit in 64 bits");
  expect_refused(npy_bytes(npy_dictionary("<f4", "(-2, 3)"), kSix), "where a whole number belongs");
  expect_refused(npy_bytes(npy_dictionary("<f4", "(2.0, 3)"), kSix), "belongs");
  std::string deep = "(";
  for (int k = 0; k < 40; ++k) deep += "1, ";
  expect_refused(npy_bytes(npy_dictionary("<f4", deep + ")"), kSix), "more than 32 dimensions");
}

TEST_F(Npy, RefusesWhatIsNoNumpyFile) {
  expect_refused("", "the file is empty");
  expect_refused("P5 10 10 255", "begins with 'P5 10 ', expected '\\x93NUMPY'");
  expect_refused("\x93NUMP", "not a NumPy file");
  expect_refused("PK\x03\x04 an .npz file", "not a NumPy file");
}

TEST_F(Npy, RefusesDamagedHeaders) {
  const std::string whole = npy_bytes(npy_dictionary("<f4", "(2, 3)"), kSix);
  for (std::size_t size : {6, 7, 8, 9}) {
    expect_refused(whole.substr(0, size), "ends inside its header");
  }
  for (std::size_t size : {10, 11, 64, 127}) {
    expect_refused(whole.substr(0, size), "the file ends after");
  }
  std::string version = whole;
  version[6] = 4;
  expect_refused(version, "version 4.0; expected 1.0, 2.0 or 3.0");
  version[6] = 1;
  version[7] = 1;
  expect_refused(version, "version 1.1");
  std::string claims = npy_bytes(npy_dictionary("<f4", "(2, 3)"), kSix, 2);
  std::memset(claims.data() + 8, 0xff, 4);
  expect_refused(claims, "claims 4294967295 bytes");
  expect_refused(npy_bytes(npy_dictionary("<f4", "(2, 3)") + "\n", kSix, 1, false),
                 "expected a multiple of 4");
}

TEST_F(Npy, RefusesDictionariesThatAreNone) {
  const char* texts[] = {"",
                         "{",
                         "{}",
                         "[]",
                         "{'descr': '<f4'}",
                         "{'descr': '<f4', 'fortran_order': False}",
                         "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}",
                         "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'more': 1}",
                         "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} trailing",
                         "{'descr': '<f4', 'fortran_order': 0, 'shape': (6,)}",
                         "{'descr': '<f4, 'fortran_order': False, 'shape': (6,)}",
                         "{'descr': '<f4' 'fortran_order': False, 'shape': (6,)}",
                         "{'descr': '<f4', 'fortran_order': False, 'shape': 6}",
                         "{'descr': '<f4', 'fortran_order': False, 'shape': (6,}",
                         "{'descr': '<f4', 'fortran_order': False, 'shape': (6",
                         "{'descr': None, 'fortran_order': False, 'shape': (6,)}"};
  for (const char* text : texts) expect_refused(npy_bytes(text, kSix), "header");
  expect_refused(npy_bytes(std::string("{'de\0scr': '<f4'}", 17), kSix), "unknown or repeated key");
}

TEST_F(Npy, RefusesWhatIsNoFile) {
  const auto updates = [&](const char* path) {
    return run_boba({"aggregate", "--rule", "average", "--updates", path},
                    {.folder = folder_.path()});
  };
  EXPECT_NE(updates(".").err.find("cannot read .: it is not a regular file"), std::string::npos);
  EXPECT_NE(updates("/dev/null").err.find("not a regular file"), std::string::npos);
  EXPECT_NE(updates("none.npy").err.find("cannot read none.npy: No such file"), std::string::npos);
  EXPECT_EQ(updates("none.npy").status, 1);
}

}  // namespace
}  // namespace boba::test
