// The first convolution with ReLU and maximum: against LibTorch's own, and as one kernel on a GPU
// against several. Small integers, where nothing is rounded and everything must be the same.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <string>
#include <vector>

#include "simulator/torch/many_conv.h"
#include "simulator/torch/many_cuda.h"
#include "simulator/train/place.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

using torch::Tensor;

constexpr std::int64_t kOutputs = 32;

struct Shape {
  std::int64_t clients, examples, height, width;
};

std::string name(const Shape& s) {
  return std::to_string(s.clients) + " clients with " + std::to_string(s.examples) + " of " +
         std::to_string(s.height) + " x " + std::to_string(s.width);
}

struct Problem {
  Tensor images;    // (clients * examples, height, width, channels)
  Tensor weight;    // (clients, outputs, channels, 3, 3)
  Tensor bias;      // (clients, outputs)
  Tensor gradient;  // of the pooled values
};

// draw: gives numbers of a size.
template <class Draw>
Problem problem_of(const Shape& s, bool shared, const Draw& draw) {
  const std::int64_t images = s.clients * s.examples;
  Problem p{draw({images, s.height, s.width, 3}), draw({s.clients, kOutputs, 3, 3, 3}),
            draw({s.clients, kOutputs}),
            draw({images, (s.height - 2) / 2, (s.width - 2) / 2, kOutputs})};
  if (shared) {
    p.weight = p.weight[0].expand_as(p.weight).contiguous();
    p.bias = p.bias[0].expand_as(p.bias).contiguous();
  }
  return p;
}

Problem integers(const Shape& s, bool shared) {
  torch::manual_seed(1);
  return problem_of(
      s, shared, [](at::IntArrayRef sizes) { return torch::randint(-2, 3, sizes, torch::kFloat); });
}

Problem moved(const Problem& p, const torch::Device& device) {
  return {p.images.to(device), p.weight.to(device), p.bias.to(device), p.gradient.to(device)};
}

struct Answer {
  Tensor values;
  Tensor of_weight;
  Tensor of_bias;
};

template <class Forward>
Answer answer_of(const Problem& p, const Forward& forward) {
  const Tensor weight = p.weight.clone().requires_grad_();
  const Tensor bias = p.bias.clone().requires_grad_();
  const Tensor values = forward(weight, bias);
  const auto gradients = torch::autograd::grad({values}, {weight, bias}, {p.gradient.to(values)});
  return {values.detach(), gradients[0], gradients[1]};
}

Answer ours(const Problem& p, torch::ScalarType type, bool shared) {
  const Tensor x = lay_out(p.images.to(type));
  return answer_of(p, [&](const Tensor& weight, const Tensor& bias) {
    return many_laid_out_conv_pool(x, weight, bias, shared);
  });
}

Answer one_after_another(const Problem& p, bool shared) {
  const Tensor x = lay_out(p.images);
  return answer_of(p, [&](const Tensor& weight, const Tensor& bias) {
    return many_relu_pool(many_laid_out_conv3x3(x, weight, bias, shared));
  });
}

// Client by client, in double.
Answer torchs(const Problem& p) {
  return answer_of(p, [&](const Tensor& weight, const Tensor& bias) {
    std::vector<Tensor> parts;
    const auto images = p.images.to(torch::kDouble).permute({0, 3, 1, 2}).chunk(weight.size(0));
    for (std::size_t i = 0; i < images.size(); ++i) {
      const auto client = static_cast<std::int64_t>(i);
      const Tensor y = torch::conv2d(images[i], weight[client].to(torch::kDouble),
                                     bias[client].to(torch::kDouble));
      parts.push_back(torch::max_pool2d(torch::relu(y), 2).permute({0, 2, 3, 1}));
    }
    return torch::cat(parts);
  });
}

bool same(const Tensor& a, const Tensor& b) {
  return torch::equal(a.to(torch::kCPU, torch::kDouble), b.to(torch::kCPU, torch::kDouble));
}

void expect_same(const Answer& answer, const Answer& expected) {
  EXPECT_TRUE(same(answer.values, expected.values));
  EXPECT_TRUE(same(answer.of_weight, expected.of_weight));
  EXPECT_TRUE(same(answer.of_bias, expected.of_bias));
  EXPECT_GT(expected.of_weight.abs().max().item<double>(), 0);
}

TEST(ConvPool, IsConvolutionReluAndMaximum) {
  for (const Shape& shape :
       {Shape{3, 5, 8, 10}, Shape{1, 2, 32, 32}, Shape{2, 3, 9, 7}, Shape{4, 1, 4, 4}}) {
    for (const bool shared : {true, false}) {
      SCOPED_TRACE(name(shape) + (shared ? ", shared" : ""));
      const Problem problem = integers(shape, shared);
      expect_same(ours(problem, torch::kFloat, shared), torchs(problem));
    }
  }
}

// Windows that are no multiple of what a warp takes, clients in one slice and in many, and at last
// more windows than there are warps.
constexpr Shape kFused[] = {{3, 5, 8, 10},  {1, 1, 4, 4},     {2, 1, 4, 4},      {4, 3, 4, 8},
                            {3, 7, 12, 4},  {5, 9, 32, 32},   {1, 50, 32, 32},   {130, 1, 18, 20},
                            {7, 31, 20, 6}, {2, 300, 32, 32}, {10, 500, 32, 32}, {1, 5000, 32, 32}};

bool is_fused(const Problem& p) {
  return many_cuda_serves_conv_pool(lay_out(p.images.to(torch::kBFloat16)), p.weight);
}

TEST(ConvPool, OneKernelIsAsGoodAsSeveral) {
  if (!device_name("cuda")) GTEST_SKIP() << "no GPU";
  for (const Shape& shape : kFused) {
    SCOPED_TRACE(name(shape));
    const Problem problem = moved(integers(shape, true), torch::kCUDA);
    ASSERT_TRUE(is_fused(problem));
    const Answer answer = ours(problem, torch::kBFloat16, true);
    expect_same(answer, one_after_another(problem, true));
    expect_same(ours(problem, torch::kBFloat16, true), answer);
  }
}

TEST(ConvPool, OtherShapesAndOwnWeightsDoWithoutIt) {
  if (!device_name("cuda")) GTEST_SKIP() << "no GPU";
  const Problem odd = moved(integers({2, 3, 9, 8}, true), torch::kCUDA);
  EXPECT_FALSE(is_fused(odd));
  expect_same(ours(odd, torch::kBFloat16, true), one_after_another(odd, true));
  const Problem own = moved(integers({3, 5, 8, 10}, false), torch::kCUDA);
  expect_same(ours(own, torch::kBFloat16, false), one_after_another(own, false));
}

double relative(const Tensor& a, const Tensor& b) {
  return ((a.to(torch::kDouble) - b.to(torch::kDouble)).norm() / b.to(torch::kDouble).norm())
      .item<double>();
}

// Where two of four are nearly the same another may be the largest, so sums are compared as such.
TEST(ConvPool, OneKernelRoundsLittle) {
  if (!device_name("cuda")) GTEST_SKIP() << "no GPU";
  torch::manual_seed(2);
  const Problem p = problem_of({3, 41, 32, 32}, true, [](at::IntArrayRef sizes) {
    return torch::randn(sizes).to(torch::kBFloat16).to(torch::kFloat);
  });
  const Answer answer = ours(moved(p, torch::kCUDA), torch::kBFloat16, true);
  const Answer expected = torchs(p);
  const Tensor off = (answer.values.to(torch::kCPU, torch::kDouble) - expected.values).abs();
  EXPECT_TRUE((off <= expected.values / 256 + 1e-5).all().item<bool>());
  EXPECT_LT(relative(answer.of_weight.cpu(), expected.of_weight), 1e-2);
  EXPECT_LT(relative(answer.of_bias.cpu(), expected.of_bias), 1e-2);
}

TEST(ConvPool, NumbersThatAreNoneStayWhereTheyAre) {
  Problem p = integers({2, 3, 10, 12}, true);
  p.images[1][4][5][1] = std::nan("");
  p.images[5][0][0][0] = -std::nan("");
  const Tensor expected = torchs(p).values;
  ASSERT_GT(expected.isnan().sum().item<std::int64_t>(), 0);
  const auto check = [&](const Problem& problem, torch::ScalarType type) {
    const Tensor values = ours(problem, type, true).values.to(torch::kCPU, torch::kDouble);
    EXPECT_TRUE(torch::equal(values.isnan(), expected.isnan()));
    EXPECT_TRUE(torch::equal(values.nan_to_num(), expected.nan_to_num()));
  };
  check(p, torch::kFloat);
  if (device_name("cuda")) check(moved(p, torch::kCUDA), torch::kBFloat16);
}

}  // namespace
}  // namespace boba
