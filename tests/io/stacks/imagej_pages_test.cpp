// Tests files of ImageJ and MetaMorph whose only directory describes several pages.

#include "io/stacks/imagej_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "core/error.h"
#include "io/media.h"
#include "io/support/clip.h"

namespace lull::io::test {
namespace {

constexpr int width = 6, height = 5, pages = 12;

void put(std::string& file, std::uint64_t value, int bytes, bool big) {
  for (int i = 0; i < bytes; ++i)
    file += static_cast<char>(value >> 8 * (big ? bytes - 1 - i : i) & 255);
}

enum class Program { imagej, metamorph };

/// Returns a file with 16-bit pages, whose samples count from 0, and 4 bytes after the pages.
std::string file_of(Program program, bool big, int compression = 1) {
  const bool is_imagej = program == Program::imagej;
  const std::string description =
      "ImageJ=1.53t\nimages=12\nchannels=2\nslices=3\nframes=2\nhyperstack=true\n";
  constexpr int text_at = 200, data_at = 600;
  std::string file = big ? "MM" : "II";
  put(file, 42, 2, big), put(file, 8, 4, big), put(file, 10, 2, big);
  const auto tag = [&](int number, int type, std::size_t count, std::size_t value) {
    put(file, number, 2, big), put(file, type, 2, big), put(file, count, 4, big);
    put(file, value, type == 3 ? 2 : 4, big);
    if (type == 3) put(file, 0, 2, big);
  };
  tag(256, 4, 1, width), tag(257, 4, 1, height), tag(258, 3, 1, 16), tag(259, 3, 1, compression);
  tag(262, 3, 1, 1);
  if (is_imagej) tag(270, 2, description.size() + 1, text_at);
  tag(273, 4, 1, data_at), tag(277, 3, 1, 1), tag(278, 4, 1, height);
  tag(279, 4, 1, 2 * width * height);
  // The tag UIC2 has six integers of 32 bits for each page, although the type is RATIONAL.
  if (!is_imagej) tag(33629, 5, pages, text_at);
  put(file, 0, 4, big);
  file.resize(text_at);
  if (is_imagej) file += description;
  file.resize(data_at, '\1');
  for (int i = 0; i < width * height * pages; ++i) put(file, i, 2, big);
  return file + "tail";
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ImagejPages, KeepAllBytesOfAFileThatIsNotFiltered) {
  const TemporaryFolder folder;
  const std::string in = folder / "in.tif", out = folder / "out.tif";
  for (const bool big : {false, true}) {
    std::ofstream(in, std::ios::binary) << file_of(Program::imagej, big);
    const auto source = open_source(in);
    EXPECT_EQ(source->info().frames_estimate, pages);
    EXPECT_EQ(source->info().channels, 2);
    const auto sink = open_sink(out, *source, {.overwrite = true, .strict_metadata = true});
    std::vector<double> values;
    for (int number = 0; auto frame = source->read(); ++number) {
      source->values_of(*frame, values);
      // The pages alternate between the two channels.
      const int page = number % 6 * 2 + number / 6;
      EXPECT_EQ(values.front(), page * width * height);
      sink->write(*std::move(frame));
    }
    sink->finish();
    EXPECT_EQ(bytes_of_file(out), file_of(Program::imagej, big));
  }
}

TEST(ImagejPages, AreAlsoReadFromStacksOfMetamorph) {
  const TemporaryFolder folder;
  const std::string in = folder / "in.stk", out = folder / "out.tif";
  for (const bool big : {false, true}) {
    std::ofstream(in, std::ios::binary) << file_of(Program::metamorph, big);
    const auto source = open_source(in);
    EXPECT_EQ(source->info().slices, pages);
    const auto sink = open_sink(out, *source, {.overwrite = true, .strict_metadata = true});
    std::vector<double> values;
    for (int page = 0; auto frame = source->read(); ++page) {
      source->values_of(*frame, values);
      EXPECT_EQ(values.front(), page * width * height);
      sink->write(*std::move(frame));
    }
    sink->finish();
    EXPECT_EQ(bytes_of_file(out), file_of(Program::metamorph, big));
  }
}

TEST(ImagejPages, RejectATruncatedFileAndCompressedSamples) {
  const TemporaryFolder folder;
  const std::string in = folder / "in.tif";
  const std::string whole = file_of(Program::imagej, true);
  std::ofstream(in, std::ios::binary) << whole.substr(0, whole.size() - 10);
  EXPECT_THROW((void)open_source(in), BadData);
  std::ofstream(in, std::ios::binary) << file_of(Program::imagej, true, 5);
  EXPECT_THROW((void)open_source(in), BadData);
}

}  // namespace
}  // namespace lull::io::test
