// Tests the settings of clips in other programs: their names and values are those of the command.

#include "choose/clip_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/params/preset.h"

namespace lull {
namespace {

std::string refusal_of(const ClipSettings& settings) {
  try {
    (void)choose_clip(settings);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(ClipSettings, DefaultsAreThoseOfTheCommand) {
  const ClipChoice choice = choose_clip({});
  EXPECT_EQ(choice.session.profile, "balanced");
  EXPECT_EQ(choice.session.temporal, 2);
  EXPECT_EQ(choice.session.method, "bm3d");
  EXPECT_EQ(choice.session.device, "auto");
  EXPECT_TRUE(choice.estimates);
  EXPECT_EQ(choice.strength, 1);
}

TEST(ClipSettings, PresetsGiveProfileAndRadius) {
  for (const Preset& preset : presets) {
    const ClipChoice choice = choose_clip({.preset = std::string(preset.name)});
    EXPECT_EQ(choice.session.profile, name_of(preset.profile));
    EXPECT_EQ(choice.session.temporal, preset.temporal);
  }
  EXPECT_EQ(choose_clip({.profile = "fast"}).session.temporal, 0);
  EXPECT_EQ(choose_clip({.profile = "best"}).session.temporal, 4);
  EXPECT_EQ(choose_clip({.preset = "slow", .profile = "fast"}).session.temporal, 2);
  EXPECT_EQ(choose_clip({.preset = "slow", .temporal = "1"}).session.temporal, 1);
  EXPECT_EQ(choose_clip({.preset = "slow", .temporal = "auto"}).session.temporal, 2);
}

TEST(ClipSettings, LevelsAndStrengthGiveTheNoise) {
  using testing::ElementsAre;
  EXPECT_THAT(choose_clip({.sigma = "12"}).session.noise.sigmas(), ElementsAre(12, 12, 12));
  EXPECT_THAT(choose_clip({.sigma = "12:6:3"}).session.noise.sigmas(), ElementsAre(12, 6, 3));
  EXPECT_THAT(choose_clip({.sigma = "10", .strength = "0.5"}).session.noise.sigmas(),
              ElementsAre(5, 5, 5));
  EXPECT_TRUE(choose_clip({.sigma = "auto", .strength = "strong"}).estimates);
  EXPECT_FLOAT_EQ(choose_clip({.strength = "strong"}).strength, 1.4f);
}

TEST(ClipSettings, WrongValuesAreRefusedByName) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal_of({.preset = "quick"}), HasSubstr("preset = 'quick' (must be veryfast"));
  EXPECT_THAT(refusal_of({.profile = "fats"}), HasSubstr("profile = 'fats'"));
  for (const char* text : {"9", "-1", "1.5", "x", "2 "})
    EXPECT_THAT(refusal_of({.temporal = text}), HasSubstr("temporal = '")) << text;
  for (const char* text : {"-1", "-0", "x", "1:2", "1:2:3:4", "nan", "inf", "1,5"})
    EXPECT_THAT(refusal_of({.sigma = text}), HasSubstr("sigma = '")) << text;
  for (const char* text : {"0.05", "11", "weak"})
    EXPECT_THAT(refusal_of({.strength = text}), HasSubstr("strength = '")) << text;
  EXPECT_THAT(refusal_of({.method = "bm4d"}), HasSubstr("method = 'bm4d' (must be bm3d or nlm)"));
}

}  // namespace
}  // namespace lull
