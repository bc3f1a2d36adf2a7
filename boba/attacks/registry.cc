#include "boba/attacks/registry.h"

#include <fmt/format.h>

#include <vector>

#include "boba/attacks/gauss.h"
#include "boba/attacks/inf.h"
#include "boba/attacks/ipm.h"
#include "boba/attacks/lie.h"
#include "boba/attacks/mimic.h"
#include "boba/attacks/minmax.h"
#include "boba/attacks/minsum.h"
#include "boba/attacks/nan.h"
#include "boba/attacks/signflip.h"
#include "boba/attacks/simplex.h"
#include "boba/attacks/zero.h"
#include "boba/text/names.h"

namespace boba {
namespace {

template <class Options, Result<NamedAttack> (*Make)(const Options&)>
constexpr AttackEntry attack() {
  return entry<Options, NamedAttack, Make>();
}

constexpr AttackEntry kAttacks[] = {
    attack<GaussOptions, make_gauss>(),       attack<InfOptions, make_inf>(),
    attack<IpmOptions, make_ipm>(),           attack<LieOptions, make_lie>(),
    attack<MimicOptions, make_mimic>(),       attack<MinmaxOptions, make_minmax>(),
    attack<MinsumOptions, make_minsum>(),     attack<NanOptions, make_nan>(),
    attack<SignflipOptions, make_signflip>(), attack<SimplexOptions, make_simplex>(),
    attack<ZeroOptions, make_zero>(),
};

}  // namespace

std::span<const AttackEntry> attacks() { return kAttacks; }

Result<NamedAttack> make_attack(std::string_view spec) {
  const Result<std::vector<Params>> stages = parse_spec(spec);
  if (!stages) return stages.error();
  if (stages->size() != 1) {
    return invalid_argument(
        fmt::format("an attack stands alone; got {} stages in '{}'", stages->size(), spec));
  }
  const Params& params = stages->front();
  std::vector<std::string_view> names;
  for (const AttackEntry& entry : kAttacks) {
    if (entry.info.name == params.name) return entry.make(params);
    names.push_back(entry.info.name);
  }
  const std::string close = suggestion(params.name, names);
  return invalid_argument(fmt::format("no attack '{}'{} attacks are: {}", params.name,
                                      close.empty() ? ";" : close, join(names)));
}

}  // namespace boba
