#include "cuda/staging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/frame_pool.h"
#include "cuda/handles.h"
#include "cuda/pinned_memory.h"
#include "cuda/raw_frame.h"
#include "support/gpu.h"

namespace lull::cuda {
namespace {

/// A plane in pageable memory with padding between its rows.
struct Picture {
  int width, height, stride;
  std::vector<std::byte> bytes;

  Picture(int w, int h, int gap, unsigned seed)
      : width(w), height(h), stride(w + gap), bytes(static_cast<std::size_t>(stride) * h) {
    std::uint32_t state = seed;
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>((state = state * 1664525 + 1) >> 24);
  }
  PlaneView<std::byte> view() { return {bytes.data(), width, height, stride}; }
};

void expect_rows(PlaneView<std::byte> actual, PlaneView<std::byte> expected) {
  for (int y = 0; y < expected.height; ++y)
    ASSERT_EQ(std::memcmp(actual.row(y), expected.row(y), expected.width), 0) << "row " << y;
}

/// A plane on the device with another stride than the host's.
struct OnDevice {
  explicit OnDevice(const Picture& picture)
      : pitch(picture.width + 13), memory(pitch * picture.height) {}
  std::size_t pitch;
  DeviceBuffer<std::byte> memory;
};

using StagingOnGpu = test_support::GpuTest;

// Sizes in samples: below the limit from which buffers are used, one piece, several pieces with a
// shorter last one, and more pieces than buffers, so that every buffer is reused.
constexpr std::array<std::pair<int, int>, 5> sizes{
    {{37, 11}, {1021, 521}, {7680, 1080}, {4099, 2503}, {5'000'003, 2}}};

TEST_F(StagingOnGpu, PlanesOfAllSizesSurviveRoundTrip) {
  const Stream stream = make_stream();
  Staging staging;
  for (const auto& [width, height] : sizes) {
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    Picture sent(width, height, 5, 1), back(width, height, 3, 2);
    const Picture before = back;
    const OnDevice device(sent);
    staging.upload(sent.view(), device.memory.get(), device.pitch, stream.get());
    staging.download(device.memory.get(), device.pitch, back.view(), stream.get());
    expect_rows(back.view(), sent.view());  // the download is complete without a synchronisation
    for (int y = 0; y + 1 < height; ++y)
      ASSERT_EQ(
          std::memcmp(back.view().row(y) + width, before.bytes.data() + y * back.stride + width, 3),
          0)
          << "what is between rows is not the plane's";
  }
}

TEST_F(StagingOnGpu, ConsecutivePlanesDoNotOverwriteEachOther) {
  const Stream stream = make_stream();
  Staging staging;
  constexpr int width = 1500, height = 1100;
  std::vector<Picture> sent;
  std::vector<OnDevice> devices;
  for (unsigned i = 0; i < 6; ++i) devices.emplace_back(sent.emplace_back(width, height, 0, i));
  for (int i = 0; i < 6; ++i) {
    Picture passing = sent[i];
    staging.upload(passing.view(), devices[i].memory.get(), devices[i].pitch, stream.get());
    std::ranges::fill(passing.bytes, std::byte{0xee});  // the upload no longer reads this memory
  }
  for (int i = 5; i >= 0; --i) {
    Picture back(width, height, 1, 99);
    staging.download(devices[i].memory.get(), devices[i].pitch, back.view(), stream.get());
    expect_rows(back.view(), sent[i].view());
  }
}

TEST_F(StagingOnGpu, PageLockedMemoryIsCopiedDirectly) {
  const Stream stream = make_stream();
  Staging staging;
  FramePool pool({.width = 1201, .height = 701}, pinned_memory());
  const Frame sent = pool.acquire(), back = pool.acquire();
  Picture picture(1201, 701, 0, 7);
  for (int y = 0; y < 701; ++y) std::memcpy(sent.planes[0].row(y), picture.view().row(y), 1201);
  const OnDevice device(picture);
  staging.upload(sent.planes[0], device.memory.get(), device.pitch, stream.get());
  staging.download(device.memory.get(), device.pitch, back.planes[0], stream.get());
  check(cudaStreamSynchronize(stream.get()));
  expect_rows(back.planes[0], picture.view());
}

TEST_F(StagingOnGpu, CanBeMovedWithCopiesInFlight) {
  const Stream stream = make_stream();
  Picture sent(3000, 2000, 0, 3), back(3000, 2000, 0, 4);
  const OnDevice device(sent);
  Staging first;
  first.upload(sent.view(), device.memory.get(), device.pitch, stream.get());
  Staging second = std::move(first);
  second.download(device.memory.get(), device.pitch, back.view(), stream.get());
  expect_rows(back.view(), sent.view());
}

TEST_F(StagingOnGpu, FramesInPageableMemoryAreUploadedCompletely) {
  const Stream stream = make_stream();
  const FrameFormat format{.width = 1601,
                           .height = 903,
                           .layout = Layout::yuv,
                           .sample = SampleType::f32,
                           .bits = 32,
                           .chroma_shift_x = 1,
                           .chroma_shift_y = 1};
  FramePool pool(format), results(format, pinned_memory());
  RawFrame raw(format, stream.get());
  for (unsigned seed = 0; seed < 3; ++seed) {
    const Frame frame = pool.acquire(), back = results.acquire();
    for (int i = 0; i < 3; ++i) {
      const Picture picture(frame.planes[i].width, frame.planes[i].height, 0, 3 * seed + 1);
      for (int y = 0; y < picture.height; ++y)
        std::memcpy(frame.planes[i].row(y), picture.bytes.data() + y * picture.stride,
                    picture.width);
    }
    raw.upload(frame, stream.get());
    for (int i = 0; i < 3; ++i) {
      const auto& to = back.planes[i];
      check(cudaMemcpy2DAsync(to.data, to.stride, raw.planes().data[i], raw.planes().pitch[i],
                              to.width, to.height, cudaMemcpyDeviceToHost, stream.get()));
    }
    check(cudaStreamSynchronize(stream.get()));
    for (int i = 0; i < 3; ++i) expect_rows(back.planes[i], frame.planes[i]);
  }
}

TEST(BytesOf, CountsBytes) {
  std::array<float, 30> samples{};
  const auto bytes = bytes_of(PlaneView<float>(samples.data(), 4, 5, 6));
  EXPECT_EQ(bytes.width, 16);
  EXPECT_EQ(bytes.height, 5);
  EXPECT_EQ(bytes.row(1), reinterpret_cast<std::byte*>(samples.data() + 6));
}

}  // namespace
}  // namespace lull::cuda
