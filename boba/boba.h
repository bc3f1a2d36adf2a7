// All that a C++ program needs: rounds and updates, rules and attacks by name, kernels.
//
//   auto kernels = boba::make_cpu_kernels();
//   auto rule = boba::make_aggregator("boba(f=16)");
//   if (!rule) return complain(rule.error().message);
//   auto verdict = rule->aggregate(*kernels, round, out);
//
// Typed factories are in boba/rules/NAME.h and boba/attacks/NAME.h; C is in boba/capi/boba.h.
#pragma once

#include "boba/attacks/registry.h"
#include "boba/core/aggregator.h"
#include "boba/core/attack.h"
#include "boba/core/kernels.h"
#include "boba/core/memory.h"
#include "boba/core/open_round.h"
#include "boba/core/random.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/sketch.h"
#include "boba/core/verdict.h"
#include "boba/core/views.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/kernels/reference/reference.h"
#include "boba/kernels/sketch/sketch.h"
#include "boba/rules/registry.h"
