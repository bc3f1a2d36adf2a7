#include "tests/support/doc_blocks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/paths.h"

namespace boba::test {

std::string read_page(const std::string& page) {
  std::ifstream file(source_dir() + "/" + page, std::ios::binary);
  EXPECT_TRUE(file) << "there is no " << page;
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_block(const std::string& page, std::string_view name, const std::string& text) {
  const std::string begin = fmt::format("<!-- {} -->", name);
  const std::string end = fmt::format("<!-- end of {} -->", name);
  std::string all = read_page(page);
  const std::size_t from = all.find(begin);
  const std::size_t to = all.find(end);
  ASSERT_TRUE(from < to && to != std::string::npos) << page << " lacks " << begin << " or " << end;
  const std::size_t first = from + begin.size();
  if (std::getenv("BOBA_WRITE_DOCS") != nullptr) {
    all.replace(first, to - first, text);
    std::ofstream(source_dir() + "/" + page, std::ios::binary) << all;
    return;
  }
  EXPECT_EQ(all.substr(first, to - first), text)
      << page << ": the block " << name
      << " is not what the registry gives; BOBA_WRITE_DOCS=1 ctest --preset release -R "
         "ListsInTheDocs writes it";
}

}  // namespace boba::test
