// Tests the limit of the memory that a job may use, and the estimate of its need.

#include "tools/sessions/memory_need.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "io/support/nifti_fixture.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

using ::testing::HasSubstr;

/// A simulated machine whose state is in files.
class Machine {
 public:
  void put(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::int64_t memory() const { return default_max_memory(folder_ / ""); }

 private:
  Folder folder_;
};

constexpr const char* meminfo =
    "MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:    8000000 kB\n";

TEST(MaxMemory, IsHalfOfTheFreeMemory) {
  Machine machine;
  EXPECT_EQ(machine.memory(), 0);  // the free memory is unknown
  machine.put("proc/meminfo", meminfo);
  EXPECT_EQ(machine.memory(), 4000000LL * 1024);
}

TEST(MaxMemory, IsHalfOfTheCgroupLimit) {
  Machine machine;
  machine.put("proc/meminfo", meminfo);
  machine.put("proc/self/cgroup", "0::/user/job\n");
  machine.put("sys/fs/cgroup/user/job/memory.max", "max\n");
  EXPECT_EQ(machine.memory(), 4000000LL * 1024);
  machine.put("sys/fs/cgroup/user/memory.max", "2000000000\n");  // limit of the parent group
  EXPECT_EQ(machine.memory(), 1000000000);
  machine.put("sys/fs/cgroup/user/job/memory.max", "1000000000\n");
  EXPECT_EQ(machine.memory(), 500000000);
}

TEST(MaxMemory, SupportsCgroupVersionOne) {
  Machine machine;
  machine.put("proc/meminfo", meminfo);
  machine.put("proc/self/cgroup", "8:pids:/a\n4:memory:/a/b\n0::/\n");
  machine.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  machine.put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "3000000000\n");
  EXPECT_EQ(machine.memory(), 1500000000);
}

TEST(MaxMemory, UsesTheRootCgroupInAContainer) {
  Machine machine;
  machine.put("proc/meminfo", meminfo);
  machine.put("proc/self/cgroup", "0::/elsewhere/id\n");
  machine.put("sys/fs/cgroup/memory.max", "600000000\n");
  EXPECT_EQ(machine.memory(), 300000000);
}

TEST(MaxMemory, DefaultDoesNotReplaceTheGivenLimit) {
  InputOptions options;
  set_default_max_memory(options);
  EXPECT_GT(options.source.limits.memory, 0);
  options.source.limits.memory = 1 << 20;
  set_default_max_memory(options);
  EXPECT_EQ(options.source.limits.memory, 1 << 20);
}

class MemoryLimit : public ::testing::Test {
 protected:
  Outcome denoise(const std::string& in, const std::string& out,
                  const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"denoise", "-q",      "-y", "-i", folder_ / in, "-o",
                                       out,       "--sigma", "10", "-d", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_lull(arguments);
  }
  void expect_refused(const Outcome& outcome, const std::string& part) {
    EXPECT_EQ(outcome.code, 71) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(part));
    EXPECT_THAT(outcome.err, HasSubstr("--max-memory"));
  }
  const Folder folder_;
};

// A few kilobytes of gzip that decompress to a volume of 64 MB.
TEST_F(MemoryLimit, AppliesToAVolumeAlongX) {
  const io::test::VolumeSpec spec{.dim = {256, 256, 512}, .datatype = 4, .bitpix = 16};
  const auto zipped =
      io::test::zipped(io::test::volume(spec, std::vector<std::int16_t>(256 * 256 * 512, 5)));
  ASSERT_LT(zipped.size(), 200000u);
  write_bytes(folder_ / "in.nii.gz", {zipped.begin(), zipped.end()});
  const auto before = folder_.names();
  expect_refused(denoise("in.nii.gz", "null", {"--axis", "x", "--max-memory", "50M"}), "67.1 MB");
  // The output needs the same amount of memory again.
  expect_refused(denoise("in.nii.gz", folder_ / "out.nii.gz",
                         {"--axis", "x", "--max-memory", "100M", "--method", "bm3d"}),
                 "134.2 MB");
  EXPECT_THAT(denoise("in.nii.gz", "null", {"--axis", "x", "--max-memory", "50M"}).err,
              HasSubstr("--axis z"));
  EXPECT_EQ(folder_.names(), before);
}

TEST_F(MemoryLimit, SessionRunsOnlyAboveItsNeed) {
  constexpr FrameFormat format{.width = 1024, .height = 1024};
  std::vector<Frame> frames;
  for (int n = 0; n < 2; ++n) frames.push_back(noisy_picture(clean_picture(format), 10, n + 1));
  write_y4m(folder_ / "in.y4m", frames);
  const std::int64_t need = host_memory({bm3d::make_params(bm3d::Profile::fast, {10, 10, 10}),
                                         format,
                                         {{.kind = bm3d::BackendKind::cpu}}});
  const auto with_limit = [&](std::int64_t bytes) {
    return denoise("in.y4m", "null", {"--profile", "fast", "--max-memory", std::to_string(bytes)});
  };
  constexpr std::int64_t megabyte = 1 << 20;
  expect_refused(with_limit(need - megabyte), "1024x1024 grey");
  const Outcome outcome = with_limit(need + megabyte);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  // The memory contains the noisy and the clean frame in bytes, and the guide and the sums of a
  // session in floats.
  constexpr std::int64_t samples = std::int64_t{1024} * 1024;
  EXPECT_GT(need, samples * (2 + 2 * 4));
}

TEST(HostMemory, GrowsWithThePictureAndTheTemporalRadius) {
  const auto need = [](int side, int temporal) {
    return host_memory({bm3d::make_params(bm3d::Profile::balanced, {10, 10, 10}, temporal),
                        {.width = side, .height = side},
                        {{.kind = bm3d::BackendKind::cpu}}});
  };
  const std::int64_t once = need(2048, 0) - need(1024, 0);
  EXPECT_GT(once, 0);
  // The fixed memory of a session cancels in the differences. The second difference belongs to four
  // times as many samples.
  EXPECT_NEAR(static_cast<double>(need(4096, 0) - need(2048, 0)) / static_cast<double>(once), 4,
              0.2);
  // Each frame on either side is held in bytes and in floats.
  EXPECT_GT(need(1024, 2) - need(1024, 1), 2 * 5 * std::int64_t{1024} * 1024);
}

// For each patch, a session stores its samples, and its cluster in each tiling.
TEST(HostMemory, IncludesClusters) {
  constexpr FrameFormat format{.width = 1024, .height = 1024};
  const auto need = [&](int temporal, std::optional<ClusterParams> clusters) {
    bm3d::Params params = bm3d::make_params(bm3d::Profile::high, {10, 10, 10}, temporal);
    params.hard.clusters = params.wiener.clusters = clusters;
    return host_memory({params, format, {{.kind = bm3d::BackendKind::cpu}}});
  };
  const auto more = [&](int temporal, int tilings) {
    return need(temporal, ClusterParams{.tilings = tilings}) - need(temporal, std::nullopt);
  };
  EXPECT_GT(more(0, 2), 20 * std::int64_t{1024} * 1024);
  EXPECT_GT(more(0, 4), 2 * more(0, 2));
  EXPECT_EQ(more(2, 2), 5 * more(0, 2));
}

// Sums, weights and guides of a volume are in the memory of the GPU.
TEST(HostMemory, VolumeOnAGpuNeedsOnlySlicesInTheirSampleFormat) {
  FrameFormat format{.width = 2048, .height = 2048, .bits = 16};
  format.sample = SampleType::u16;
  constexpr double slice = 2048.0 * 2048 * 2;
  const Method method(bm4d::make_params(bm4d::Profile::balanced, {10, 10, 10}));
  const auto need = [&](bm3d::BackendKind kind) {
    return static_cast<double>(host_memory({method, format, {{.kind = kind, .threads = 1}}}));
  };
  EXPECT_GT(need(bm3d::BackendKind::cuda), slice * 2 * margin_of(method).after);
  EXPECT_LT(need(bm3d::BackendKind::cuda), slice * 200);
  EXPECT_GT(need(bm3d::BackendKind::cpu), 2 * need(bm3d::BackendKind::cuda));
}

// With temporal filtering several GPUs share a clip in parts, and one more part than GPUs is in
// memory. A part has as many frames as fit into a quarter of the job's memory, which is limited to
// 1 to 8 GiB, but at least as many as make a part worthwhile.
TEST_F(MemoryLimit, LimitsPartsForSeveralGpus) {
  Method method(bm3d::make_params(bm3d::Profile::balanced, {10, 10, 10}, 2));
  method.memory = std::int64_t{1} << 30;
  FrameFormat format{.width = 3840, .height = 2160, .layout = Layout::yuv, .bits = 16};
  format.sample = SampleType::u16;
  const double frame = 3 * 2.0 * 3840 * 2160;
  const bm3d::Backend gpu{.kind = bm3d::BackendKind::cuda};
  EXPECT_EQ(part_frames(method, format, 2, 1), 40);
  EXPECT_GT(static_cast<double>(host_memory({method, format, {gpu, gpu}})), 3 * 40 * frame);
  EXPECT_GT(static_cast<double>(host_memory({method, format, {gpu, gpu, gpu, gpu}})),
            5 * 40 * frame);
  EXPECT_LT(static_cast<double>(host_memory({method, format, {gpu}})), 80 * frame);
  format = {.width = 1920, .height = 1080};
  EXPECT_EQ(part_frames(method, format, 2, 1), 172);
  EXPECT_EQ(part_frames(method, format, 2, 4), 43);
  method.memory *= 8;
  EXPECT_EQ(part_frames(method, format, 2, 1), 345);
  method.memory *= 100;
  EXPECT_EQ(part_frames(method, format, 2, 1), 600) << "longer ones gain nothing";
  EXPECT_EQ(part_frames(method, format, 2, 4), 345);
  // With 150 frames each of two GPUs gets half; with 15, one GPU gets all.
  method.memory = 1;
  for (const auto& [frames, part] : {std::pair{150, 75}, {250, 125}, {500, 125}, {15, 10}}) {
    method.frames = frames;
    EXPECT_EQ(part_frames(method, format, 2, 1), part) << frames;
  }
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  long total = 0, pages = 0;
  file >> total >> pages;
  return std::int64_t{pages} * 4096;
}

// The estimate is above the real use of the sessions, but not far above it.
TEST_F(MemoryLimit, EstimateIsNearTheRealUse) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep memory of their own";
#endif
  constexpr FrameFormat format{.width = 1280,
                               .height = 1024,
                               .layout = Layout::yuv,
                               .chroma_shift_x = 1,
                               .chroma_shift_y = 1};
  bm3d::Params params = bm3d::make_params(bm3d::Profile::fast, {20, 20, 20}, 1);
  params.phases = 1;
  params.hard.window = params.hard.temporal_window = 3;
  params.hard.step = 8;
  const bm3d::Backend backend{.kind = bm3d::BackendKind::cpu, .threads = 1};
  const std::int64_t before = resident_bytes();
  const auto session = bm3d::open(params, format, backend);
  std::vector<Frame> results;
  for (int n = 0; n < 8; ++n)
    if (auto result = session->push(noisy_picture(clean_picture(format, n), 20, n + 1)))
      results.push_back(*std::move(result));
  const std::int64_t taken = resident_bytes() - before;
  const std::int64_t estimate = host_memory({params, format, {backend}});
  EXPECT_LT(taken, estimate * 3 / 2);
  EXPECT_GT(taken, estimate / 3);
}

// A session over time holds nine frames with R = 2. The bound is in bytes per sample of luma, for
// 8-bit 4:2:0. It fails if all frames hold what only some phases need: float samples of the noisy
// picture, basic estimates, guides, kept groups, and a plane of weights.
TEST_F(MemoryLimit, TemporalSessionOnTheCpuStaysBelowItsBound) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep memory of their own";
#endif
  constexpr FrameFormat format{.width = 1280,
                               .height = 720,
                               .layout = Layout::yuv,
                               .chroma_shift_x = 1,
                               .chroma_shift_y = 1};
  constexpr std::int64_t samples = std::int64_t{1280} * 720;
  const bm3d::Params params = bm3d::make_params(bm3d::Profile::balanced, {10, 10, 10}, 2);
  const bm3d::Backend backend{.kind = bm3d::BackendKind::cpu, .threads = 1};
  const std::int64_t before = resident_bytes();
  const auto session = bm3d::open(params, format, backend);
  std::int64_t most = 0;
  for (int n = 0; n < 11; ++n) {
    (void)session->push(noisy_picture(clean_picture(format, n), 10, n + 1));
    most = std::max(most, resident_bytes() - before);
  }
  EXPECT_LT(most, 300 * samples);
  const std::int64_t estimate = host_memory({params, format, {backend}});
  EXPECT_LT(most, estimate * 5 / 4);
  EXPECT_GT(most, estimate / 2);
}

// The queues before and after the session hold eleven frames, and a session with one thread one.
TEST_F(MemoryLimit, StillPictureNeedsNoFramesInQueues) {
  constexpr FrameFormat format{.width = 640, .height = 480};
  const bm3d::Backend backend{.kind = bm3d::BackendKind::cpu, .threads = 1};
  Method method = bm3d::make_params(bm3d::Profile::fast, {10, 10, 10}, 0);
  const std::int64_t of_clip = host_memory({method, format, {backend}});
  method.frames = 1;
  EXPECT_EQ(host_memory({method, format, {backend}}), of_clip - (12 - 2) * 640 * 480);
}

TEST_F(MemoryLimit, SizesAreParsed) {
  write_y4m(folder_ / "in.y4m", {noisy_picture(clean_picture({.width = 32, .height = 32}), 10)});
  for (const char* text : {"2G", "512M", "1.5G", "1T", "2000000K", "1073741824"})
    EXPECT_EQ(denoise("in.y4m", "null", {"--max-memory", text}).code, 0) << text;
  for (const char* text : {"", "0", "-1G", "2X", "G", "1K", "nan", "1e99T", "2 G"})
    EXPECT_EQ(denoise("in.y4m", "null", {"--max-memory", text}).code, 2) << text;
}

}  // namespace
}  // namespace lull::tools
