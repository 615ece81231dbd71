// Tests that temporary files of killed processes are removed, and no other files.

#include "io/leftovers.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "io/files/output_file.h"
#include "io/files/output_folder.h"
#include "io/files/temporary_name.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::SizeIs;

/// A child process that has created the temporary file of an output and waits to be killed.
class Writer {
 public:
  explicit Writer(const std::string& output) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0) throw std::runtime_error("pipe");
    child_ = ::fork();
    if (child_ == 0) {
      const OutputFile file(output, {.overwrite = true, .removes_leftovers = false});
      (void)!::write(ready[1], "x", 1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    if (::read(ready[0], &byte, 1) != 1) throw std::runtime_error("the child has failed");
    ::close(ready[0]);
  }
  ~Writer() { kill(true); }
  /// Without `reap`, the process becomes a zombie.
  void kill(bool reap) {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      siginfo_t info;
      ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOWAIT);
    }
    if (child_ > 0 && reap) {
      ::waitpid(child_, nullptr, 0);
      child_ = -1;
    }
  }

 private:
  pid_t child_ = -1;
};

class Leftovers : public testing::Test {
 protected:
  void SetUp() override { make_clip(in, {}); }
  /// Creates a file for `output` of a process with this identity.
  std::string leave(const std::string& output, const ProcessIdentity& process) const {
    TemporaryName name = *parse_temporary_name(temporary_name(output, 0, 7));
    std::string text = temporary_name(output, 0, 7);
    const auto replace = [&](const std::string& from, const std::string& to) {
      text.replace(text.find(from), from.size(), to);
    };
    const auto fields = [](const ProcessIdentity& p) {
      return p.host + "-" + p.boot + "-" + std::to_string(p.name_space) + "-" +
             std::to_string(p.number) + "-" + std::to_string(p.start) + "-";
    };
    replace(fields(name.process), fields(process));
    write_file(folder / text, {1, 2, 3});
    return folder / text;
  }
  /// Returns the identity of a process that had the number of this process before.
  static ProcessIdentity earlier_process() {
    ProcessIdentity process = own_identity();
    process.start -= 1;
    return process;
  }
  std::vector<Leftover> found() const { return find_leftovers(folder.path().string()); }

  const TemporaryFolder folder;
  const std::string in = folder / "in.mkv", out = folder / "out.mkv";
};

TEST_F(Leftovers, NameIdentifiesTheProcess) {
  const auto name = parse_temporary_name(temporary_name("a.lull-b.mkv", 3, 12345));
  ASSERT_TRUE(name);
  EXPECT_EQ(name->output, "a.lull-b.mkv");
  EXPECT_EQ(name->process, own_identity());
  EXPECT_EQ(name->process.number, ::getpid());
  EXPECT_GT(name->process.start, 0u);
  EXPECT_EQ(state_of(name->process), ProcessState::running);
  EXPECT_LE(temporary_name(std::string(255, 'x'), 1 << 30, UINT32_MAX).size(), 255u);
  for (const char* other :
       {"out.mkv", ".out.mkv.lull-.tmp", ".out.mkv.lull-1-2.tmp", ".lull-1-2-3.tmp",
        ".out.mkv.lull-a-b-1-x-1-1-1.tmp", ".out.mkv.lull-1-2-3.tm"})
    EXPECT_FALSE(parse_temporary_name(other)) << other;
}

// Some file systems refuse names with a part of a character.
TEST(LongNames, AreCutBetweenCharacters) {
  for (const std::string character : {"\u00e9", "\u3042", "\U0001F600"}) {
    for (std::size_t ascii = 0; ascii < character.size(); ++ascii) {
      std::string name(ascii, 'a');
      while (name.size() + character.size() + 4 <= 255) name += character;
      const std::string cut = parse_temporary_name(temporary_name(name + ".mkv", 0, 7))->output;
      EXPECT_TRUE(name.starts_with(cut));
      EXPECT_GT(cut.size() + character.size(), max_output_bytes);
      EXPECT_EQ((cut.size() - ascii) % character.size(), 0u) << cut;
      const std::string stem = fs::path(partial_name(name + ".mkv")).stem().stem().string();
      EXPECT_TRUE(name.starts_with(stem));
      EXPECT_EQ((stem.size() - ascii) % character.size(), 0u) << stem;
    }
  }
  EXPECT_EQ(cut_name(std::string(9, '\x80'), 5).size(), 5u) << "is not UTF-8";
}

TEST_F(Leftovers, OfAKilledProcessIsRemovedByTheNextRun) {
  Writer writer(out);
  writer.kill(true);
  ASSERT_THAT(found(), SizeIs(1));
  EXPECT_EQ(found()[0].state, Leftover::State::abandoned);
  EXPECT_EQ(found()[0].output, "out.mkv");
  transcode(in, out);
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "out.mkv"));
}

TEST_F(Leftovers, FoldersOfKilledProcessesAreRemovedByTheNextRunOfTheirOutput) {
  const std::string store = folder / "out.zarr";
  for (const ProcessIdentity& process : {earlier_process(), own_identity()}) {
    const std::string left = leave("out.zarr", process);
    fs::remove(left);
    fs::create_directories(left + "/0");
    write_file(left + "/0/0.0", {1, 2, 3, 4});
  }
  ASSERT_THAT(found(), SizeIs(2));
  EXPECT_EQ(found()[0].bytes, 4);
  {
    const OutputFolder output(store, {});
    EXPECT_THAT(found(), SizeIs(2));  // the folder of this process and the new folder
    for (const Leftover& leftover : found()) EXPECT_FALSE(remove_leftover(leftover));
  }
  ASSERT_THAT(found(), SizeIs(1));
  EXPECT_EQ(found()[0].state, Leftover::State::in_use);
}

// In a container, often no process collects the exit code of a killed process, which then remains
// as a zombie.
TEST_F(Leftovers, OfAZombieIsRemoved) {
  Writer writer(out);
  writer.kill(false);
  transcode(in, out);
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "out.mkv"));
}

TEST_F(Leftovers, OfARunningProcessIsKept) {
  const Writer writer(out);
  transcode(in, out);
  EXPECT_EQ(count_frames(out), 10);
  ASSERT_THAT(found(), SizeIs(1));
  EXPECT_EQ(found()[0].state, Leftover::State::in_use);
  EXPECT_FALSE(remove_leftover(found()[0]));
}

TEST_F(Leftovers, OfAReusedProcessNumberIsRemoved) {
  leave("out.mkv", earlier_process());
  transcode(in, out);
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "out.mkv"));
}

TEST_F(Leftovers, OfAnEarlierStartOfTheHostIsRemoved) {
  ProcessIdentity process = own_identity();
  process.boot = "00000000";
  leave("out.mkv", process);
  transcode(in, out);
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv", "out.mkv"));
}

TEST_F(Leftovers, OfOtherHostsContainersAndVersionsAreKept) {
  ProcessIdentity host = earlier_process(), container = earlier_process();
  host.host = "00000000";
  container.name_space += 1;
  leave("out.mkv", host);
  leave("out.mkv", container);
  write_file(folder / ".out.mkv.lull-1-0-5.tmp", {1});
  transcode(in, out);
  ASSERT_THAT(found(), SizeIs(3));
  for (const Leftover& leftover : found()) {
    EXPECT_EQ(leftover.state, Leftover::State::unknown);
    EXPECT_FALSE(remove_leftover(leftover));
  }
}

TEST_F(Leftovers, OfOtherOutputsAreKept) {
  const std::string other = leave("other.mkv", earlier_process());
  transcode(in, out);
  EXPECT_TRUE(fs::exists(other));
}

// Two hosts that were copied from one image have equal identities. Only locks distinguish their
// processes.
TEST_F(Leftovers, LockedFileIsKept) {
  const std::string path = leave("out.mkv", earlier_process());
  const int file = ::open(path.c_str(), O_RDWR);
  ASSERT_EQ(::flock(file, LOCK_EX), 0);
  transcode(in, out);
  ASSERT_THAT(found(), SizeIs(1));
  EXPECT_FALSE(remove_leftover(found()[0]));
  EXPECT_EQ(errno, EBUSY);
  ::close(file);
  EXPECT_TRUE(remove_leftover(found()[0]));
}

TEST_F(Leftovers, LinksAreKept) {
  const std::string path = leave("out.mkv", earlier_process());
  fs::remove(path);
  fs::create_symlink(in, path);
  transcode(in, out);
  EXPECT_TRUE(fs::is_symlink(path));
  EXPECT_EQ(count_frames(in), 10);
}

TEST_F(Leftovers, AbandonedFoldersAreRemovedWithTheirFiles) {
  const std::string path = leave("out", earlier_process());
  fs::remove(path);
  fs::create_directory(path);
  write_file(path + "/a", {1, 2, 3});
  write_file(path + "/b", {4, 5});
  ASSERT_THAT(found(), SizeIs(1));
  EXPECT_EQ(found()[0].bytes, 5);
  const int locked = ::open(path.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(locked, LOCK_EX), 0);
  EXPECT_FALSE(remove_leftover(found()[0]));
  EXPECT_EQ(errno, EBUSY);
  EXPECT_TRUE(fs::exists(path + "/b"));
  ::close(locked);
  EXPECT_TRUE(remove_leftover(found()[0]));
  EXPECT_THAT(folder.files(), ElementsAre("in.mkv"));
}

TEST_F(Leftovers, FoldersOfRunningProcessesAndTargetsOfLinksAreKept) {
  const std::string path = leave("out", earlier_process()), own = leave("out", own_identity());
  for (const std::string& each : {path, own}) {
    fs::remove(each);
    fs::create_directories(each + "/folder");
    write_file(each + "/folder/a", {1});
    fs::create_symlink(in, each + "/folder/link");
  }
  remove_leftovers(folder.path().string(), [](const std::string&) { return true; });
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(own + "/folder/a"));
  EXPECT_EQ(count_frames(in), 10);
}

TEST_F(Leftovers, OfPicturesOfASequenceAreRemoved) {
  leave("out.0003.png", earlier_process());
  const std::string other = leave("other.0003.png", earlier_process());
  const Writer writer(folder / "out.0004.png");
  transcode(in, folder / "out.%04d.png");
  EXPECT_THAT(found(), SizeIs(2));
  EXPECT_TRUE(fs::exists(other));
}

TEST_F(Leftovers, FolderThatCannotBeReadIsAnError) {
  EXPECT_THROW((void)find_leftovers(folder / "missing"), NoInput);
}

}  // namespace
}  // namespace lull::io::test
