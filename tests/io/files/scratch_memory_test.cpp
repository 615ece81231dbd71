#include "io/files/scratch_memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "core/error.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

TEST(ScratchMemory, IsZeroAndCanBeWritten) {
  constexpr std::size_t bytes = (std::size_t{1} << 20) + 7;
  for (const bool file : {false, true}) {
    const auto memory = file ? scratch_memory(bytes, {}) : main_memory(bytes);
    EXPECT_EQ(memory[0], std::byte{0});
    EXPECT_EQ(memory[bytes - 1], std::byte{0});
    memory[bytes - 1] = std::byte{5};
    memory[4096] = std::byte{6};
    EXPECT_EQ(memory[bytes - 1], std::byte{5});
    EXPECT_EQ(memory[4096], std::byte{6});
  }
}

TEST(ScratchMemory, FileHasNoName) {
  const fs::path folder = fs::temp_directory_path() / "lull-scratch-memory-test";
  fs::create_directories(folder);
  {
    const auto memory = scratch_memory(100'000, folder.string());
    EXPECT_TRUE(fs::is_empty(folder));
    memory[99'999] = std::byte{1};
  }
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove(folder);
}

TEST(ScratchMemory, FailuresAreErrors) {
  EXPECT_THROW((void)scratch_memory(10, "/no/such/folder"), IoError);
  EXPECT_THROW((void)main_memory(std::size_t{1} << 60), OutOfMemory);
}

}  // namespace
}  // namespace lull::io
