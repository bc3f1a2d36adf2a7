// A small builder of SVG: elements in, one string out. It closes what it opens and escapes what it
// is given, so its result is well-formed whatever the words are.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace boba::sim::report {

struct Attribute {
  std::string_view name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

struct SvgSize {
  double width = 0;
  double height = 0;
};

// How many colours report.css has, for light and for dark pages.
inline constexpr int kHues = 12;     // of rules: classes c0, c1, ...
inline constexpr int kDashes = 7;    // d0, d1, ...; 7 and 12 have no common factor: 84 rules differ
inline constexpr int kFillings = 3;  // of bars, which have no dashes: v0, v1, v2; 36 rules differ
inline constexpr int kShades = 9;    // of heat maps: h0 is low, h8 high; k0..k8 the text upon them

// "series c3 d3 v0": the colour, the dashes and the filling of bars of a rule.
std::string series_class(std::size_t hue);

class Svg {
 public:
  // The title is what a screen reader calls the picture, the description what it shows.
  Svg(SvgSize size, std::string_view title, std::string_view description, Attributes extra = {});

  void open(std::string_view element, Attributes attributes = {});
  void close();

  void rect(double x, double y, double width, double height, Attributes attributes = {});
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  void circle(double x, double y, double radius, Attributes attributes = {});
  void path(const std::string& d, Attributes attributes = {});
  void text(double x, double y, std::string_view words, std::string_view classes,
            Attributes attributes = {});

  // Closes everything.
  std::string finish();

 private:
  void start(std::string_view element, Attributes attributes);
  void add(Attributes attributes);

  std::string out_;
  std::vector<std::string> open_;
};

// The d of a path, point by point.
class PathData {
 public:
  void move(double x, double y) { add('M', x, y); }
  void draw(double x, double y) { add('L', x, y); }
  // A rectangle of its own.
  void box(double x, double y, double width, double height);
  void close() { data_ += 'Z'; }

  bool empty() const { return data_.empty(); }
  const std::string& data() const { return data_; }

 private:
  void add(char command, double x, double y);

  std::string data_;
};

}  // namespace boba::sim::report
