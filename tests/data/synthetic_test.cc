// The built-in set: even, the same everywhere, learnable but not trivial.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "boba/core/random.h"
#include "simulator/data/synthetic.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

Dataset make(const SyntheticSetOptions& options = {}) {
  Result<Dataset> data = make_synthetic(options);
  EXPECT_TRUE(data) << data.error().message;
  return data ? *std::move(data) : Dataset();
}

std::vector<double> input(const Dataset& data, const Examples& examples, std::size_t i) {
  std::vector<double> values(data.image.size());
  for (std::size_t j = 0; j < values.size(); ++j) {
    values[j] = (examples.pixels[i * values.size() + j] / 255.0 - data.mean[0]) / data.deviation[0];
  }
  return values;
}

TEST(Synthetic, HasTheShapeAskedFor) {
  const Dataset data = make({.classes = 4, .side = 6, .train = 40, .test = 8, .noise = 0.5});
  EXPECT_EQ(data.name, "synthetic(classes=4,side=6,train=40,test=8,noise=0.5)");
  EXPECT_EQ(data.image.size(), 36U);
  EXPECT_EQ(data.classes.size(), 4U);
  EXPECT_EQ(data.train.pixels.size(), 40U * 36);
  EXPECT_EQ(data.test.pixels.size(), 8U * 36);
  for (std::uint8_t label = 0; label < 4; ++label) {
    EXPECT_EQ(std::count(data.train.labels.begin(), data.train.labels.end(), label), 10);
    EXPECT_EQ(std::count(data.test.labels.begin(), data.test.labels.end(), label), 2);
  }
}

TEST(Synthetic, IsTheSameOnEveryMachine) {
  EXPECT_EQ(make().checksum, "20a74a9000ec8318ac9360ce9f1dc19ab32e9e725ec4d7b9c3b22d860b577567");
  EXPECT_EQ(make().checksum, make().checksum);
}

TEST(Synthetic, EveryOptionChangesIt) {
  const std::string base = make().checksum;
  EXPECT_NE(make({.classes = 9}).checksum, base);
  EXPECT_NE(make({.side = 9}).checksum, base);
  EXPECT_NE(make({.train = 2010}).checksum, base);
  EXPECT_NE(make({.test = 510}).checksum, base);
  EXPECT_NE(make({.noise = 0.81}).checksum, base);
}

TEST(Synthetic, TestImagesAreNotTrainingImages) {
  const Dataset data = make();
  const std::size_t size = data.image.size();
  for (std::size_t i = 0; i < data.test.count(); ++i) {
    EXPECT_FALSE(std::equal(data.test.pixels.begin() + static_cast<std::ptrdiff_t>(i * size),
                            data.test.pixels.begin() + static_cast<std::ptrdiff_t>((i + 1) * size),
                            data.train.pixels.begin() + static_cast<std::ptrdiff_t>(i * size)));
  }
}

TEST(Synthetic, MeanAndDeviationAreThoseOfTheTrainingImages) {
  const Dataset data = make();
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < data.train.count(); ++i) {
    for (const double value : input(data, data.train, i)) {
      sum += value;
      squares += value * value;
    }
  }
  const auto count = static_cast<double>(data.train.pixels.size());
  EXPECT_NEAR(sum / count, 0, 1e-3);
  EXPECT_NEAR(squares / count, 1, 1e-3);
}

// One hidden layer, trained by plain stochastic steps.
class SmallMlp {
 public:
  SmallMlp(std::size_t inputs, std::size_t classes)
      : inputs_(inputs), classes_(classes), first_((inputs + 1) * kUnits), last_(classes * kUnits) {
    const StreamKey key{.purpose = Purpose::kModel};
    const double scale = 1 / std::sqrt(static_cast<double>(inputs));
    for (std::size_t i = 0; i < first_.size(); ++i) first_[i] = scale * normal_at(key, i);
    for (std::size_t i = 0; i < last_.size(); ++i) {
      last_[i] = 0.1 * normal_at(key, first_.size() + i);
    }
  }

  std::size_t predict(const std::vector<double>& x) {
    forward(x);
    return static_cast<std::size_t>(std::max_element(out_.begin(), out_.end()) - out_.begin());
  }

  void step(const std::vector<double>& x, std::size_t label, double rate) {
    forward(x);
    double total = 0;
    for (double& value : out_) total += value = std::exp(value);
    std::vector<double> back(kUnits, 0.0);
    for (std::size_t k = 0; k < classes_; ++k) {
      const double error = out_[k] / total - (k == label ? 1 : 0);
      for (std::size_t u = 0; u < kUnits; ++u) {
        back[u] += error * last_[k * kUnits + u];
        last_[k * kUnits + u] -= rate * error * hidden_[u];
      }
    }
    for (std::size_t u = 0; u < kUnits; ++u) {
      if (hidden_[u] <= 0) continue;
      double* row = &first_[u * (inputs_ + 1)];
      for (std::size_t j = 0; j < inputs_; ++j) row[j] -= rate * back[u] * x[j];
      row[inputs_] -= rate * back[u];
    }
  }

 private:
  static constexpr std::size_t kUnits = 32;

  void forward(const std::vector<double>& x) {
    hidden_.assign(kUnits, 0);
    out_.assign(classes_, 0);
    for (std::size_t u = 0; u < kUnits; ++u) {
      const double* row = &first_[u * (inputs_ + 1)];
      double sum = row[inputs_];
      for (std::size_t j = 0; j < inputs_; ++j) sum += row[j] * x[j];
      hidden_[u] = std::max(sum, 0.0);
      for (std::size_t k = 0; k < classes_; ++k) out_[k] += last_[k * kUnits + u] * hidden_[u];
    }
  }

  std::size_t inputs_;
  std::size_t classes_;
  std::vector<double> first_;
  std::vector<double> last_;
  std::vector<double> hidden_;
  std::vector<double> out_;
};

TEST(Synthetic, ASmallNetworkLearnsItButNotAtOnce) {
  const Dataset data = make();
  SmallMlp model(data.image.size(), data.classes.size());
  const auto accuracy = [&] {
    std::size_t right = 0;
    for (std::size_t i = 0; i < data.test.count(); ++i) {
      right += model.predict(input(data, data.test, i)) == data.test.labels[i] ? 1 : 0;
    }
    return static_cast<double>(right) / static_cast<double>(data.test.count());
  };
  EXPECT_LT(accuracy(), 0.3);
  for (std::size_t i = 0; i < 200; ++i) {
    model.step(input(data, data.train, i), data.train.labels[i], 0.01);
  }
  EXPECT_LT(accuracy(), 0.85);
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (std::size_t i = 0; i < data.train.count(); ++i) {
      model.step(input(data, data.train, i), data.train.labels[i], 0.01);
    }
  }
  EXPECT_GT(accuracy(), 0.90);
  EXPECT_LT(accuracy(), 0.98);
}

TEST(Synthetic, RefusesWhatCannotBe) {
  EXPECT_FALSE(make_synthetic({.classes = 1}));
  EXPECT_FALSE(make_synthetic({.test = 5}));
  EXPECT_FALSE(make_synthetic({.noise = std::nan("")}));
  EXPECT_FALSE(make_synthetic({.side = 64, .train = 1'000'000}));
}

}  // namespace
}  // namespace boba::test
