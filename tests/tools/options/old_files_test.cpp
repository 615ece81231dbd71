// Tests that files of earlier versions are still read: plans, manifests of jobs in segments, noise
// estimates and lists of defects. docs/reference/stability.md states the promise.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/jobs.h"
#include "io/segments/manifest.h"
#include "tools/noise/noise_record.h"
#include "tools/options/denoise_options.h"
#include "tools/options/plan_options.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

std::string old_file(const std::string& name) {
  return LULL_SOURCE "/tests/tools/options/old/" + name;
}

TEST(OldFiles, PlanOfFormat1IsRead) {
  const io::JobPlan plan = io::read_plan(old_file("plan-1"));
  EXPECT_EQ(plan.input, "/farm/in.mkv");
  EXPECT_EQ(plan.output, "/farm/out.mkv");
  EXPECT_EQ(plan.segment_frames, 20);
  EXPECT_EQ(plan.margin, 5);
  EXPECT_GT(plan.frames(), 10);
  const DenoiseOptions options = options_of_plan(plan);
  EXPECT_EQ(options.noise.sigma->front(), 20);
  EXPECT_EQ(options.method.profile, Profile::fast);
  EXPECT_EQ(options.method.temporal, 1);
}

TEST(OldFiles, ManifestOfFormat1IsRead) {
  const auto manifest = io::parse_manifest(bytes_of(old_file("manifest-1")));
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->threads, 2);
  EXPECT_EQ(manifest->segments.size(), 4u);
  EXPECT_EQ(manifest->facts.front().name, "the version of lull");
}

TEST(OldFiles, NoiseOfVersion01IsReadAndUsed) {
  const NoiseRecord record = read_noise(old_file("noise-0.1.json"));
  ASSERT_EQ(record.scenes.size(), 1u);
  EXPECT_NEAR(record.scenes[0].estimate.level[0], 19.63, 0.01);
  const Folder folder;
  write_pnm(folder / "in.pgm", noisy_picture(clean_picture({.width = 32, .height = 24}), 10));
  const Outcome outcome = run_lull({folder / "in.pgm", folder / "out.pgm", "--noise",
                                    old_file("noise-0.1.json"), "--device", "cpu"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST(OldFiles, DefectsOfVersion01AreReadAndUsed) {
  const Folder folder;
  write_pnm(folder / "in.pgm", noisy_picture(clean_picture({.width = 32, .height = 24}), 10));
  const Outcome outcome = run_lull({folder / "in.pgm", folder / "out.pgm", "--sigma", "9",
                                    "--repair", old_file("defects-0.1.txt"), "--device", "cpu"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, testing::HasSubstr("repair"));
}

}  // namespace
}  // namespace lull::tools
