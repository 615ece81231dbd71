// Tests that if only some users may read a source, other users cannot read the files made from it.

#include "io/access.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>

#include "io/support/clip.h"
#include "io/support/segment_jobs.h"
#include "io/support/volumes.h"

namespace lull::io::test {
namespace {

namespace fs = std::filesystem;

/// Sets the umask of the process during its lifetime.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  mode_t before_;
};

unsigned mode_of(const std::string& path) {
  return static_cast<unsigned>(fs::status(path).permissions());
}

class OutputPermissions : public testing::Test {
 protected:
  void SetUp() override { make_clip(in, {}); }
  void set(const std::string& path, unsigned mode) { fs::permissions(path, fs::perms(mode)); }
  TemporaryFolder folder;
  const std::string in = folder / "in.mkv", out = folder / "out.mkv";
};

TEST_F(OutputPermissions, NewOutputGetsTheStricterOfUmaskAndSource) {
  struct Case {
    unsigned source, mask, result;
  };
  for (const auto& [source, mask, result] :
       {Case{0600, 022, 0600}, Case{0640, 0, 0640}, Case{0644, 0, 0644}, Case{0644, 077, 0600},
        Case{0666, 022, 0644}, Case{0444, 022, 0644}, Case{0400, 0, 0600}, Case{0604, 0, 0604},
        Case{0755, 0, 0644}}) {
    const Umask umask(mask);
    set(in, source);
    fs::remove(out);
    {
      const auto opened = open_source(in);
      const auto sink = open_sink(out, *opened, {});
      EXPECT_EQ(mode_of(sink->temporary()), result) << std::oct << source;
    }
    transcode(in, out);
    EXPECT_EQ(mode_of(out), result) << std::oct << source << " " << mask;
  }
}

TEST_F(OutputPermissions, ReplacedOutputKeepsItsModeLimitedByTheSource) {
  const Umask umask(0);
  write_file(out, {1});
  const auto mode_after = [&](unsigned source, unsigned old) {
    set(in, source);
    set(out, old);
    transcode(in, out, {.overwrite = true});
    return mode_of(out);
  };
  EXPECT_EQ(mode_after(0644, 0664), 0664u);
  EXPECT_EQ(mode_after(0644, 0600), 0600u);
  EXPECT_EQ(mode_after(0640, 0664), 0660u);
  EXPECT_EQ(mode_after(0600, 0666), 0600u);
}

TEST_F(OutputPermissions, OtherInputsLimitTheModeToo) {
  const Umask umask(0);
  set(in, 0644);
  transcode(in, out, {.access = {.mode = 0640}});
  EXPECT_EQ(mode_of(out), 0640u);
}

TEST_F(OutputPermissions, StrictestPictureLimitsAllPicturesOfASequence) {
  const Umask umask(022);
  for (int i = 0; i < 3; ++i) make_clip(folder / ("p" + std::to_string(i) + ".png"), png_spec());
  set(folder / "p1.png", 0640);
  transcode(folder / "p%d.png", folder / "q%d.png");
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(mode_of(folder / ("q" + std::to_string(i) + ".png")), 0640u);
}

TEST_F(OutputPermissions, VolumesAndGradientsGetTheModesOfTheirSources) {
  const Umask umask(022);
  const std::string series = folder / "s.nii";
  std::vector<std::int16_t> samples(120);
  std::iota(samples.begin(), samples.end(), 0);
  write_file(series, volume({.dim = {5, 4, 3, 2}}, samples));
  write_file(folder / "s.bval", {'0', '\n'});
  write_file(folder / "s.bvec", {'0', '\n'});
  set(folder / "s.bvec", 0600);
  transcode(series, folder / "a.nii");
  EXPECT_EQ(mode_of(folder / "a.nii"), 0644u);
  EXPECT_EQ(mode_of(folder / "a.bval"), 0644u);
  EXPECT_EQ(mode_of(folder / "a.bvec"), 0600u);
  set(series, 0640);
  transcode(series, folder / "b.nii");
  EXPECT_EQ(mode_of(folder / "b.nii"), 0640u);
  EXPECT_EQ(mode_of(folder / "b.bval"), 0640u);
}

TEST_F(OutputPermissions, JobFilesGetTheModeOfTheSource) {
  const Umask umask(022);
  set(in, 0600);
  Job job{in, out, {}, {.segments = SegmentOptions{.frames = 4}}};
  (void)run(job, false, 6);
  EXPECT_EQ(mode_of(out + ".lull-job/manifest"), 0600u);
  EXPECT_EQ(mode_of(out + ".lull-job/000000.lullseg"), 0600u);
}

TEST_F(OutputPermissions, OpenFilesAreReadAndOtherNamesAreIgnored) {
  set(in, 0640);
  struct stat status;
  ASSERT_EQ(::stat(in.c_str(), &status), 0);
  EXPECT_EQ(access_of({in}), (Access{.mode = 0640, .group = status.st_gid}));
  const int descriptor = ::open(in.c_str(), O_RDONLY);
  EXPECT_EQ(access_of({"-"}, descriptor).mode, 0640u);
  ::close(descriptor);
  EXPECT_EQ(access_of({folder / "none", "/dev/null", "https://host/name"}), Access{});
}

// An output may belong to another group than its source.
TEST(FileAccess, GroupOtherThanTheSourcesGetsTheRightsOfOthers) {
  const Access ours{.mode = 0640, .group = 7};
  EXPECT_EQ(mode_for(ours, 7), 0640u);
  EXPECT_EQ(mode_for(ours, 8), 0600u);
  EXPECT_EQ(mode_for({.mode = 0664, .group = 7}, 8), 0644u);
  EXPECT_EQ((ours & Access{.mode = 0644, .group = 7}), ours);
  EXPECT_EQ((ours & Access{.mode = 0644, .group = 8}).mode, 0600u);
  EXPECT_EQ((ours & Access{}), ours);
}

}  // namespace
}  // namespace lull::io::test
