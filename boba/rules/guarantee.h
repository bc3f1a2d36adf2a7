// What a fitted subspace says about the conditions of BOBA's guarantee.
#pragma once

#include <cstddef>

#include "boba/core/rule.h"
#include "boba/core/verdict.h"
#include "boba/rules/label_mix.h"
#include "boba/rules/stage1.h"

namespace boba {

// n clients of which f are tolerated, c classes. Theorem 5.5 bounds the error by terms like
// (n - f) eps^2 / sigma^2, where sigma is the least (c-1)-th singular value of any n - 2f honest
// updates (Assumption 5.3) and eps^2 the variance of an update. Both are seen here: sigma at most
// sigma_bound, by leaving out the f clients that carry the weakest direction; eps from residuals.
SubspaceReport subspace_report(const Stage1& stage1, const LabelMixes& mixes, std::size_t n,
                               std::size_t f, std::size_t c);

}  // namespace boba
