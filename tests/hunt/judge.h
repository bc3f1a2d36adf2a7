// Judgement: the library's answer to a scene beside the oracle's.
#pragma once

#include <string>

#include "tests/hunt/engine.h"
#include "tests/hunt/oracle.h"
#include "tests/hunt/scene.h"

namespace boba::hunt {

enum class Outcome {
  kRight,      // within 1e-3 of the spread, or bounded where products are sketched
  kNearTie,    // the oracle gives the same answer for rows moved by rounding
  kSensitive,  // the oracle moves half as far at least for such rows
  kAsNear,     // no rounding explains it, but it is as near to the honest mean as the oracle's
  kError,      // the library gave a reason instead, which it may
  kWrong,      // a failure
  kForced,     // a failure: an error that liars cause, and that names none of them
};

struct Judgement {
  Outcome outcome = Outcome::kRight;
  double score = 0;             // |engine - oracle| over the spread, less the output's rounding
  double engine_deviation = 0;  // |output - honest mean| over the spread
  double oracle_deviation = 0;
  std::string error;    // the library's
  bool forced = false;  // the error goes away with the liars
  std::string note;     // what else is worth showing

  bool failed() const { return outcome == Outcome::kWrong || outcome == Outcome::kForced; }
  // What the guided search climbs on.
  double ascent() const;
};

struct JudgeOptions {
  bool screen = true;
};

Judgement judge(const Engine& engine, const Scene& scene, const JudgeOptions& options);

}  // namespace boba::hunt
