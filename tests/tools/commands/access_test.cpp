// Tests that if only some users may read a source, other users cannot read the results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class AccessOfResults : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<Frame> frames;
    for (int i = 0; i < 8; ++i)
      frames.push_back(noisy_picture(clean_picture({.width = 64,
                                                    .height = 64,
                                                    .layout = Layout::yuv,
                                                    .chroma_shift_x = 1,
                                                    .chroma_shift_y = 1},
                                                   0.1 * i),
                                     10, static_cast<unsigned>(i) + 1));
    write_y4m(folder_ / "in.y4m", frames);
    write_y4m(folder_ / "open.y4m", frames);
    fs::permissions(folder_ / "in.y4m", fs::perms(0600));
    fs::permissions(folder_ / "open.y4m", fs::perms(0644));
    before_ = ::umask(022);
  }
  void TearDown() override { ::umask(before_); }
  void run(Words words) const {
    const Outcome outcome = run_lull(words, {.folder = folder_ / "."});
    ASSERT_EQ(outcome.code, 0) << testing::PrintToString(words) << outcome.err;
  }
  unsigned mode(const std::string& name) const {
    return static_cast<unsigned>(fs::status(folder_ / name).permissions());
  }
  Folder folder_;
  mode_t before_ = 0;
};

TEST_F(AccessOfResults, DenoiseResultsAreAsPrivateAsTheSource) {
  const Words fixed = {"--sigma", "9", "--profile", "fast", "--device", "cpu", "-q"};
  const auto denoise = [&](Words words) {
    words.insert(words.begin(), "denoise");
    words.insert(words.end(), fixed.begin(), fixed.end());
    run(words);
  };
  denoise({"in.y4m", "out.mkv", "--report", "page.html", "--grain-table", "grain.tbl",
           "--metrics-file", "m.prom", "--log-file", "run.log"});
  for (const std::string name : {"out.mkv", "page.html", "grain.tbl"})
    EXPECT_EQ(mode(name), 0600u) << name;
  // These files contain no samples, so other users may read them.
  for (const std::string name : {"m.prom", "run.log"}) EXPECT_EQ(mode(name), 0644u) << name;
  denoise({"in.y4m", "p%02d.png"});
  EXPECT_EQ(mode("p07.png"), 0600u);
  denoise({"open.y4m", "guided.mkv", "--guide", "in.y4m", "--method", "nlm"});
  EXPECT_EQ(mode("guided.mkv"), 0600u);
  // The page shows the reference, so the permissions of the reference limit those of the page. The
  // result does not show the reference.
  denoise({"open.y4m", "open.mkv", "--report", "open.html", "--reference", "in.y4m"});
  EXPECT_EQ(mode("open.mkv"), 0644u);
  EXPECT_EQ(mode("open.html"), 0600u);
}

TEST_F(AccessOfResults, SharedJobFilesAreAsPrivateAsTheSource) {
  run({"plan", "in.y4m", "-o", "out.mkv", "--sigma", "9", "--profile", "fast", "--device", "cpu",
       "--segment-frames", "4", "--job", "J", "-q"});
  run({"denoise", "--job", "J", "-q"});
  run({"join", "J", "-q"});
  run({"report", "J", "-q"});
  for (const std::string name : {"J/plan", "J/000000.lullseg", "J/result", "out.mkv", "J.html"})
    EXPECT_EQ(mode(name), 0600u) << name;
}

TEST_F(AccessOfResults, ResultsOfOtherCommandsAreAsPrivateAsTheirInputs) {
  run({"noise", "in.y4m", "-o", "noise.json", "--plot", "noise.svg", "-q"});
  run({"preview", "in.y4m", "-o", "look.png", "--sigma", "9", "--device", "cpu", "-q"});
  run({"compare", "open.y4m", "in.y4m", "--csv", "c.csv", "--html", "c.html"});
  for (const std::string name : {"noise.json", "noise.svg", "look.png", "c.csv", "c.html"})
    EXPECT_EQ(mode(name), 0600u) << name;
  run({"noise", "open.y4m", "-o", "other.json", "-q"});
  EXPECT_EQ(mode("other.json"), 0644u);
}

}  // namespace
}  // namespace lull::tools
