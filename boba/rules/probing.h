// What the rules share that ask the server's data for its loss.
#pragma once

#include <span>
#include <vector>

#include "boba/core/result.h"
#include "boba/core/rule.h"

namespace boba {

// The loss after a step with client i's update alone, for each i.
Result<std::vector<double>> losses_alone(RowSpace& rows);

// Warns where a row was accepted although its value is not finite: then the ranking is silent.
void warn_not_finite(std::span<const double> values, Decision& decision);

}  // namespace boba
