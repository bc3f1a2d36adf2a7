// The gradient of a client's weights is a product of two matrices over its examples and places:
// the output's gradient, and the 3x3 neighbourhoods of the input laid out as rows. With pixels'
// channels together a neighbourhood is three runs of memory, so laying out is one strided copy,
// made for a few clients at a time.
#include "simulator/torch/many_conv.h"

#include <torch/version.h>

#include <algorithm>
#include <array>
#include <vector>

#include "simulator/torch/many_cuda.h"

namespace boba::sim {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kSide = 3;
constexpr std::int64_t kMostBytes = std::int64_t{6} << 30;  // of neighbourhoods at a time

// (N, height, width, channels) as another library's (N, channels, height, width), not moved.
Tensor channels_second(const Tensor& x) { return x.permute({0, 3, 1, 2}); }
Tensor channels_last(const Tensor& x) { return x.permute({0, 2, 3, 1}).contiguous(); }

// Sums in float32 where the factors are shorter.
Tensor long_product(const Tensor& a, const Tensor& b) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 8)
  if (a.is_cuda() && a.scalar_type() != torch::kFloat) return at::bmm(a, b, torch::kFloat);
#endif
  return torch::bmm(a.to(torch::kFloat), b.to(torch::kFloat));
}

// a' b for each client, a and b (clients, rows, ...) with many rows. A GPU wants more products at a
// time than there are clients, so the rows are cut.
Tensor tall_product(const Tensor& a, const Tensor& b) {
  std::int64_t cuts = 1;
  if (a.is_cuda()) {
    for (const std::int64_t more : {10, 8, 5, 4, 2}) {
      if (a.size(1) % more != 0 || a.size(1) / more < 1024) continue;
      cuts = more;
      break;
    }
  }
  const auto cut = [&](const Tensor& x) {
    return x.reshape({x.size(0) * cuts, x.size(1) / cuts, x.size(2)});
  };
  const Tensor parts = long_product(cut(a).transpose(1, 2), cut(b));
  return cuts == 1 ? parts : parts.view({a.size(0), cuts, a.size(2), b.size(2)}).sum(1);
}

// The neighbourhoods of clients [first, first + count): (count, examples * places, 9 * channels).
Tensor neighbourhoods(const Tensor& x, std::int64_t clients, std::int64_t first,
                      std::int64_t count) {
  const std::int64_t examples = x.size(0) / clients;
  const std::int64_t height = x.size(1) - kSide + 1;
  const std::int64_t width = x.size(2) - kSide + 1;
  const std::int64_t channels = x.size(3);
  const Tensor part = x.narrow(0, first * examples, count * examples);
  if (many_cuda_serves(part)) {
    return many_cuda_neighbourhoods(part).view(
        {count, examples * height * width, kSide * kSide * channels});
  }
  const auto step = part.strides();
  return part
      .as_strided({count * examples, height, width, kSide, kSide, channels},
                  {step[0], step[1], step[2], step[1], step[2], step[3]})
      .reshape({count, examples * height * width, kSide * kSide * channels});
}

// Weights as (clients, outputs, 9 * channels), in the order of a neighbourhood.
Tensor as_rows(const Tensor& weight) {
  return weight.permute({0, 1, 3, 4, 2}).reshape({weight.size(0), weight.size(1), -1});
}

// How many clients' neighbourhoods to hold at a time: parts of nearly the same size.
std::int64_t clients_at_once(const Tensor& x, std::int64_t clients) {
  const std::int64_t places = (x.size(1) - kSide + 1) * (x.size(2) - kSide + 1);
  const std::int64_t bytes =
      x.size(0) * places * kSide * kSide * x.size(3) * static_cast<std::int64_t>(x.element_size());
  const std::int64_t parts = std::clamp<std::int64_t>((bytes - 1) / kMostBytes + 1, 1, clients);
  return (clients - 1) / parts + 1;
}

struct ManyConvolution : torch::autograd::Function<ManyConvolution> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, bool shared) {
    context->save_for_backward({x, weight});
    context->saved_data["shared"] = shared;
    if (shared) {
      const auto type = x.scalar_type();
      return channels_last(torch::conv2d(
          channels_second(x), weight[0].to(type).contiguous(torch::MemoryFormat::ChannelsLast),
          bias[0].to(type)));
    }
    const std::int64_t clients = weight.size(0);
    const std::int64_t outputs = weight.size(1);
    const Tensor rows = as_rows(weight).to(x.scalar_type()).transpose(1, 2);
    const Tensor shift = bias.to(x.scalar_type()).unsqueeze(1);
    std::vector<Tensor> parts;
    const std::int64_t step = clients_at_once(x, clients);
    for (std::int64_t first = 0; first < clients; first += step) {
      const std::int64_t count = std::min(step, clients - first);
      parts.push_back(torch::baddbmm(shift.narrow(0, first, count),
                                     neighbourhoods(x, clients, first, count),
                                     rows.narrow(0, first, count)));
    }
    return torch::cat(parts).view({x.size(0), x.size(1) - 2, x.size(2) - 2, outputs});
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor& x = saved[0];
    const Tensor& weight = saved[1];
    const bool shared = context->saved_data["shared"].toBool();
    const Tensor gradient = gradients[0].contiguous();
    const std::int64_t clients = weight.size(0);
    const std::int64_t outputs = weight.size(1);
    const Tensor by_client = gradient.view({clients, -1, outputs});
    Tensor of_x;
    if (context->needs_input_grad(0)) {
      of_x = shared ? shared_input_gradient(gradient, x, weight)
                    : own_input_gradient(by_client, x, weight);
    }
    return {of_x, weight_gradient(by_client, x, weight),
            by_client.sum(1, /*keepdim=*/false, torch::kFloat), Tensor()};
  }

 private:
  static Tensor weight_gradient(const Tensor& by_client, const Tensor& x, const Tensor& weight) {
    const std::int64_t clients = weight.size(0);
    std::vector<Tensor> parts;
    const std::int64_t step = clients_at_once(x, clients);
    for (std::int64_t first = 0; first < clients; first += step) {
      const std::int64_t count = std::min(step, clients - first);
      parts.push_back(tall_product(by_client.narrow(0, first, count),
                                   neighbourhoods(x, clients, first, count)));
    }
    return torch::cat(parts)
        .view({clients, weight.size(1), kSide, kSide, weight.size(2)})
        .permute({0, 1, 4, 2, 3});
  }

  static Tensor shared_input_gradient(const Tensor& gradient, const Tensor& x,
                                      const Tensor& weight) {
    const std::vector<std::int64_t> one = {1, 1};
    const std::vector<std::int64_t> none = {0, 0};
    const auto result = at::convolution_backward(
        channels_second(gradient), channels_second(x),
        weight[0].to(x.scalar_type()).contiguous(torch::MemoryFormat::ChannelsLast),
        at::OptionalIntArrayRef(), one, none, one, /*transposed=*/false, none, /*groups=*/1,
        {true, false, false});
    return channels_last(std::get<0>(result));
  }

  static Tensor own_input_gradient(const Tensor& by_client, const Tensor& x, const Tensor& weight) {
    const std::int64_t clients = weight.size(0);
    const std::int64_t examples = x.size(0) / clients;
    const std::int64_t height = x.size(1) - 2;
    const std::int64_t width = x.size(2) - 2;
    const Tensor rows = as_rows(weight).to(x.scalar_type());
    Tensor result = torch::zeros(x.sizes(), x.options().dtype(torch::kFloat));
    const std::int64_t step = clients_at_once(x, clients);
    for (std::int64_t first = 0; first < clients; first += step) {
      const std::int64_t count = std::min(step, clients - first);
      const Tensor parts =
          torch::bmm(by_client.narrow(0, first, count), rows.narrow(0, first, count))
              .view({count * examples, height, width, kSide, kSide, x.size(3)});
      const Tensor to = result.narrow(0, first * examples, count * examples);
      for (std::int64_t i = 0; i < kSide; ++i) {
        for (std::int64_t j = 0; j < kSide; ++j) {
          to.narrow(1, i, height).narrow(2, j, width).add_(parts.select(3, i).select(3, j));
        }
      }
    }
    return result.to(x.scalar_type());
  }
};

// Weights as rows of a layout with more places than a neighbourhood has.
Tensor as_wide_rows(const Tensor& weight, std::int64_t places) {
  const Tensor rows = as_rows(weight);
  return torch::constant_pad_nd(rows, {0, places - rows.size(2)});
}
// And back: gradient of such rows, as that of weight.
Tensor from_wide_rows(const Tensor& gradient, const Tensor& weight) {
  return gradient.narrow(2, 0, kSide * kSide * weight.size(2))
      .reshape({weight.size(0), weight.size(1), kSide, kSide, weight.size(2)})
      .permute({0, 1, 4, 2, 3});
}

struct LaidOutConvolution : torch::autograd::Function<LaidOutConvolution> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, bool shared) {
    context->save_for_backward({x, weight});
    const std::int64_t places = x.size(3);
    const std::int64_t outputs = weight.size(1);
    const Tensor rows = as_wide_rows(shared ? weight.narrow(0, 0, 1) : weight, places)
                            .to(x.scalar_type())
                            .transpose(1, 2);
    const Tensor shift = bias.to(x.scalar_type());
    const Tensor y =
        shared ? torch::addmm(shift[0], x.view({-1, places}), rows[0])
               : torch::baddbmm(shift.unsqueeze(1), x.view({weight.size(0), -1, places}), rows);
    return y.view({x.size(0), x.size(1), x.size(2), outputs});
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor& x = saved[0];
    const Tensor& weight = saved[1];
    const std::int64_t clients = weight.size(0);
    const Tensor by_client = gradients[0].contiguous().view({clients, -1, weight.size(1)});
    const Tensor rows = tall_product(by_client, x.view({clients, -1, x.size(3)}));
    return {Tensor(), from_wide_rows(rows, weight),
            by_client.sum(1, /*keepdim=*/false, torch::kFloat), Tensor()};
  }
};

struct ReluPool : torch::autograd::Function<ReluPool> {
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    const Pooled pooled = many_cuda_relu_pool(x);
    context->save_for_backward({pooled.places});
    context->saved_data["sizes"] = x.sizes().vec();
    return pooled.values;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {many_cuda_relu_pool_gradient(gradients[0].contiguous(),
                                         context->get_saved_variables()[0],
                                         context->saved_data["sizes"].toIntVector())};
  }
};

// Both at once, of shared weights: the convolution's output and its gradient are never in memory.
struct LaidOutConvPool : torch::autograd::Function<LaidOutConvPool> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias) {
    const Tensor rows = as_wide_rows(weight.narrow(0, 0, 1), x.size(3)).to(x.scalar_type());
    const Pooled pooled = many_cuda_conv_pool(x, rows[0], bias[0]);
    context->save_for_backward({x, weight, pooled.places});
    return pooled.values;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor& weight = saved[1];
    const RowGradient sums =
        many_cuda_conv_pool_gradient(saved[0], gradients[0].contiguous(), saved[2], weight.size(0));
    return {Tensor(), from_wide_rows(sums.rows, weight), sums.bias};
  }
};

}  // namespace

Tensor lay_out(const Tensor& x) {
  const Tensor rows = neighbourhoods(x, 1, 0, 1);
  const auto unit = static_cast<std::int64_t>(16 / x.element_size());
  const std::int64_t places = (rows.size(2) + unit - 1) / unit * unit;
  return torch::constant_pad_nd(rows, {0, places - rows.size(2)})
      .view({x.size(0), x.size(1) - 2, x.size(2) - 2, places});
}

Tensor many_laid_out_conv3x3(const Tensor& x, const Tensor& weight, const Tensor& bias,
                             bool shared) {
  return LaidOutConvolution::apply(x, weight, bias, shared);
}

Tensor many_relu_pool(const Tensor& x) {
  if (many_cuda_serves(x)) return ReluPool::apply(x);
  return torch::max_pool2d(torch::relu(x).permute({0, 3, 1, 2}), 2)
      .permute({0, 2, 3, 1})
      .contiguous();
}

Tensor many_laid_out_conv_pool(const Tensor& x, const Tensor& weight, const Tensor& bias,
                               bool shared) {
  if (shared && many_cuda_serves_conv_pool(x, weight)) {
    return LaidOutConvPool::apply(x, weight, bias);
  }
  return many_relu_pool(many_laid_out_conv3x3(x, weight, bias, shared));
}

Tensor many_conv3x3(const Tensor& x, const Tensor& weight, const Tensor& bias, bool shared) {
  return ManyConvolution::apply(x, weight, bias, shared);
}

}  // namespace boba::sim
