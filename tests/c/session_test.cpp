// Sessions of the C interface: the same bytes as sessions in C++, from and to memory of any layout.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <thread>

#include "c/c99.h"
#include "c/support.h"
#include "choose/choose.h"

namespace lull {
namespace {

using namespace lull::test_support;

constexpr int width = 40, height = 36;
const FrameFormat grey{.width = width, .height = height};

/// Filters frames with a session in C++.
std::vector<Frame> denoised_in_cpp(const std::vector<Frame>& noisy, const SessionChoice& choice) {
  const auto session = open_chosen(choice, noisy.front().format).denoiser;
  std::vector<Frame> results;
  const auto add = [&](std::optional<Frame> result) {
    if (result) results.push_back(*std::move(result));
    return result.has_value();
  };
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    Frame frame = noisy[i];
    frame.pts = static_cast<std::int64_t>(i);
    frame.time_base = {1, 25};
    frame.slice = choice.method == "bm4d" ? static_cast<int>(i) : -1;
    if (!add(session->push(frame))) continue;
    while (add(session->next())) {
    }
  }
  while (add(session->drain())) {
  }
  return results;
}

SessionChoice cpu_choice(const char* method = "bm3d", const char* profile = "fast") {
  return {.method = method, .profile = profile, .device = "cpu", .noise = NoiseModel({15, 15, 15})};
}

TEST(C99Program, DenoisesAPictureToTheBytesOfTheCppSession) {
  const Frame noisy = noisy_frame(grey);
  for (const auto& [method, profile] : {std::pair{"bm3d", "fast"}, {"nlm", "balanced"}}) {
    const Frame expected = denoised_in_cpp({noisy}, cpu_choice(method, profile)).front();
    const Frame clean = make_frame(grey);
    ASSERT_EQ(noisy.planes[0].stride, width);
    ASSERT_EQ(c99_denoise_picture(reinterpret_cast<const unsigned char*>(noisy.planes[0].data),
                                  reinterpret_cast<unsigned char*>(clean.planes[0].data), width,
                                  height, method, profile, "15"),
              LULL_OK)
        << lull_last_error();
    EXPECT_TRUE(same_samples(clean, expected)) << method;
    EXPECT_FALSE(same_samples(clean, noisy)) << method;
  }
}

TEST(C99Program, DenoisesAVolumeToTheBytesOfTheCppSession) {
  constexpr int slices = 9;
  const FrameFormat format{
      .width = 20, .height = 18, .sample = SampleType::f32, .bits = 32, .white = 255};
  std::vector<Frame> noisy;
  std::vector<float> samples, clean(std::size_t{20} * 18 * slices);
  for (unsigned i = 0; i < slices; ++i) {
    const Frame& slice = noisy.emplace_back(noisy_frame(format, i + 1));
    for (int y = 0; y < 18; ++y)
      samples.insert(samples.end(), slice.plane<float>(0).row(y),
                     slice.plane<float>(0).row(y) + 20);
  }
  ASSERT_EQ(c99_denoise_volume(samples.data(), clean.data(), 20, 18, slices, "15"), LULL_OK)
      << lull_last_error();
  const std::vector<Frame> expected = denoised_in_cpp(noisy, cpu_choice("bm4d", "balanced"));
  ASSERT_EQ(expected.size(), std::size_t{slices});
  const float* at = clean.data();
  for (const Frame& slice : expected)
    for (int y = 0; y < 18; ++y, at += 20)
      ASSERT_TRUE(std::equal(at, at + 20, slice.plane<float>(0).row(y)));
}

TEST(CSession, EveryLayoutAndSampleTypeGivesTheBytesOfTheCppSession) {
  const FrameFormat formats[] = {{.width = width, .height = height, .layout = Layout::rgb},
                                 {.width = width,
                                  .height = height,
                                  .layout = Layout::yuv,
                                  .chroma_shift_x = 1,
                                  .chroma_shift_y = 1},
                                 {.width = 37, .height = 21, .sample = SampleType::u16, .bits = 10},
                                 {.width = width,
                                  .height = height,
                                  .layout = Layout::rgb,
                                  .sample = SampleType::f32,
                                  .bits = 32}};
  for (const FrameFormat& format : formats) {
    const Frame noisy = noisy_frame(format);
    lull_format given =
        c_format(format.width, format.height, static_cast<std::int32_t>(format.layout),
                 static_cast<std::int32_t>(format.sample));
    given.bits = format.bits;
    given.shift_x = format.chroma_shift_x;
    given.shift_y = format.chroma_shift_y;
    const Session session = open_c_session(given, {{"profile", "fast"}, {"sigma", "15"}});
    ASSERT_TRUE(session);
    EXPECT_TRUE(same_samples(denoised_in_c(noisy, session),
                             denoised_in_cpp({noisy}, cpu_choice()).front()));
  }
}

TEST(CSession, AClipGivesItsResultsInOrderWithTheirTags) {
  std::vector<Frame> noisy;
  for (unsigned i = 0; i < 5; ++i) noisy.push_back(noisy_frame(grey, i + 1));
  SessionChoice choice = cpu_choice();
  choice.temporal = 1;
  const std::vector<Frame> expected = denoised_in_cpp(noisy, choice);
  const Session session = open_c_session(c_format(width, height, LULL_GREY, LULL_U8, LULL_CLIP),
                                         {{"profile", "fast"}, {"sigma", "15"}, {"temporal", "1"}});
  for (int clip = 0; clip < 2; ++clip) {  // the second time with the same session
    std::size_t finished = 0;
    const Frame clean = make_frame(grey);
    lull_frame to = c_frame(clean);
    const auto check = [&] {
      ASSERT_LT(finished, expected.size());
      EXPECT_EQ(to.tag, static_cast<std::int64_t>(1000 + finished));
      EXPECT_TRUE(same_samples(clean, expected[finished])) << finished;
      ++finished;
    };
    for (std::size_t i = 0; i < noisy.size(); ++i) {
      lull_frame from = c_frame(noisy[i]);
      from.tag = static_cast<std::int64_t>(1000 + i);
      ASSERT_EQ(lull_push(session.get(), &from), LULL_OK);
      while (lull_next(session.get(), &to) == LULL_OK) check();
    }
    EXPECT_LT(finished, noisy.size()) << "a session over time has a latency";
    while (lull_drain(session.get(), &to) == LULL_OK) check();
    EXPECT_EQ(finished, noisy.size());
    lull_session_info info{};
    info.size = sizeof(info);
    ASSERT_EQ(lull_session_get(session.get(), &info), LULL_OK);
    EXPECT_EQ(info.pushed, 5u);
    EXPECT_EQ(info.finished, 5u);
    EXPECT_GT(info.latency, 0);
    EXPECT_STREQ(info.device, "cpu");
    EXPECT_EQ(info.is_volume, 0);
  }
}

TEST(CSession, StridesOfPackedPaddedAndBottomUpPicturesAreFollowed) {
  const FrameFormat format{.width = width, .height = height, .layout = Layout::rgb};
  const Frame noisy = noisy_frame(format);
  const Session session =
      open_c_session(c_format(width, height, LULL_RGB), {{"profile", "fast"}, {"sigma", "15"}});
  const Frame expected = denoised_in_c(noisy, session);
  // Packed BGRX, bottom up, with a padding of 7 bytes after each row.
  constexpr int row = 4 * width + 7;
  std::vector<std::uint8_t> packed(std::size_t{row} * height, 99);
  lull_frame frame{};
  frame.size = sizeof(frame);
  for (int i = 0; i < 3; ++i)
    frame.planes[i] = {packed.data() + std::ptrdiff_t{row} * (height - 1) + 2 - i, -row, 4};
  const auto sample = [&](int i, int x, int y) -> std::uint8_t& {
    return static_cast<std::uint8_t*>(frame.planes[i].data)[std::ptrdiff_t{-row} * y + 4 * x];
  };
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) sample(i, x, y) = noisy.plane<std::uint8_t>(i)(x, y);
  ASSERT_EQ(lull_push(session.get(), &frame), LULL_OK) << lull_last_error();
  ASSERT_EQ(lull_drain(session.get(), &frame), LULL_OK) << "the result may replace its frame";
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        ASSERT_EQ(sample(i, x, y), expected.plane<std::uint8_t>(i)(x, y));
  EXPECT_EQ(packed[3], 99) << "bytes between the samples are not written";
  EXPECT_EQ(packed[4 * width], 99) << "nor those between the rows";
}

TEST(CSession, ReleasesEachFrameOnceWhetherItIsSharedCopiedOrRefused) {
  const Session session = open_c_session(c_format(width, height, LULL_GREY, LULL_U8, LULL_CLIP),
                                         {{"sigma", "15"}, {"temporal", "1"}, {"profile", "fast"}});
  const Frame noisy = noisy_frame(grey);
  std::array<int, 3> released{};
  const auto release = [](void* count) { ++*static_cast<int*>(count); };
  lull_frame frame = c_frame(noisy);
  frame.release = release;
  frame.user = &released[0];
  ASSERT_EQ(lull_push(session.get(), &frame), LULL_OK);
  EXPECT_EQ(released[0], 0) << "the session reads the samples in place";
  std::vector<std::uint8_t> sparse(std::size_t{2} * width * height, 100);
  frame.planes[0] = {sparse.data(), 2 * width, 2};
  frame.user = &released[1];
  ASSERT_EQ(lull_push(session.get(), &frame), LULL_OK);
  EXPECT_EQ(released[1], 1) << "such samples are copied at once";
  frame.planes[0].data = nullptr;
  frame.user = &released[2];
  EXPECT_EQ(lull_push(session.get(), &frame), LULL_INVALID_ARGUMENT);
  EXPECT_EQ(released[2], 1);
  EXPECT_EQ(lull_push(nullptr, &frame), LULL_INVALID_ARGUMENT);
  EXPECT_EQ(released[2], 2);
  const Frame clean = make_frame(grey);
  lull_frame to = c_frame(clean);
  while (lull_drain(session.get(), &to) == LULL_OK) {
  }
  EXPECT_EQ(released, (std::array{1, 1, 2}));
}

TEST(CSession, ClosingReleasesFramesInFlight) {
  Session session = open_c_session(c_format(width, height, LULL_GREY, LULL_U8, LULL_CLIP),
                                   {{"sigma", "15"}, {"temporal", "2"}, {"profile", "fast"}});
  const Frame noisy = noisy_frame(grey);
  int released = 0;
  lull_frame frame = c_frame(noisy);
  frame.release = [](void* count) { ++*static_cast<int*>(count); };
  frame.user = &released;
  ASSERT_EQ(lull_push(session.get(), &frame), LULL_OK);
  session.reset();
  EXPECT_EQ(released, 1);
}

/// A memfd with the samples of a grey frame after `offset` bytes.
class MemoryFile {
 public:
  MemoryFile(std::size_t offset, const Frame& frame)
      : offset_(offset), fd_(memfd_create("frame", MFD_CLOEXEC)) {
    std::vector<char> bytes(offset + std::size_t{width} * height);
    for (int y = 0; y < height; ++y)
      std::copy_n(reinterpret_cast<const char*>(frame.planes[0].row(y)), width,
                  bytes.data() + offset + std::size_t{width} * y);
    EXPECT_EQ(::write(fd_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  ~MemoryFile() { ::close(fd_); }
  lull_frame frame() const {
    lull_frame frame{};
    frame.size = sizeof(frame);
    frame.memory = LULL_DMA_BUF;
    frame.fd = fd_;
    frame.planes[0] = {reinterpret_cast<void*>(offset_), width, 0};
    return frame;
  }
  std::vector<char> samples() const {
    std::vector<char> bytes(std::size_t{width} * height);
    EXPECT_EQ(::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset_)),
              static_cast<ssize_t>(bytes.size()));
    return bytes;
  }

 private:
  std::size_t offset_;
  int fd_;
};

TEST(CSession, FramesBehindDescriptorsAreReadAndWritten) {
  const Frame noisy = noisy_frame(grey);
  const Session session =
      open_c_session(c_format(width, height), {{"profile", "fast"}, {"sigma", "15"}});
  const Frame expected = denoised_in_c(noisy, session);
  for (const bool shares : {false, true}) {
    const MemoryFile in(128, noisy), out(64, noisy);
    lull_frame from = in.frame(), to = out.frame();
    int released = 0;
    from.user = &released;
    if (shares) from.release = [](void* count) { ++*static_cast<int*>(count); };
    ASSERT_EQ(lull_push(session.get(), &from), LULL_OK) << lull_last_error();
    ASSERT_EQ(lull_drain(session.get(), &to), LULL_OK) << lull_last_error();
    ASSERT_EQ(lull_drain(session.get(), &to), LULL_NONE);
    EXPECT_EQ(released, shares ? 1 : 0);
    const std::vector<char> samples = out.samples();
    for (int y = 0; y < height; ++y)
      ASSERT_TRUE(std::equal(expected.plane<char>(0).row(y), expected.plane<char>(0).row(y) + width,
                             samples.data() + std::size_t{width} * y));
  }
}

TEST(CSession, DescriptorsThatAreTooSmallOrNoMemoryAreRefused) {
  const Frame noisy = noisy_frame(grey);
  const Session session = open_c_session(c_format(width, height), {{"sigma", "15"}});
  const MemoryFile file(0, noisy);
  lull_frame frame = file.frame();
  frame.planes[0].data = reinterpret_cast<void*>(1);
  EXPECT_EQ(lull_push(session.get(), &frame), LULL_INVALID_ARGUMENT) << "one byte too few";
  frame.planes[0] = {nullptr, -width, 0};
  EXPECT_EQ(lull_push(session.get(), &frame), LULL_INVALID_ARGUMENT) << "before the memory";
  frame = file.frame();
  frame.fd = -1;
  EXPECT_EQ(lull_push(session.get(), &frame), LULL_INVALID_ARGUMENT);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  frame.fd = ends[0];
  EXPECT_EQ(lull_push(session.get(), &frame), LULL_INVALID_ARGUMENT);
  ::close(ends[0]);
  ::close(ends[1]);
  const Session other = open_c_session(c_format(width, height), {{"sigma", "15"}});
  EXPECT_TRUE(same_samples(denoised_in_c(noisy, session), denoised_in_c(noisy, other)))
      << "the session goes on";
}

TEST(CSession, ResultsHaveTheRequestedBitDepth) {
  const Session session = open_c_session(c_format(width, height),
                                         {{"sigma", "15"}, {"profile", "fast"}, {"bits", "10"}});
  lull_format format{};
  format.size = sizeof(format);
  ASSERT_EQ(lull_session_format(session.get(), &format), LULL_OK);
  EXPECT_EQ(format.sample, LULL_U16);
  EXPECT_EQ(format.bits, 10);
  const Frame noisy = noisy_frame(grey);
  const lull_frame from = c_frame(noisy);
  const Frame clean =
      make_frame({.width = width, .height = height, .sample = SampleType::u16, .bits = 10});
  lull_frame to = c_frame(clean);
  ASSERT_EQ(lull_push(session.get(), &from), LULL_OK);
  ASSERT_EQ(lull_drain(session.get(), &to), LULL_OK) << lull_last_error();
  const PlaneView<std::uint16_t> plane = clean.plane<std::uint16_t>(0);
  int greatest = 0;
  for (int y = 0; y < height; ++y)
    greatest = std::max<int>(greatest, *std::max_element(plane.row(y), plane.row(y) + width));
  EXPECT_GT(greatest, 255);
  EXPECT_LT(greatest, 1024);
}

TEST(CSession, SessionsOfSeveralThreadsGiveTheSameBytes) {
  const Frame noisy = noisy_frame(grey);
  const Settings settings{{"profile", "fast"}, {"sigma", "15"}, {"threads", "1"}};
  const Frame expected = denoised_in_c(noisy, open_c_session(c_format(width, height), settings));
  std::array<bool, 4> same{};
  std::vector<std::thread> threads;
  for (bool& one : same)
    threads.emplace_back([&] {
      const Session session = open_c_session(c_format(width, height), settings);
      one = same_samples(denoised_in_c(noisy, session), expected);
      EXPECT_EQ(lull_push(session.get(), nullptr), LULL_INVALID_ARGUMENT);
      EXPECT_STRNE(lull_last_error(), "");
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(std::ranges::all_of(same, [](bool one) { return one; }));
}

TEST(CSession, PushesOfSeveralThreadsGiveOneResultEach) {
  const Session session =
      open_c_session(c_format(width, height), {{"profile", "fast"}, {"sigma", "15"}});
  const Frame noisy = noisy_frame(grey);
  constexpr int count = 4, each = 3;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < each; ++k) {
        lull_frame frame = c_frame(noisy);
        frame.tag = i * each + k;
        EXPECT_EQ(lull_push(session.get(), &frame), LULL_OK);
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::vector<std::int64_t> tags;
  const Frame clean = make_frame(grey);
  lull_frame to = c_frame(clean);
  while (lull_drain(session.get(), &to) == LULL_OK) tags.push_back(to.tag);
  std::ranges::sort(tags);
  std::vector<std::int64_t> expected(count * each);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(tags, expected);
}

}  // namespace
}  // namespace lull
