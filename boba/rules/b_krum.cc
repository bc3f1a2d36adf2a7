#include "boba/rules/b_krum.h"

#include "boba/rules/bucketing.h"
#include "boba/rules/krum.h"
#include "boba/rules/mkrum.h"

namespace boba {
namespace {

template <class Options>
Result<Aggregator> bucketed(const Options& options, const Result<Aggregator>& rule) {
  if (Result<void> good = check_options(options); !good) return good.error();
  if (!rule) return rule.error();
  const Result<NamedMix> stage = make_bucketing({.s = options.s});
  if (!stage) return stage.error();
  return rule->after(stage->stage, stage->spec).renamed(canonical(options));
}

}  // namespace

Result<Aggregator> make_b_krum(const BKrumOptions& options) {
  return bucketed(options, make_krum({.f = options.f}));
}

Result<Aggregator> make_b_mkrum(const BMkrumOptions& options) {
  return bucketed(options, make_mkrum({.f = options.f}));
}

}  // namespace boba
