// For rules that rank clients: the k best, the mean over them, warnings about f, and the server's
// loss of each update.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "boba/core/rule.h"

namespace boba {

enum class Best { kSmallest, kLargest };

// Marks the k best values. Ties go to the lower index, so the choice does not depend on the sort;
// a value that is not a number counts as infinity. REQUIRES: k <= values.size().
std::vector<bool> choose(std::span<const double> values, std::size_t k, Best best);

// The mean of the rows with the k best values. Each row carries its value as a measure of that
// name, and a reason that quotes it. REQUIRES: 0 < k <= values.size().
Decision mean_of_best(std::span<const double> values, std::size_t k, Best best,
                      std::string_view measure);

// Refuses n - f < 1, quoting both.
Result<void> needs_more_than_f(std::string_view rule, const Shape& shape, int f);

// Warnings about f that hold for every rule: f = 0, or more refused rows than f.
std::vector<std::string> tolerance_warnings(const Shape& shape, int f);

// The same, and a warning where half of the clients or more may be Byzantine.
std::vector<std::string> majority_warnings(const Shape& shape, int f);

// The loss after a step with client i's update alone, for each i.
Result<std::vector<double>> losses_alone(RowSpace& rows);

// Warns where a row was accepted although its value is not finite: then the ranking is silent.
void warn_not_finite(std::span<const double> values, Decision& decision);

}  // namespace boba
