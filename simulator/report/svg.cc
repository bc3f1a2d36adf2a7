#include "simulator/report/svg.h"

#include <fmt/format.h>

#include <cassert>
#include <utility>

#include "simulator/report/text.h"

namespace boba::sim::report {

std::string series_class(std::size_t hue) {
  return fmt::format("series c{} d{} v{}", hue % kHues, hue % kDashes, hue / kHues % kFillings);
}

Svg::Svg(SvgSize size, std::string_view title, std::string_view description, Attributes extra) {
  const std::string width = number(size.width);
  const std::string height = number(size.height);
  out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 " + width + " " +
         height + "\" width=\"" + width + "\" height=\"" + height + "\"";
  add(extra);
  out_ += "><title>" + escape(title) + "</title><desc>" + escape(description) + "</desc>";
  open_.emplace_back("svg");
}

void Svg::add(Attributes attributes) {
  for (const Attribute& attribute : attributes) {
    out_.append(" ").append(attribute.name).append("=\"").append(escape(attribute.value)) += '"';
  }
}

void Svg::start(std::string_view element, Attributes attributes) {
  out_.append("<").append(element);
  add(attributes);
}

void Svg::open(std::string_view element, Attributes attributes) {
  start(element, attributes);
  out_ += '>';
  open_.emplace_back(element);
}

void Svg::close() {
  assert(!open_.empty());
  out_.append("</").append(open_.back()).append(">");
  open_.pop_back();
}

void Svg::rect(double x, double y, double width, double height, Attributes attributes) {
  start("rect", {{"x", number(x)},
                 {"y", number(y)},
                 {"width", number(width < 0 ? 0 : width)},
                 {"height", number(height < 0 ? 0 : height)}});
  add(attributes);
  out_ += "/>";
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  start("line", {{"x1", number(x1)},
                 {"y1", number(y1)},
                 {"x2", number(x2)},
                 {"y2", number(y2)},
                 {"class", std::string(classes)}});
  out_ += "/>";
}

void Svg::circle(double x, double y, double radius, Attributes attributes) {
  start("circle", {{"cx", number(x)}, {"cy", number(y)}, {"r", number(radius)}});
  add(attributes);
  out_ += "/>";
}

void Svg::path(const std::string& d, Attributes attributes) {
  start("path", {{"d", d}});
  add(attributes);
  out_ += "/>";
}

void Svg::text(double x, double y, std::string_view words, std::string_view classes,
               Attributes attributes) {
  start("text", {{"x", number(x)}, {"y", number(y)}, {"class", std::string(classes)}});
  add(attributes);
  out_.append(">").append(escape(words)).append("</text>");
}

std::string Svg::finish() {
  while (!open_.empty()) close();
  return std::move(out_);
}

void PathData::box(double x, double y, double width, double height) {
  const std::string across = number(width);
  add('M', x, y);
  data_.append("h").append(across).append("v").append(number(height));
  data_.append("h-").append(across).append("z");
}

void PathData::add(char command, double x, double y) {
  data_ += command;
  data_.append(number(x)).append(" ").append(number(y));
}

}  // namespace boba::sim::report
