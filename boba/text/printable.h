// Text from outside, made safe for a terminal: the one filter that tools, errors and Python share.
// Names of clients, files, columns of a database and messages of libraries pass through it before a
// person sees them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace boba {

// The text with every character that a terminal obeys or hides written as an escape: \n, \x1b,
// \u202e. These are control characters (C0, DEL, C1), line and paragraph separators, marks that
// reverse or embed text, and characters without width. Bytes that are not UTF-8 become \xNN. The
// result is one line of valid UTF-8. Filtering twice changes nothing more.
std::string printable(std::string_view text);

// For errors: printable, and cut after 120 bytes of the text, with "..." at the end.
std::string excerpt(std::string_view text);

// Bytes of the UTF-8 character at the start of the text; 0 if the bytes there are not one.
// REQUIRES: the text is not empty.
std::size_t utf8_length(std::string_view text);

}  // namespace boba
