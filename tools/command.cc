#include "tools/command.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "boba/kernels/cpu/cpu.h"

namespace boba::tools {
namespace {

template <class T>
std::optional<T> read_all(const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

CLI::Validator whole_number(std::uint64_t low, std::uint64_t high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    const std::optional<std::uint64_t> value = read_all<std::uint64_t>(text);
    if (value && *value >= low && *value <= high) return "";
    return fmt::format("'{}' is not a whole number from {} to {}", text, low, high);
  };
  return CLI::Validator(check, "");
}

CLI::Validator not_negative() {
  const auto check = [](const std::string& text) -> std::string {
    const std::optional<double> value = read_all<double>(text);
    if (value && *value >= 0 && std::isfinite(*value)) return "";
    return fmt::format("'{}' is not a number from 0 on", text);
  };
  return CLI::Validator(check, "");
}

void add_threads_option(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "threads to use; 0: one per processor")
      ->check(whole_number(0, 1024))
      ->type_name("N")
      ->capture_default_str();
}

std::unique_ptr<const Kernels> make_kernels(int threads) {
  CpuOptions options;
  options.threads = threads;
  return make_cpu_kernels(options);
}

std::string describe_shape(const UpdateView& rows) {
  return fmt::format("{} x {} {}", rows.rows(), rows.length(), name(rows.dtype()));
}

}  // namespace boba::tools
