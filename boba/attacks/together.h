// Several attacks in one round: the Byzantine clients are dealt to them evenly, in their order.
#pragma once

#include <vector>

#include "boba/core/attack.h"

namespace boba {

// REQUIRES: at least one attack.
AttackPtr attacks_together(std::vector<AttackPtr> attacks);

}  // namespace boba
