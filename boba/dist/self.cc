#include <cstdio>
#include <cstdlib>

#include "boba/dist/communicator.h"
#include "boba/text/printable.h"

namespace boba {
namespace {

class SelfCommunicator final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string name() const override { return "rank 0"; }

  // There is nobody to send to or to hear from.
  void send(int /*to*/, std::span<const std::byte> /*bytes*/) const override {
    abort("a message to nobody");
  }
  void receive(int /*from*/, std::span<std::byte> /*bytes*/) const override {
    abort("waits for a message from nobody");
  }
  int poll(std::span<std::byte> /*bytes*/) const override { return -1; }

  void broadcast(int /*root*/, std::span<std::byte> /*bytes*/) const override {}
  void all_max(std::span<std::uint64_t> /*numbers*/) const override {}

  std::unique_ptr<Communicator> first(int count) const override {
    return count > 0 ? make_self_communicator() : nullptr;
  }

  [[noreturn]] void abort(const std::string& why) const override {
    std::fprintf(stderr, "boba: %s\n", printable(why).c_str());
    std::_Exit(1);
  }
};

}  // namespace

std::unique_ptr<Communicator> make_self_communicator() {
  return std::make_unique<SelfCommunicator>();
}

}  // namespace boba
