#include "boba/attacks/registry.h"

#include "boba/attacks/constant.h"
#include "boba/attacks/gauss.h"
#include "boba/attacks/ipm.h"
#include "boba/attacks/lie.h"
#include "boba/attacks/mimic.h"
#include "boba/attacks/minmax.h"
#include "boba/attacks/minsum.h"
#include "boba/attacks/signflip.h"
#include "boba/attacks/simplex.h"
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
  return make_single(attacks(), "attack", spec);
}

}  // namespace boba
