// Blocks of the documentation that follow from the registries: what stands between
// "<!-- NAME -->" and "<!-- end of NAME -->" of a page.
#pragma once

#include <string>
#include <string_view>

namespace boba::test {

// The text of a file of the source tree, page: "docs/python.md".
std::string read_page(const std::string& page);

// Fails where the block holds another text. With BOBA_WRITE_DOCS set it writes the text instead.
void expect_block(const std::string& page, std::string_view name, const std::string& text);

}  // namespace boba::test
