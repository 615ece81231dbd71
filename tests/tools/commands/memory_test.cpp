// Tests that the memory use does not grow with the length of a stream.

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "bm3d/bm3d.h"
#include "io/media.h"
#include "pipeline/run.h"
#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

/// Returns the resident memory of this process in bytes.
long resident() {
  std::ifstream file("/proc/self/statm");
  long total = 0, pages = 0;
  file >> total >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

TEST(Memory, StaysFlatOverTwentyThousandFrames) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep memory of their own";
#endif
  constexpr int frames = 20000, early = 200;
  constexpr FrameFormat format{.width = 24, .height = 24};
  const Folder folder;
  {
    // A few pictures are repeated in the format of write_y4m.
    constexpr int unit = 100;
    std::vector<Frame> some;
    for (int i = 0; i < unit; ++i) some.push_back(noisy_picture(clean_picture(format), 20, i + 1));
    write_y4m(folder / "some.y4m", some);
    const std::string bytes = bytes_of(folder / "some.y4m");
    const std::size_t head = bytes.find('\n') + 1;
    std::ofstream file(folder / "in.y4m", std::ios::binary);
    file << bytes.substr(0, head);
    for (int i = 0; i < frames / unit; ++i) file << bytes.substr(head);
    ASSERT_TRUE(file.flush());
  }
  const bm3d::Backend backend{.kind = bm3d::BackendKind::cpu};
  const auto source = io::open_source(folder / "in.y4m");
  const auto denoiser =
      bm3d::open(bm3d::make_params(bm3d::Profile::fast, {20, 20, 20}), format, backend);
  const auto sink = io::open_sink(folder / "out.mkv", *source, {.lossless = true});
  long before = 0, after = 0;
  const pipeline::PipelineStats stats = pipeline::run(
      *source, *denoiser, *sink, {.observer = [&](const pipeline::PipelineStats& now) {
        if (now.frames == early) before = resident();
        if (now.frames == frames) after = resident();
      }});
  ASSERT_EQ(stats.frames, frames);
  ASSERT_GT(before, 0);
  ASSERT_GT(after, 0) << "the observer did not see the last frame";
  // Matroska's index is kept until the end, about 60 bytes per frame if each is a keyframe, and the
  // allocator returns memory late. A leaked frame of 576 bytes would add 11 MB, and even a leaked
  // packet descriptor of 100 bytes 2 MB.
  RecordProperty("growth_bytes", std::to_string(after - before));
  EXPECT_LT(after - before, 3L << 19) << "from " << before << " to " << after << " bytes";
}

}  // namespace
}  // namespace lull::tools
