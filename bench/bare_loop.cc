#include "bench/bare_loop.h"

#include <torch/torch.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace boba::bench {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t kWords = 48;
constexpr std::int64_t kVocabulary = 30000;
constexpr std::int64_t kVectorLength = 100;

// A model of LibTorch's layers and the function that runs it.
struct Net {
  std::vector<Tensor> parameters;
  std::function<Tensor(const Tensor&)> forward;
};

Net make_mlp() {
  nn::Sequential layers(nn::Linear(784, 200), nn::ReLU(), nn::Linear(200, 200), nn::ReLU(),
                        nn::Linear(200, 10));
  return {layers->parameters(), [layers](const Tensor& x) mutable { return layers->forward(x); }};
}

Net make_cnn() {
  nn::Sequential layers(nn::Conv2d(3, 32, 3), nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(32, 64, 3),
                        nn::ReLU(), nn::MaxPool2d(2), nn::Conv2d(64, 64, 3), nn::ReLU(),
                        nn::Flatten(), nn::Linear(1024, 64), nn::ReLU(), nn::Linear(64, 10));
  return {layers->parameters(), [layers](const Tensor& x) mutable { return layers->forward(x); }};
}

Net make_gru(const Tensor& vectors) {
  nn::GRU gru(nn::GRUOptions(kVectorLength, 32));
  nn::Linear output(32, 4);
  std::vector<Tensor> parameters = gru->parameters();
  for (const Tensor& parameter : output->parameters()) parameters.push_back(parameter);
  return {parameters, [gru, output, vectors](const Tensor& words) mutable {
            const Tensor out = std::get<0>(gru->forward(torch::embedding(vectors, words.t())));
            return output->forward(std::get<0>(out.max(0)));
          }};
}

class TorchLoop final : public BareLoop {
 public:
  TorchLoop(const LoopShape& shape, int threads) : clients_(shape.clients) {
    const auto rows = static_cast<std::int64_t>(shape.clients * shape.examples);
    const Tensor vectors = torch::randn({kVocabulary, kVectorLength});
    std::int64_t classes = 10;
    if (shape.model == "mlp") inputs_ = torch::randn({rows, 784});
    if (shape.model == "cnn") {
      inputs_ = torch::randn({rows, 32, 32, 3}).permute({0, 3, 1, 2});
    }
    if (shape.model == "gru") {
      classes = 4;
      inputs_ = torch::randint(0, kVocabulary, {rows, kWords}, torch::kLong);
    }
    labels_ = torch::randint(0, classes, {rows}, torch::kLong);
    examples_ = static_cast<std::int64_t>(shape.examples);
    for (int i = 0; i < threads; ++i) {
      nets_.push_back(shape.model == "mlp"   ? make_mlp()
                      : shape.model == "cnn" ? make_cnn()
                                             : make_gru(vectors));
    }
  }

  double round() override {
    const auto start = std::chrono::steady_clock::now();
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> threads;
    for (Net& net : nets_) {
      threads.emplace_back([&] {
        for (std::size_t i = next++; i < clients_; i = next++) {
          const auto first = static_cast<std::int64_t>(i) * examples_;
          const Tensor loss =
              torch::cross_entropy_loss(net.forward(inputs_.narrow(0, first, examples_)),
                                        labels_.narrow(0, first, examples_));
          torch::autograd::grad({loss}, net.parameters);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  std::size_t clients_;
  std::int64_t examples_ = 0;
  Tensor inputs_;
  Tensor labels_;
  std::vector<Net> nets_;
};

}  // namespace

std::unique_ptr<BareLoop> make_bare_loop(const LoopShape& shape, int threads) {
  return std::make_unique<TorchLoop>(shape, threads);
}

}  // namespace boba::bench
