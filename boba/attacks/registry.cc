#include "boba/attacks/registry.h"

#include <fmt/format.h>

#include <utility>

#include "boba/attacks/constant.h"
#include "boba/attacks/gauss.h"
#include "boba/attacks/inside.h"
#include "boba/attacks/ipm.h"
#include "boba/attacks/lie.h"
#include "boba/attacks/mimic.h"
#include "boba/attacks/minmax.h"
#include "boba/attacks/minsum.h"
#include "boba/attacks/noise.h"
#include "boba/attacks/signflip.h"
#include "boba/attacks/simplex.h"
#include "boba/attacks/sleeper.h"
#include "boba/attacks/together.h"
#include "boba/text/names.h"
#include "boba/text/split.h"

namespace boba {
namespace {

template <class Options, Result<NamedAttack> (*Make)(const Options&)>
constexpr AttackEntry attack() {
  return entry<Options, NamedAttack, Make>();
}

constexpr AttackEntry kAttacks[] = {
    attack<GaussOptions, make_gauss>(),     attack<InfOptions, make_inf>(),
    attack<InsideOptions, make_inside>(),   attack<IpmOptions, make_ipm>(),
    attack<LieOptions, make_lie>(),         attack<MimicOptions, make_mimic>(),
    attack<MinmaxOptions, make_minmax>(),   attack<MinsumOptions, make_minsum>(),
    attack<NanOptions, make_nan>(),         attack<SignflipOptions, make_signflip>(),
    attack<SimplexOptions, make_simplex>(), attack<ZeroOptions, make_zero>(),
};

constexpr AttackStageEntry kStages[] = {
    entry<NoiseOptions, NamedAttackStage, make_noise>(),
    entry<SleeperOptions, NamedAttackStage, make_sleeper>(),
};

Error unknown(std::string_view name) {
  std::vector<std::string_view> all = entry_names(attacks());
  const std::string known = join(all);
  const auto stages = entry_names(attack_stages());
  all.insert(all.end(), stages.begin(), stages.end());
  const std::string close = suggestion(name, all);
  return invalid_argument(fmt::format("no attack '{}'{} attacks are: {}; stages behind one: {}",
                                      name, close.empty() ? ";" : close, known, join(stages)));
}

// An attack with the stages behind it.
Result<NamedAttack> make_one(std::string_view spec) {
  const Result<std::vector<Params>> parts = parse_spec(spec);
  if (!parts) return parts.error();
  NamedAttack made;
  for (const Params& part : *parts) {
    if (const AttackStageEntry* entry = find_entry(attack_stages(), part.name)) {
      if (!made.attack) {
        return invalid_argument(
            fmt::format("{0} must come behind an attack: write 'ipm | {0}'", part.name));
      }
      const Result<NamedAttackStage> stage = entry->make(part);
      if (!stage) return stage.error();
      made = {stage->stage(std::move(made.attack)), made.spec + " | " + stage->spec};
      continue;
    }
    const AttackEntry* entry = find_entry(attacks(), part.name);
    if (entry == nullptr) return unknown(part.name);
    if (made.attack) {
      return invalid_argument(fmt::format(
          "{0} and {1} are both attacks; 'a + b' deals the clients to them: write '{0} + {1}'",
          made.spec, part.name));
    }
    Result<NamedAttack> attack = entry->make(part);
    if (!attack) return attack.error();
    made = *std::move(attack);
  }
  return made;
}

}  // namespace

std::span<const AttackEntry> attacks() { return kAttacks; }
std::span<const AttackStageEntry> attack_stages() { return kStages; }

Result<NamedAttack> make_attack(std::string_view spec) {
  std::vector<AttackPtr> attacks;
  std::string text;
  // A number's plus, as in gamma=1e+30, stands between brackets.
  for (const std::string_view part : split_specs(spec, '+')) {
    Result<NamedAttack> one = make_one(part);
    if (!one) return one.error();
    text += (text.empty() ? "" : " + ") + one->spec;
    attacks.push_back(std::move(one->attack));
  }
  if (attacks.size() == 1) return NamedAttack{std::move(attacks.front()), std::move(text)};
  return NamedAttack{attacks_together(std::move(attacks)), std::move(text)};
}

}  // namespace boba
