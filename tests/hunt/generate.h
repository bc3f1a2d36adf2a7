// Rounds at random: a rule, honest rows of some structure, and liars of the kinds that broke a rule
// once or might.
#pragma once

#include <string>
#include <vector>

#include "tests/hunt/scene.h"

namespace boba::hunt {

// Rules that the oracle defines; bucketing and server-mix come at random.
const std::vector<std::string>& rule_names();

// Rules of the registry that the oracle neither defines nor has a reason to leave out.
std::vector<std::string> undefined_rules();

struct GenerateOptions {
  std::vector<std::string> rules;  // of rule_names()
  bool cuda = false;               // a GPU is there and asked for
};

Scene generate(Dice& dice, const GenerateOptions& options);

// Chooses the rule with its f, the shape, type and backend; fills in the honest rows, the server's
// rows and its loss. Liars are zeros.
Scene honest_scene(Dice& dice, const GenerateOptions& options);

// Writes the rows of all liars anew, one or several kinds at a time, and tells the story.
void write_liars(Dice& dice, Scene& scene);

// A column: any one, an end, a block's edge, inside or outside of the window in the middle where
// the library once chose its origin.
std::size_t pick_column(Dice& dice, std::size_t length);

// A size for one column or a row, from a fraction of the spread up to the type's largest.
double pick_size(Dice& dice, const Scene& scene, double spread);

// Puts liars first, last or anywhere.
void reorder(Dice& dice, Scene& scene);

}  // namespace boba::hunt
