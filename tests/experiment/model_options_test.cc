#include "simulator/experiment/model_options.h"

#include <gtest/gtest.h>

#include "simulator/experiment/label_flip.h"
#include "simulator/experiment/resolved.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

std::string error_of(std::string_view spec) {
  const Result<ModelChoice> model = parse_model(spec);
  return model ? "" : model.error().message;
}

TEST(ParseModel, GivesTheOptionsOfEach) {
  const Result<ModelChoice> mlp = parse_model("mlp(width=64)");
  ASSERT_TRUE(mlp) << mlp.error().message;
  EXPECT_EQ(std::get<MlpOptions>(*mlp).width, 64);
  EXPECT_EQ(std::get<MlpOptions>(*mlp).depth, 2);
  EXPECT_EQ(std::get<CnnOptions>(*parse_model("cnn")).channels, 32);
  const Result<ModelChoice> gru = parse_model("gru(pooling=mean)");
  EXPECT_EQ(std::get<GruOptions>(*gru).units, 32);
  EXPECT_EQ(std::get<GruOptions>(*gru).pooling, GruOptions::Pooling::kMean);
  EXPECT_TRUE(std::holds_alternative<ScriptOptions>(*parse_model("script")));
}

TEST(ParseModel, SpellsWhatDiffersFromTheDefaults) {
  for (const char* spec : {"mlp", "mlp(depth=0)", "cnn(channels=8)", "cnn(precision=float32)",
                           "gru(units=5,pooling=mean)", "script"}) {
    const Result<ModelChoice> model = parse_model(spec);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model_spec(*model), spec);
  }
  EXPECT_EQ(model_spec(*parse_model(" mlp( depth = 2, width=200 ) ")), "mlp");
}

TEST(ParseModel, ErrorsSayWhatWouldDo) {
  EXPECT_EQ(error_of("mpl"), "no model 'mpl'; did you mean mlp? models are: mlp, cnn, gru, script");
  EXPECT_EQ(error_of("resnet50"), "no model 'resnet50'; models are: mlp, cnn, gru, script");
  EXPECT_EQ(error_of("mlp(widht=3)"), "mlp: no option widht; options are: width, depth, precision");
  EXPECT_EQ(error_of("mlp(width=0)"), "mlp: width=0 is outside [1, 65536]");
  EXPECT_EQ(error_of("gru(pooling=last)"), "gru: pooling=last is none of: max, mean");
  EXPECT_EQ(error_of("cnn(precision=half)"), "cnn: precision=half is none of: mixed, float32");
  EXPECT_EQ(error_of("script(file=x)"), "script takes no options; got file");
  EXPECT_EQ(error_of("mlp|cnn"), "a model takes no stages; got 'mlp|cnn'");
  EXPECT_NE(error_of(""), "");
}

TEST(ParseModel, EveryModelIsDescribed) {
  for (const ModelEntry& model : models()) {
    EXPECT_TRUE(parse_model(model.info.name)) << model.info.name;
    EXPECT_FALSE(model.info.summary.empty()) << model.info.name;
    EXPECT_FALSE(model.info.condition.empty()) << model.info.name;
    for (const OptionInfo& option : model.options()) EXPECT_FALSE(option.help.empty());
  }
}

TEST(LabelFlip, IsToldFromOtherAttacks) {
  const auto resolved = [](const char* attack) {
    Experiment e;
    e.attack = attack;
    return resolve(e);
  };
  EXPECT_FALSE(resolved("ipm(gamma=2)")->label_flip.has_value());
  EXPECT_FALSE(resolved("none")->label_flip.has_value());
  EXPECT_EQ(resolved("labelflip | ipm").error().message,
            "attack: an attack takes no stages; got 'labelflip | ipm'");
  ASSERT_TRUE(resolved("labelflip")->label_flip.has_value());
  EXPECT_FALSE(resolved("labelflip")->attack_on_updates);
  EXPECT_EQ(resolved("labelflip")->label_flip->mode, LabelFlipOptions::Mode::kMirror);
  EXPECT_EQ(resolved("labelflip(mode=next)")->label_flip->mode, LabelFlipOptions::Mode::kNext);
  EXPECT_EQ(resolved("labelflip(mode=up)").error().message,
            "attack: labelflip: mode=up is none of: mirror, next");
  EXPECT_FALSE(resolved("labelflip("));
}

TEST(LabelFlip, ChangesEveryLabelToAnotherOne) {
  const LabelFlipOptions mirror{.mode = LabelFlipOptions::Mode::kMirror};
  EXPECT_EQ(mirror.flip(0, 10), 9u);
  EXPECT_EQ(mirror.flip(3, 10), 6u);
  const LabelFlipOptions next{.mode = LabelFlipOptions::Mode::kNext};
  EXPECT_EQ(next.flip(3, 4), 0u);
  EXPECT_EQ(next.flip(0, 4), 1u);
  // The middle class of an odd number is its own mirror image; next has no such class.
  for (std::size_t z = 0; z < 10; ++z) EXPECT_NE(mirror.flip(z, 10), z);
  for (std::size_t z = 0; z < 5; ++z) EXPECT_NE(next.flip(z, 5), z);
}

}  // namespace
}  // namespace boba
