// Tests that lull clean removes only temporary files of killed processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "tools/support/clips.h"
#include "tools/support/program.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr FrameFormat format{.width = 64, .height = 48};

/// A run that has created its temporary file and would take minutes.
class Clean : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<Frame> clip;
    for (int i = 0; i < 3000; ++i)
      clip.push_back(noisy_picture(clean_picture(format, 0.01 * i), 20, i));
    write_y4m(folder_ / "in.y4m", clip);
  }
  Program start() const {
    return Program({"denoise", "-i", folder_ / "in.y4m", "-o", folder_ / "out.mkv", "--sigma", "20",
                    "--device", "reference", "-q"});
  }
  /// Waits for the temporary file and returns its name.
  std::string temporary() const {
    for (int i = 0; i < 600; ++i) {
      for (const std::string& name : folder_.names())
        if (name.starts_with(".out.mkv.lull-")) return name;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return "";
  }
  Outcome clean(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"clean", folder_ / ""};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return Program(arguments).wait();
  }
  Folder folder_;
};

TEST_F(Clean, ListsThenRemovesTheFileOfAKilledRun) {
  Program run = start();
  const std::string name = temporary();
  ASSERT_NE(name, "");
  const Outcome early = clean({});
  EXPECT_EQ(early.code, 0);
  EXPECT_THAT(early.out, HasSubstr("kept '"));
  EXPECT_THAT(early.out, HasSubstr("is writing it"));
  EXPECT_THAT(early.out, HasSubstr("removed 0 files"));
  run.send(SIGKILL);
  EXPECT_EQ(run.wait().code, 137);
  const Outcome listed = clean({"--dry-run"});
  EXPECT_THAT(listed.out, HasSubstr("would remove '" + (folder_ / name) + "'"));
  EXPECT_TRUE(fs::exists(folder_ / name));
  const Outcome done = clean({});
  EXPECT_EQ(done.code, 0);
  EXPECT_THAT(done.out, HasSubstr("removed '" + (folder_ / name) + "'"));
  EXPECT_THAT(done.out, HasSubstr("removed 1 file,"));
  EXPECT_FALSE(fs::exists(folder_ / name));
  EXPECT_TRUE(fs::exists(folder_ / "in.y4m"));
}

TEST_F(Clean, KeepsFilesOfOlderVersionsAndOtherFiles) {
  write_bytes(folder_ / ".out.mkv.lull-17-0-5.tmp", "x");
  write_bytes(folder_ / ".other.tmp", "x");
  const Outcome outcome = clean({});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("of another host, container or version of lull"));
  EXPECT_THAT(outcome.out, Not(HasSubstr(".other.tmp")));
  EXPECT_TRUE(fs::exists(folder_ / ".out.mkv.lull-17-0-5.tmp"));
  EXPECT_TRUE(fs::exists(folder_ / ".other.tmp"));
}

TEST(CleanFolder, ThatIsMissingIsAnError) {
  const Outcome outcome = Program({"clean", "/no/such/folder"}).wait();
  EXPECT_EQ(outcome.code, 66);
  EXPECT_THAT(outcome.err, HasSubstr("cannot read the folder '/no/such/folder'"));
}

}  // namespace
}  // namespace lull::tools
