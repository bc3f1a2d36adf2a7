// Small changes to the liars of a scene, for the guided search.
#pragma once

#include "tests/hunt/scene.h"

namespace boba::hunt {

// Changes the liars' rows, their order, the type, the seed or the backend; honest rows stay as they
// are, except that a change of the type rounds them and a cut drops columns of all. most: how many
// may lie.
Scene mutated(Dice& dice, const Scene& scene, std::size_t most);

}  // namespace boba::hunt
