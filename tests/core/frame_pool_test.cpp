#include "core/frame_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory_resource>

namespace lull {
namespace {

TEST(FramePool, LaysOutOddSubsampledPlanes) {
  FramePool pool({.width = 5,
                  .height = 3,
                  .layout = Layout::yuv,
                  .sample = SampleType::u16,
                  .bits = 10,
                  .chroma_shift_x = 1,
                  .chroma_shift_y = 1});
  const Frame frame = pool.acquire();
  EXPECT_EQ(frame.planes[0].width, 10);
  EXPECT_EQ(frame.planes[1].width, 6);
  EXPECT_EQ(frame.planes[2].height, 2);
  const auto cr = frame.plane<std::uint16_t>(2);
  EXPECT_EQ(cr.width, 3);
  for (int i = 0; i < 3; ++i)  // every row must be writable; ASan checks this
    for (int y = 0; y < frame.planes[i].height; ++y)
      std::memset(frame.planes[i].row(y), 0xff, frame.planes[i].width);
}

TEST(FramePool, ReusesBuffers) {
  FramePool pool({.width = 64, .height = 64});
  Frame first = pool.acquire();
  const std::byte* buffer = first.pixels.get();
  const Frame copy = first;
  first = {};
  EXPECT_NE(pool.acquire().pixels.get(), buffer) << "a copy still refers to the buffer";
  const_cast<Frame&>(copy) = {};
  EXPECT_EQ(pool.acquire().pixels.get(), buffer);
}

TEST(FramePool, ReservesBuffers) {
  struct Counting final : std::pmr::memory_resource {
    int allocations = 0;
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
      ++allocations;
      return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
      std::pmr::new_delete_resource()->deallocate(p, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
      return this == &other;
    }
  } memory;
  FramePool pool({.width = 20, .height = 10}, &memory);
  pool.reserve(3);
  EXPECT_EQ(memory.allocations, 3);
  const Frame a = pool.acquire(), b = pool.acquire(), c = pool.acquire();
  EXPECT_EQ(memory.allocations, 3);
  const Frame d = pool.acquire();
  EXPECT_EQ(memory.allocations, 4);
}

TEST(FramePool, FramesOutliveThePool) {
  Frame frame;
  {
    FramePool pool({.width = 9, .height = 9});
    frame = pool.acquire();
  }
  std::memset(frame.planes[0].row(8), 1, 9);
  EXPECT_EQ(frame.planes[0](8, 8), std::byte{1});
}

}  // namespace
}  // namespace lull
