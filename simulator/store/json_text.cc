#include "simulator/store/json_text.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace boba::sim::store {
namespace {

using Json = nlohmann::json;

// Text that is no UTF-8 is mended rather than thrown at.
std::string print(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class T>
std::string print_list(std::span<const T> values) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(value);
  return print(json);
}

bool take(const Json& json, std::int64_t& value) {
  if (!json.is_number_integer()) return false;
  value = json.get<std::int64_t>();
  return true;
}

bool take(const Json& json, int& value) {
  std::int64_t wide = 0;
  if (!take(json, wide)) return false;
  value = static_cast<int>(wide);
  return value == wide;
}

bool take(const Json& json, double& value) {
  if (!json.is_number() && !json.is_null()) return false;
  value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
  return true;
}

bool take(const Json& json, std::string& value) {
  if (!json.is_string()) return false;
  value = json.get<std::string>();
  return true;
}

template <class T>
bool take(const Json& json, std::vector<T>& values) {
  if (!json.is_array()) return false;
  values.resize(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!take(json[i], values[i])) return false;
  }
  return true;
}

template <class T>
Result<std::vector<T>> read(const std::string& text, const char* what) {
  std::vector<T> values;
  if (take(Json::parse(text, nullptr, false), values)) return values;
  const std::string begin = text.substr(0, 40) + (text.size() > 40 ? "..." : "");
  return Error{ErrorCode::kIo,
               "damaged: expected a list of " + std::string(what) + ", found '" + begin + "'"};
}

}  // namespace

std::string json_list(std::span<const int> values) { return print_list(values); }
std::string json_list(std::span<const std::int64_t> values) { return print_list(values); }
std::string json_list(std::span<const std::string> values) { return print_list(values); }

std::string json_table(std::span<const std::vector<double>> rows) { return print_list(rows); }

Result<std::vector<int>> read_ints(const std::string& text) { return read<int>(text, "integers"); }

Result<std::vector<std::int64_t>> read_counts(const std::string& text) {
  return read<std::int64_t>(text, "integers");
}

Result<std::vector<std::string>> read_strings(const std::string& text) {
  return read<std::string>(text, "texts");
}

Result<std::vector<std::vector<double>>> read_table(const std::string& text) {
  return read<std::vector<double>>(text, "lists of numbers");
}

}  // namespace boba::sim::store
