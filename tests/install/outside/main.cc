// A program outside the tree: aggregates three updates with the installed library.
#include <boba/attacks/ipm.h>
#include <boba/boba.h>
#include <boba/rules/krum.h>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<float> rows[] = {{1, 2}, {3, 4}, {5, 6}, {1, 2}};
  const std::vector<const float*> table = {rows[0].data(), rows[1].data(), rows[2].data(),
                                           rows[3].data()};
  std::vector<float> out(2);
  boba::Round round;
  round.updates = boba::UpdateView(std::span<const float* const>(table), 2);

  const auto kernels = boba::make_cpu_kernels({.threads = 1});
  const auto rule = boba::make_aggregator("krum(f=1)");
  const auto typed = boba::make_krum({.f = 1});
  const auto attack = boba::make_ipm({.gamma = 2});
  if (!rule || !typed || !attack || rule->spec() != typed->spec()) return 1;
  const auto verdict = rule->aggregate(*kernels, round, boba::MutableRow(std::span<float>(out)));
  if (!verdict) {
    std::puts(verdict.error().message.c_str());
    return 1;
  }
  return verdict->updates == 4 && out[0] == 1 && out[1] == 2 ? 0 : 1;
}
