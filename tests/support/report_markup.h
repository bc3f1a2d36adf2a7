// Reads a page as strictly as XML: what a browser would silently mend is a fault here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace boba::test {

// The first fault: a tag that is not closed or closed in the wrong place, an attribute without
// quotes or given twice, a bare & or <, an id given twice. Empty: none.
std::string markup_fault(std::string_view page);

// The text of each cell of the body rows of the tables of this class.
using Rows = std::vector<std::vector<std::string>>;
Rows table_rows(std::string_view page, std::string_view table_class);

// What is between the tags, with &lt; and the like undone.
std::string text_of(std::string_view markup);

std::size_t count_of(std::string_view text, std::string_view part);

}  // namespace boba::test
