// Tests that names that refer to the same file are recognised, whether the file exists or not.

#include "io/file_names.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "io/support/clip.h"

namespace lull::io::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

bool is_one_file(const FileLocation& a, const FileLocation& b) {
  if (a.inode != 0 || b.inode != 0) return a.device == b.device && a.inode == b.inode;
  return a.folder_device == b.folder_device && a.folder_inode == b.folder_inode && a.name == b.name;
}

class FileIdentity : public testing::Test {
 protected:
  void SetUp() override {
    write_file(folder / "a", {1});
    fs::create_directory(folder / "sub");
    fs::create_directory_symlink(folder / "sub", folder / "way");
  }
  bool same(const std::string& a, const std::string& b) const {
    const auto first = location_of(folder / a), second = location_of(folder / b);
    return first && second && is_one_file(*first, *second);
  }
  TemporaryFolder folder;
};

TEST_F(FileIdentity, NamesOfOneFileAreTheSame) {
  fs::create_symlink(folder / "a", folder / "soft");
  fs::create_hard_link(folder / "a", folder / "hard");
  fs::create_symlink(folder / "sub/new", folder / "dangling");
  EXPECT_TRUE(same("a", "soft"));
  EXPECT_TRUE(same("a", "hard"));
  EXPECT_TRUE(same("a", "sub/../a"));
  EXPECT_TRUE(same("sub/new", "way/new"));  // neither exists
  EXPECT_TRUE(same("sub/new", "dangling"));
  EXPECT_FALSE(same("a", "b"));
  EXPECT_FALSE(same("new", "sub/new"));
}

TEST_F(FileIdentity, PipesFoldersAndDevicesHaveNoIdentity) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(location_of(folder / "pipe"));
  EXPECT_FALSE(location_of(folder / "sub"));
  EXPECT_FALSE(location_of(std::string("/dev/null")));
  EXPECT_FALSE(location_of(folder / "none/a"));
  const int descriptor = ::open((folder / "a").c_str(), O_RDONLY);
  ASSERT_TRUE(location_of(descriptor));
  EXPECT_TRUE(is_one_file(*location_of(descriptor), *location_of(folder / "a")));
  ::close(descriptor);
}

TEST_F(FileIdentity, InputPatternsAreExpanded) {
  for (const char* name : {"p1.png", "p2.png", "p10.png"}) write_file(folder / name, {1});
  EXPECT_THAT(files_of_input(folder / "a"), ElementsAre(folder / "a"));
  EXPECT_THAT(files_of_input(folder / "p%d.png"),
              ElementsAre(folder / "p1.png", folder / "p2.png", folder / "p10.png"));
  EXPECT_THAT(files_of_input(folder / "p?.png"), ElementsAre(folder / "p1.png", folder / "p2.png"));
  for (const std::string name : {"-", "https://host/p%d.png", "none", "q%d.png", "x%d%d.png"})
    EXPECT_THAT(files_of_input(name), IsEmpty()) << name;
}

TEST_F(FileIdentity, OutputPatternsFollowInputNames) {
  for (const char* name : {"p1.png", "p2.png"}) write_file(folder / name, {1});
  const OutputFiles numbered = files_of_output(folder / "q%02d.png", folder / "p%d.png");
  EXPECT_THAT(numbered.names,
              UnorderedElementsAre(folder / "q%02d.png", folder / "q01.png", folder / "q02.png"));
  EXPECT_EQ(numbered.pattern, "");
  EXPECT_THAT(files_of_output(folder / "q*.png", folder / "p*.png").names,
              UnorderedElementsAre(folder / "q*.png", folder / "q1.png", folder / "q2.png"));
  // A video may produce any number of pictures.
  const OutputFiles unknown = files_of_output(folder / "p%d.png", folder / "a");
  EXPECT_THAT(unknown.names,
              UnorderedElementsAre(folder / "p%d.png", folder / "p1.png", folder / "p2.png"));
  EXPECT_EQ(unknown.pattern, folder / "p%d.png");
  for (const std::string name : {"-", "null", "hash"})
    EXPECT_THAT(files_of_output(name, folder / "a").names, IsEmpty());
  EXPECT_TRUE(may_produce(folder / "q%02d.png", *location_of(folder / "q07.png")));
  EXPECT_TRUE(may_produce(folder / "way/q%02d.png", *location_of(folder / "sub/q1234.png")));
  EXPECT_FALSE(may_produce(folder / "q%02d.png", *location_of(folder / "q7.png")));
  EXPECT_FALSE(may_produce(folder / "q%02d.png", *location_of(folder / "sub/q07.png")));
  EXPECT_FALSE(may_produce(folder / "q%02d.png", *location_of(folder / "q07.jpg")));
}

TEST_F(FileIdentity, JobFilesAreItsRecordsAndSegments) {
  for (const char* name : {"sub/plan", "sub/000000.lullseg", "sub/mine.txt"})
    write_file(folder / name, {1});
  EXPECT_THAT(files_of_job(folder / "sub"),
              UnorderedElementsAre(folder / "sub/plan", folder / "sub/000000.lullseg"));
  EXPECT_THAT(files_of_job(folder / "none"), IsEmpty());
  for (const char* name : {"plan", "result", "manifest", "lock", "000007.lullseg"})
    EXPECT_TRUE(
        is_file_of_job(folder / "way", *location_of(folder / "sub" + ("/" + std::string(name)))));
  EXPECT_FALSE(is_file_of_job(folder / "sub", *location_of(folder / "sub/mine.txt")));
  EXPECT_FALSE(is_file_of_job(folder / "sub", *location_of(folder / "plan")));
}

}  // namespace
}  // namespace lull::io::test
