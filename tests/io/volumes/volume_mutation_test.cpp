// Tests that volumes with hostile headers are read, or refused with one line, in every way in which
// a number of the header can be wrong.

#include <gtest/gtest.h>

#include <cstring>

#include "core/error.h"
#include "io/media.h"
#include "io/support/clip.h"
#include "io/support/volumes.h"

namespace lull::io::test {
namespace {

constexpr int samples = 24;  // 4 x 3 x 2

class VolumeMutations : public testing::Test {
 protected:
  /// Reads a volume completely and writes it in another format. Errors must have one line.
  void read_and_write(const std::string& path, const std::string& what) {
    static constexpr const char* outputs[] = {"out.nii", "out.nrrd", "out.mgz", "out.hdr"};
    const std::string to = folder / outputs[count_++ % std::size(outputs)];
    try {
      const auto source = open_source(path, {.limits = {.memory = 1 << 26}});
      const auto sink = open_sink(to, *source, {.overwrite = true});
      while (auto frame = source->read()) sink->write(*std::move(frame));
      ++accepted_;
    } catch (const InternalError& error) {
      ADD_FAILURE() << what << ": " << error.what();
    } catch (const Error& error) {
      EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << what;
      EXPECT_LT(std::strlen(error.what()), 400u) << what;
      ++refused_;
    }
  }
  /// Replaces numbers of a header by hostile values.
  void change_numbers(const std::string& path, const File& whole, std::size_t head_bytes,
                      bool big) {
    constexpr std::uint32_t hostile[] = {0,          0xffffffff, 0x7fffffff, 0x80000000,
                                         0x7f800000, 0x7fc00000, 0x0000ffff};
    for (std::size_t at = 0; at + 4 <= head_bytes; at += at < 124 ? 2 : 12)
      for (const std::uint32_t value : hostile) {
        File file = whole;
        put(file, at, value, big);
        write_file(path, file);
        read_and_write(path, std::to_string(value) + " at " + std::to_string(at));
      }
    EXPECT_GT(accepted_, 100);
    EXPECT_GT(refused_, 20);
  }
  void truncate(const std::string& path, const File& whole) {
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += bytes < 400 ? 1 : 7) {
      write_file(path, File(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)));
      EXPECT_THROW((void)open_source(path, {}), Error) << bytes;
    }
  }

  TemporaryFolder folder;
  int accepted_ = 0, refused_ = 0;
  std::size_t count_ = 0;
};

File hostile_mgh() {
  File file(284);
  const std::int32_t integers[] = {1, 4, 3, 2, 1, 4, 0};
  for (int i = 0; i < 7; ++i) put(file, 4 * i, integers[i], true);
  put(file, 28, std::int16_t{1}, true);
  const float reals[] = {2, 3, 4, -1, 0, 0, 0, 0, -1, 0, 1, 0, 10, 20, 30};
  for (int i = 0; i < 15; ++i) put(file, 30 + 4 * i, reals[i], true);
  for (int i = 0; i < samples; ++i) put(file, file.size(), static_cast<std::int16_t>(50 * i), true);
  return file;
}

TEST_F(VolumeMutations, OfMghAreReadOrRefused) {
  const std::string path = folder / "a.mgh";
  change_numbers(path, hostile_mgh(), 96, true);
  truncate(path, hostile_mgh());
}

TEST_F(VolumeMutations, OfPairsAreReadOrRefused) {
  const std::string path = folder / "a.hdr";
  for (const char* magic : {"ni1", ""}) {
    File head(348), data;
    put(head, 0, std::int32_t{348}, false);
    const std::int16_t dim[] = {3, 4, 3, 2, 1};
    for (int i = 0; i < 5; ++i) put(head, 40 + 2 * i, dim[i], false);
    put(head, 70, std::int16_t{4}, false);
    put(head, 72, std::int16_t{16}, false);
    for (int i = 0; i < 5; ++i) put(head, 76 + 4 * i, 1.0f, false);
    std::copy_n(magic, std::strlen(magic), head.begin() + 344);
    for (int i = 0; i < samples; ++i)
      put(data, data.size(), static_cast<std::int16_t>(50 * i), false);
    write_file(folder / "a.img", data);
    change_numbers(path, head, 348, false);
    write_file(path, head);
    truncate(folder / "a.img", data);
  }
}

TEST_F(VolumeMutations, OfNrrdAreReadOrRefused) {
  const std::string path = folder / "a.nrrd";
  const std::string head =
      "NRRD0005\n# a comment\ntype: short\ndimension: 3\nspace: left-posterior-superior\n"
      "sizes: 4 3 2\nspace directions: (2,0,0) (0,3,0) (0,0.25,4)\nkinds: domain domain domain\n"
      "spacings: 1 1 1\nunits: \"mm\" \"mm\" \"mm\"\nendian: little\nencoding: raw\n"
      "byte skip: 0\nspace origin: (1,-2,5)\nkey:=value\n\n";
  File data;
  for (int i = 0; i < samples; ++i)
    put(data, data.size(), static_cast<std::int16_t>(50 * i), false);
  const auto with_data = [&](const std::string& text) {
    File file(text.begin(), text.end());
    file.insert(file.end(), data.begin(), data.end());
    return file;
  };
  const std::string hostile[] = {
      "",     "0",      "-1",         "1",         "nan",
      "inf",  "1e400",  "1e-300",     "32768",     "99999999999999999999",
      "none", "(1,1)",  "(0,0,0)",    "(nan,1,1)", "\"",
      "gzip", "double", "%d LIST",    "unsigned",  std::string(5000, 'x'),
      ":",    "(",      "2147483647", "\xff\xfe",  "scanner-xyz"};
  constexpr const char* separators = " \n";
  for (std::size_t at = head.find_first_not_of(separators, 9); at != head.npos;) {
    const std::size_t end = std::min(head.find_first_of(separators, at), head.size());
    for (const std::string& value : hostile) {
      write_file(path, with_data(head.substr(0, at) + value + head.substr(end)));
      read_and_write(path, "'" + value + "' at " + std::to_string(at));
    }
    at = head.find_first_not_of(separators, end);
  }
  EXPECT_GT(accepted_, 100);
  EXPECT_GT(refused_, 100);
  truncate(path, with_data(head));
}

TEST_F(VolumeMutations, WithSizesBeyondTheFileNeedNoMemory) {
  // The samples would need terabytes. The reader notices that they are missing.
  const std::string path = folder / "a.nrrd";
  const std::string head =
      "NRRD0004\ntype: double\ndimension: 4\nsizes: 16000 16000 32767 32767\n"
      "endian: little\nencoding: raw\n\n";
  write_file(path, File(head.begin(), head.end()));
  EXPECT_THROW((void)open_source(path, {}), BadData);
  EXPECT_THROW((void)open_source(path, {.axis = Axis::x}), Error);
  EXPECT_THROW((void)open_source(path, {.limits = {.memory = 1 << 20}}), OutOfMemory);
}

}  // namespace
}  // namespace lull::io::test
