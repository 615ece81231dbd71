// Tests small text files: only regular files of a bounded size are read, and a file never appears
// half written.

#include "io/text_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(const std::string& path) {
  const std::vector<std::uint8_t> bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

class TextFiles : public testing::Test {
 protected:
  /// Returns the kind and the message of the error that reading a file throws.
  std::string error_of(const std::string& path, std::size_t most_bytes = 100) {
    try {
      (void)read_text(path, most_bytes);
    } catch (const NoInput& error) {
      return std::string("NoInput: ") + error.what();
    } catch (const BadData& error) {
      return std::string("BadData: ") + error.what();
    }
    return "none";
  }
  TemporaryFolder folder;
};

TEST_F(TextFiles, ReadsTextsUpToTheLimit) {
  for (const int bytes : {0, 1, 99, 100}) {
    const std::string text(static_cast<std::size_t>(bytes), 'x');
    write_text(folder / "a", text, {.overwrite = true});
    EXPECT_EQ(read_text(folder / "a", 100), text);
    EXPECT_EQ(read_text_if_exists(folder / "a", 100), text);
  }
  write_text(folder / "a", std::string(101, 'x'), {.overwrite = true});
  EXPECT_THAT(error_of(folder / "a"), HasSubstr("BadData"));
  EXPECT_THROW((void)read_text_if_exists(folder / "a", 100), BadData);
  EXPECT_THAT(error_of(folder / "none"), HasSubstr("NoInput"));
  EXPECT_EQ(read_text_if_exists(folder / "none", 100), std::nullopt);
  EXPECT_EQ(read_text_if_exists(folder / "a/none", 100), std::nullopt);
  // The kernel does not state the size of this file.
  EXPECT_THAT(read_text("/proc/self/status", 1 << 20), HasSubstr("\nUmask:"));
}

// The test must not read the file, which would take minutes and all memory.
TEST_F(TextFiles, RejectsHugeFilesWithoutReadingThem) {
  std::ofstream(folder / "sparse") << "x";
  fs::resize_file(folder / "sparse", std::uintmax_t{1} << 40);
  EXPECT_THAT(error_of(folder / "sparse"), HasSubstr("is too large"));
}

// Opening a pipe that has no writer would block for ever, and a device has no end.
TEST_F(TextFiles, RejectsPipesDevicesAndFolders) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", folder / "device");
  fs::create_directory(folder / "folder");
  fs::create_symlink(folder / "pipe", folder / "link");
  EXPECT_THAT(error_of(folder / "pipe"), HasSubstr("NoInput: cannot read '"));
  EXPECT_THAT(error_of(folder / "pipe"), HasSubstr("(it is a pipe)"));
  EXPECT_THAT(error_of(folder / "link"), HasSubstr("(it is a pipe)"));
  EXPECT_THAT(error_of(folder / "device"), HasSubstr("(it is a device)"));
  EXPECT_THAT(error_of(folder / "folder"), HasSubstr("(it is a folder)"));
  EXPECT_THROW((void)read_text_if_exists(folder / "pipe", 100), NoInput);
}

TEST_F(TextFiles, FollowsOrReplacesLinksAsAsked) {
  write_text(folder / "victim", "precious", {});
  fs::create_symlink(folder / "victim", folder / "link");
  EXPECT_THROW(write_text(folder / "link", "a", {}), CannotCreate);
  EXPECT_THROW(write_text(folder / "link", "a", {.follow_links = false}), CannotCreate);
  EXPECT_EQ(text_of(folder / "victim"), "precious");
  write_text(folder / "link", "b", {.overwrite = true, .follow_links = false});
  EXPECT_FALSE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(text_of(folder / "link"), "b");
  EXPECT_EQ(text_of(folder / "victim"), "precious");
  fs::create_symlink(folder / "victim", folder / "other");
  write_text(folder / "other", "c", {.overwrite = true});
  EXPECT_TRUE(fs::is_symlink(folder / "other"));
  EXPECT_EQ(text_of(folder / "victim"), "c");
  // Writing to a link whose target does not exist does not create the target.
  fs::create_symlink(folder / "new", folder / "dangling");
  EXPECT_THROW(write_text(folder / "dangling", "d", {.follow_links = false}), CannotCreate);
  EXPECT_FALSE(fs::exists(folder / "new"));
}

// The names of temporary files are unpredictable, so an attacker cannot place a link there in
// advance.
TEST_F(TextFiles, ReplacingLeavesNoTemporaryFile) {
  write_text(folder / "victim", "precious", {});
  const std::string guess = folder / ("m." + std::to_string(::getpid()) + ".tmp");
  fs::create_symlink(folder / "victim", guess);
  ASSERT_TRUE(replace_text(folder / "m", "one"));
  fs::permissions(folder / "m", fs::perms(0604));
  ASSERT_TRUE(replace_text(folder / "m", "two"));
  EXPECT_EQ(text_of(folder / "m"), "two");
  EXPECT_EQ(fs::status(folder / "m").permissions(), fs::perms(0604));
  EXPECT_EQ(text_of(folder / "victim"), "precious");
  fs::remove(guess);
  EXPECT_THAT(folder.files(), ElementsAre("m", "victim"));
  EXPECT_FALSE(replace_text(folder / "no/m", "x"));
  EXPECT_FALSE(replace_text("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  fs::create_symlink(folder / "m", folder / "link");
  ASSERT_TRUE(replace_text(folder / "link", "three"));
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(text_of(folder / "m"), "three");
}

TEST_F(TextFiles, TemporaryTextsAreReadableByTheOwnerOnly) {
  std::string first;
  {
    const TemporaryText one, two;
    one.write("a table");
    first = one.path();
    EXPECT_NE(one.path(), two.path());
    EXPECT_EQ(text_of(one.path()), "a table");
    EXPECT_EQ(fs::status(one.path()).permissions(), fs::perms(0600));
  }
  EXPECT_FALSE(fs::exists(first));
}

}  // namespace
}  // namespace lull::io::test
