// Tests that an output file appears either complete or not at all.

#include "io/files/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>

#include "io/support/clip.h"

namespace lull::io::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class Output : public testing::Test {
 protected:
  void SetUp() override { make_clip(in, {}); }
  TemporaryFolder folder;
  const std::string in = folder / "in.mkv", out = folder / "out.mkv";
};

TEST_F(Output, IsInvisibleUntilFinished) {
  const auto source = open_source(in);
  const auto sink = open_sink(out, *source, {});
  while (auto frame = source->read()) sink->write(*std::move(frame));
  EXPECT_FALSE(fs::exists(out));
  sink->finish();
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "out.mkv"));
}

TEST_F(Output, LeavesNoFileWithoutFinish) {
  {
    const auto source = open_source(in);
    const auto sink = open_sink(out, *source, {});
    sink->write(*source->read());
    EXPECT_EQ(folder.files().size(), 2u);
  }
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv"));
}

TEST_F(Output, IsNotOverwrittenByDefault) {
  write_file(out, {1, 2, 3});
  EXPECT_THROW(transcode(in, out), CannotCreate);
  EXPECT_EQ(read_file(out), (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(transcode(in, out, {.overwrite = true}), 10);
  EXPECT_EQ(count_frames(out), 10);
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "out.mkv"));
}

// A network file system may report that the name exists although this call created the file.
TEST_F(Output, KeepsTheNameThatItAlreadyHas) {
  const auto source = open_source(in);
  const auto sink = open_sink(out, *source, {});
  while (auto frame = source->read()) sink->write(*std::move(frame));
  fs::create_hard_link(sink->temporary(), out);
  sink->finish();
  EXPECT_EQ(count_frames(out), 10);
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "out.mkv"));
}

/// Makes system calls of this process fail as on a FUSE file system that has neither hard links nor
/// renameat2() with flags. Has no effect if the kernel does not support filters of system calls.
void simulate_fuse() {
#ifdef SYS_link
  constexpr unsigned link = SYS_link;
#else
  constexpr unsigned link = SYS_linkat;
#endif
  sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 2, 0),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, link, 2, 0),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)};
  const sock_fprog program{static_cast<unsigned short>(std::size(rules)), rules};
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  (void)::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/// Commits an empty output in a child process, on a simulated FUSE file system. Calls `before`
/// before the commit. Returns whether the commit succeeds.
bool commits_on_fuse(const std::string& path, const std::function<void()>& before) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 1;
    try {
      OutputFile file(path, {});
      before();
      simulate_fuse();
      file.commit();
      code = 0;
    } catch (const CannotCreate&) {
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Many FUSE file systems report ENOSYS for link(), for example rclone, and sshfs for some servers.
TEST_F(Output, GetsItsNameOnFileSystemsWithoutLinks) {
  EXPECT_TRUE(commits_on_fuse(out, [] {}));
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "out.mkv"));
  const std::string other = folder / "other.mkv";
  EXPECT_FALSE(commits_on_fuse(other, [&] { write_file(other, {7}); }));
  EXPECT_EQ(read_file(other), std::vector<std::uint8_t>{7});
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "other.mkv", "out.mkv"));
}

// A file that only its owner could read stays private, also while it is written.
TEST_F(Output, KeepsThePermissionsOfTheReplacedFile) {
  write_file(out, {1});
  fs::permissions(out, fs::perms::owner_read | fs::perms::owner_write);
  const auto source = open_source(in);
  const auto sink = open_sink(out, *source, {.overwrite = true});
  EXPECT_EQ(fs::status(sink->temporary()).permissions(), fs::perms(0600));
  while (auto frame = source->read()) sink->write(*std::move(frame));
  sink->finish();
  EXPECT_EQ(fs::status(out).permissions(), fs::perms(0600));
  fs::permissions(out, fs::perms(0664));
  transcode(in, out, {.overwrite = true});
  EXPECT_EQ(fs::status(out).permissions(), fs::perms(0664));
}

class PartialOutput : public Output {
 protected:
  /// Returns the path of the partial output of a run that is not accepted.
  std::string keep(const std::string& path, bool overwrite = false) {
    const auto source = open_source(in);
    const auto sink = open_sink(path, *source, {.overwrite = overwrite});
    while (auto frame = source->read()) sink->write(*std::move(frame));
    return sink->finish_if([] { return false; });
  }
};

TEST_F(PartialOutput, HasPartialInItsName) {
  EXPECT_EQ(keep(out), folder / "out.partial.mkv");
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "out.partial.mkv"));
  EXPECT_EQ(count_frames(folder / "out.partial.mkv"), 10);
}

TEST_F(PartialOutput, DoesNotReplaceFilesByDefault) {
  write_file(folder / "out.partial.mkv", {7});
  EXPECT_EQ(keep(out), folder / "out.partial-2.mkv");
  EXPECT_EQ(keep(out), folder / "out.partial-3.mkv");
  EXPECT_EQ(read_file(folder / "out.partial.mkv"), std::vector<std::uint8_t>{7});
  EXPECT_EQ(keep(out, true), folder / "out.partial.mkv");
  EXPECT_EQ(count_frames(folder / "out.partial.mkv"), 10);
}

TEST_F(PartialOutput, ShortensLongNames) {
  const std::string name = std::string(250, 'n') + ".mkv";
  const std::string kept = keep(folder / name);
  EXPECT_TRUE(kept.ends_with("n.partial.mkv")) << kept;
  EXPECT_TRUE(fs::exists(kept));
}

TEST_F(PartialOutput, IsDeletedWhenASegmentedJobIsDone) {
  SinkOptions options;
  options.segments = SegmentOptions{.frames = 4};
  {
    const auto source = open_source(in);
    const auto sink = open_sink(out, *source, options);
    while (auto frame = source->read()) sink->write(*std::move(frame));
    EXPECT_EQ(sink->finish_if([] { return false; }), out + ".lull-job/out.partial.mkv");
  }
  EXPECT_TRUE(fs::exists(out + ".lull-job/out.partial.mkv"));
  options.segments->resume = true;
  transcode(in, out, options);
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "out.mkv"));
}

// For a video the number of frames is an estimate. A picture that exists under the name of a frame
// is nevertheless an error.
TEST_F(Output, PictureSequenceIsRejectedIfAPictureExists) {
  ClipSpec grey;
  grey.format = AV_PIX_FMT_GRAY8;
  make_clip(in, grey);
  write_file(folder / "p.0006.png", {7});
  const auto open = [&](const Selection& part, const std::string& name) {
    SourceOptions options;
    options.selection = part;
    const auto source = open_source(in, options);
    (void)open_sink(folder / name, *source, {});
  };
  EXPECT_THROW(open({}, "p.%04d.png"), CannotCreate);
  EXPECT_THROW(open({.start_us = 200000}, "p.%04d.png"), CannotCreate);
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "p.0006.png"));
  // A file whose name belongs to no selected frame is no obstacle.
  EXPECT_NO_THROW(open({.ranges = {{0, 5}, {7, 9}}}, "p.%04d.png"));
  EXPECT_NO_THROW(open({.start_us = 280000}, "p.%04d.png"));  // from frame 7 on
  EXPECT_NO_THROW(open({}, "q.%04d.png"));
  write_file(folder / "q.0600.png", {7});
  EXPECT_NO_THROW(open({}, "q.%04d.png"));
  EXPECT_NO_THROW(open({.ranges = {{5, FrameRange{}.last}}}, "q.%04d.png"));
  EXPECT_EQ(transcode(in, folder / "p.%04d.png", {.overwrite = true}), 10);
}

TEST_F(Output, DoesNotReplaceAFileThatAppearsMeanwhile) {
  const auto source = open_source(in);
  const auto sink = open_sink(out, *source, {});
  while (auto frame = source->read()) sink->write(*std::move(frame));
  write_file(out, {7});
  EXPECT_THROW(sink->finish(), CannotCreate);
  EXPECT_EQ(read_file(out), std::vector<std::uint8_t>{7});
}

TEST_F(Output, KeepsTheOldFileWhenTheJobFails) {
  write_file(out, {1, 2, 3});
  {
    const auto source = open_source(in);
    const auto sink = open_sink(out, *source, {.overwrite = true});
    sink->write(*source->read());
  }
  EXPECT_EQ(read_file(out), (std::vector<std::uint8_t>{1, 2, 3}));
}

TEST_F(Output, MustNotBeTheInput) {
  fs::create_symlink(in, folder / "link.mkv");
  fs::create_hard_link(in, folder / "hard.mkv");
  const auto before = read_file(in);
  for (const std::string& name :
       {in, folder / "link.mkv", folder / "hard.mkv", (folder.path() / "." / "in.mkv").string()}) {
    EXPECT_TRUE(same_file(in, name)) << name;
    EXPECT_THROW(transcode(in, name, {.overwrite = true}), InvalidArgument) << name;
  }
  EXPECT_FALSE(same_file(in, out));
  EXPECT_FALSE(same_file(out, out));  // does not exist
  EXPECT_EQ(read_file(in), before);
}

TEST_F(Output, FollowsALinkToItsTarget) {
  write_file(folder / "target.mkv", {1});
  fs::create_symlink(folder / "target.mkv", out);
  transcode(in, out, {.overwrite = true});
  EXPECT_TRUE(fs::is_symlink(out));
  EXPECT_EQ(count_frames(folder / "target.mkv"), 10);
}

TEST_F(Output, InvalidLocationsAreRejected) {
  EXPECT_THROW(transcode(in, folder / "no/such/out.mkv"), CannotCreate);
  fs::create_directory(folder / "dir.mkv");
  EXPECT_THROW(transcode(in, folder / "dir.mkv", {.overwrite = true}), CannotCreate);
  EXPECT_THROW(transcode(in, in + "/out.mkv"), CannotCreate);  // in a "folder" that is a file
}

TEST_F(Output, AcceptsLongNames) {
  const std::string name = folder / (std::string(250, 'n') + ".mkv");
  EXPECT_EQ(transcode(in, name), 10);
}

// A limit on the file size simulates a full disk: a write fails in the middle.
TEST_F(Output, FullDiskIsAnIoErrorAndLeavesNoFile) {
  ClipSpec spec;
  spec.width = spec.height = 256;
  spec.frames = 20;  // noise: more than 1 MB
  make_clip(in, spec);
  struct rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  for (const char* name : {"out.mkv", "out.mov", "out.y4m", "out.avi"}) {
    const struct rlimit small { 400000, old.rlim_max };
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    SinkOptions options;
    if (std::string(name) != "out.y4m") options.crf = 1;
    EXPECT_THROW(transcode(in, folder / name, options), IoError) << name;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
    EXPECT_THAT(folder.files(), ElementsAre("in.mkv")) << name;
  }
  std::signal(SIGXFSZ, previous);
}

// finish() writes the last bytes.
TEST_F(Output, FullDiskAtTheEndIsDetected) {
  struct rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  const auto source = open_source(in);
  {
    const auto sink = open_sink(out, *source, {.lossless = true});
    while (auto frame = source->read()) sink->write(*std::move(frame));
    const struct rlimit small { 4096, old.rlim_max };
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_THROW(sink->finish(), IoError);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  }
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv"));
  std::signal(SIGXFSZ, previous);
}

}  // namespace
}  // namespace lull::io::test
