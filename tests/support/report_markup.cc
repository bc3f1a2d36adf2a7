#include "tests/support/report_markup.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <stdexcept>

namespace boba::test {
namespace {

constexpr std::array<std::string_view, 2> kVoid = {"meta", "link"};
constexpr std::array<std::string_view, 2> kRaw = {"style", "script"};
constexpr std::array<std::string_view, 5> kEntities = {"amp;", "lt;", "gt;", "quot;", "#39;"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ':' || c == '_';
}

class Reader {
 public:
  explicit Reader(std::string_view page) : page_(page) {}

  std::string fault() {
    try {
      if (page_.starts_with("<!DOCTYPE html>")) at_ = 15;
      while (at_ < page_.size()) page_[at_] == '<' ? tag() : text('<');
      if (!open_.empty()) fail("never closed: " + open_.back());
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const std::size_t from = at_ < 60 ? 0 : at_ - 60;
    throw std::runtime_error(what + " at byte " + std::to_string(at_) + ": " +
                             std::string(page_.substr(from, 120)));
  }
  char peek() const { return at_ < page_.size() ? page_[at_] : '\0'; }
  void expect(char c) {
    if (peek() != c) fail(std::string("no ") + c);
    ++at_;
  }
  std::string name() {
    const std::size_t from = at_;
    while (is_name(peek())) ++at_;
    if (at_ == from) fail("no name");
    return std::string(page_.substr(from, at_ - from));
  }
  // Up to the given character; entities are those that escape() writes.
  void text(char end) {
    while (at_ < page_.size() && page_[at_] != end) {
      const auto c = static_cast<unsigned char>(page_[at_]);
      if (c == '<' || (c < 0x20 && c != '\n')) fail("a bare character");
      if (c == '&') {
        const std::string_view rest = page_.substr(at_ + 1, 5);
        if (std::none_of(kEntities.begin(), kEntities.end(),
                         [&](std::string_view each) { return rest.starts_with(each); })) {
          fail("a bare &");
        }
      }
      ++at_;
    }
  }
  void attributes() {
    std::set<std::string> seen;
    while (peek() == ' ' || peek() == '\n') {
      ++at_;
      if (peek() == '/' || peek() == '>') return;
      const std::string key = name();
      if (!seen.insert(key).second) fail("given twice: " + key);
      if (peek() != '=') continue;
      ++at_;
      expect('"');
      const std::size_t from = at_;
      text('"');
      if (key == "id" && !ids_.emplace(page_.substr(from, at_ - from)).second) fail("id twice");
      expect('"');
    }
  }
  void tag() {
    expect('<');
    if (peek() == '/') {
      ++at_;
      const std::string closed = name();
      if (open_.empty() || open_.back() != closed) fail("closes another: " + closed);
      open_.pop_back();
      expect('>');
      return;
    }
    const std::string opened = name();
    attributes();
    if (peek() == '/') {
      ++at_;
      expect('>');
      return;
    }
    expect('>');
    if (among(kVoid, opened)) return;
    if (among(kRaw, opened)) {
      at_ = page_.find("</" + opened, at_);
      if (at_ == page_.npos) fail("never closed: " + opened);
    }
    open_.push_back(opened);
  }

  std::string_view page_;
  std::size_t at_ = 0;
  std::vector<std::string> open_;
  std::set<std::string> ids_;
};

}  // namespace

std::string markup_fault(std::string_view page) { return Reader(page).fault(); }

std::string text_of(std::string_view markup) {
  std::string text;
  bool inside = false;
  for (char c : markup) {
    if (c == '<') inside = true;
    if (!inside) text += c;
    if (c == '>') inside = false;
  }
  for (const auto& [entity, plain] :
       {std::pair{"&lt;", "<"}, std::pair{"&gt;", ">"}, std::pair{"&quot;", "\""},
        std::pair{"&#39;", "'"}, std::pair{"&amp;", "&"}}) {
    for (std::size_t at = 0; (at = text.find(entity, at)) != text.npos; ++at) {
      text.replace(at, std::string_view(entity).size(), plain);
    }
  }
  return text;
}

Rows table_rows(std::string_view page, std::string_view table_class) {
  Rows rows;
  const std::string start = "<table class=\"" + std::string(table_class) + "\"";
  for (std::size_t at = 0; (at = page.find(start, at)) != page.npos;) {
    const std::size_t body = page.find("<tbody>", at);
    const std::size_t end = page.find("</tbody>", at);
    at = end;
    for (std::size_t row = body; (row = page.find("<tr", row)) < end;) {
      const std::size_t row_end = page.find("</tr>", row);
      rows.emplace_back();
      for (std::size_t cell = row; (cell = page.find("<td", cell)) < row_end;) {
        const std::size_t cell_end = page.find("</td>", cell);
        rows.back().push_back(text_of(page.substr(cell, cell_end - cell)));
        cell = cell_end;
      }
      row = row_end;
    }
  }
  return rows;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++count;
  return count;
}

}  // namespace boba::test
