// What a fitted subspace says about the conditions of BOBA's guarantee.
#pragma once

#include <cstddef>

#include "boba/rules/label_mix.h"
#include "boba/rules/stage1.h"
#include "boba/rules/subspace_report.h"

namespace boba {

// n clients of which f are tolerated, c classes. Assumption 5.3 asks for a sigma above 0 that the
// (c-1)-th singular value of any n - 2f honest updates, freed of noise, reaches. Seen here is an
// upper bound of it, by leaving out the f clients that carry the weakest direction, and what noise
// alone reaches: the singular values of the directions left out.
SubspaceReport subspace_report(const Stage1& stage1, const LabelMixes& mixes, std::size_t n,
                               std::size_t f, std::size_t c);

}  // namespace boba
