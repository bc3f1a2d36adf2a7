// A memory saved through C is the one that C++ saves after the same rounds.
#include <string>
#include <string_view>
#include <vector>

#include "boba/boba.h"
#include "tests/capi/check.h"

namespace {

constexpr std::size_t kClients = 7;
constexpr std::size_t kLength = 4;

boba::UpdateMatrix updates(int number) {
  boba::UpdateMatrix matrix(boba::DType::kFloat32, kClients, kLength);
  for (std::size_t i = 0; i < kClients; ++i) {
    const auto row = matrix.row_as<float>(i);
    row[i % 2] = 8;
    row[2] = 0.125F * static_cast<float>(i + static_cast<std::size_t>(number));
  }
  return matrix;
}

}  // namespace

extern "C" void check_memory_bytes(void) {
  constexpr const char* kSpec = "boba-hull(classes=2,f=1)";
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < kClients; ++i) ids.push_back("client " + std::to_string(i));
  boba::UpdateMatrix out(boba::DType::kFloat32, 1, kLength);
  float* const target = out.row_as<float>(0).data();

  const auto kernels = boba::make_cpu_kernels({.threads = 1});
  const auto rule = boba::make_aggregator(kSpec);
  boba::Memory expected;
  boba_kernels* c_kernels = nullptr;
  boba_aggregator* c_rule = nullptr;
  boba_round* c_round = nullptr;
  boba_memory* c_memory = nullptr;
  CHECK_OK(boba_kernels_create_cpu(1, &c_kernels));
  CHECK_OK(boba_aggregator_create(kSpec, &c_rule));
  CHECK_OK(boba_round_create(BOBA_FLOAT32, kLength, &c_round));
  CHECK_OK(boba_memory_create(0, &c_memory));
  CHECK_OK(boba_round_set_memory(c_round, c_memory));
  for (int number = 0; number < 3; ++number) {
    boba::UpdateMatrix rows = updates(number);
    CHECK(rule->aggregate(*kernels, {.updates = rows.view(), .ids = ids}, out.row(0), &expected)
              .ok());
    CHECK_OK(boba_round_clear_updates(c_round));
    for (std::size_t i = 0; i < kClients; ++i) {
      CHECK_OK(boba_round_add_update(c_round, ids[i].c_str(), rows.row_as<float>(i).data(), kLength,
                                     BOBA_FLOAT32));
    }
    CHECK_OK(boba_aggregate(c_kernels, c_rule, c_round, target, kLength, BOBA_FLOAT32, nullptr));
  }
  const void* bytes = nullptr;
  std::size_t count = 0;
  CHECK_OK(boba_memory_save(c_memory, &bytes, &count));
  CHECK(std::string_view(static_cast<const char*>(bytes), count) == expected.save());

  const auto loaded = boba::Memory::load({static_cast<const char*>(bytes), count});
  CHECK(loaded.ok() && loaded->rounds() == 3 && loaded->find("client 6") != nullptr);
  boba_memory_destroy(c_memory);
  boba_round_destroy(c_round);
  boba_aggregator_destroy(c_rule);
  boba_kernels_destroy(c_kernels);
}
