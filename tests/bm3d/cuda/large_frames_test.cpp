// Tests frames that are many gigabytes apart in device memory: sessions at 8K, and kernels on
// frames whose distance exceeds 32 bits. Each test needs a GPU with that amount of free memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "bm3d/bm3d.h"
#include "bm3d/cuda/filter/kernels.h"
#include "bm3d/kaiser.h"
#include "support/device.h"
#include "support/gpu.h"
#include "support/pictures.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

using namespace lull::test_support;

constexpr std::size_t gigabyte = std::size_t{1} << 30;

class CudaLargeFrames : public GpuTest {
 protected:
  /// Returns true if the test can run. A test calls it first and returns if it is false.
  static bool has_memory(std::size_t gigabytes) {
    std::size_t free = 0, total = 0;
    cuda::check(cudaMemGetInfo(&free, &total));
    return free >= gigabytes * gigabyte;
  }
};
#define SKIP_WITHOUT_MEMORY(gigabytes) \
  if (!has_memory(gigabytes)) GTEST_SKIP() << "no GPU with " #gigabytes " GiB of free memory"

// ---- sessions ----

constexpr FrameFormat full_hd{.width = 1920, .height = 1080};
constexpr int tiles = 4;  // along each axis of an 8K frame
constexpr float sigma = 20;

/// Returns a grey frame that repeats the tile along both axes.
Frame repeated(const Frame& tile) {
  FrameFormat format = tile.format;
  format.width *= tiles, format.height *= tiles;
  Frame frame = make_frame(format);
  for (int y = 0; y < format.height; ++y)
    for (int i = 0; i < tiles; ++i)
      std::memcpy(frame.planes[0].row(y) + i * tile.format.width,
                  tile.planes[0].row(y % tile.format.height),
                  static_cast<std::size_t>(tile.format.width));
  frame.pts = tile.pts;
  return frame;
}

/// PSNR against a picture that is repeated along both axes.
double psnr_of(const Frame& frame, PlaneView<const float> tile) {
  const auto samples = frame.plane<const std::uint8_t>(0);
  double sum = 0;
  for (int y = 0; y < samples.height; ++y)
    for (int x = 0; x < samples.width; ++x) {
      const double d = samples(x, y) - static_cast<double>(tile(x % tile.width, y % tile.height));
      sum += d * d;
    }
  return 10 * std::log10(255.0 * 255 * samples.width * samples.height / sum);
}

/// Returns frames with the same picture. Their noise repeats after `distinct` frames, which is more
/// than a temporal window contains.
std::vector<Frame> noisy_frames(PlaneView<const float> clean, int count, int distinct) {
  std::vector<Frame> frames;
  for (int n = 0; n < count; ++n) {
    if (n >= distinct) {
      frames.push_back(frames[n - distinct]);
    } else {
      frames.push_back(make_frame(full_hd));
      store_plane(with_noise(clean, sigma, n + 1).view(), frames.back(), 0);
    }
    frames.back().pts = n;
  }
  return frames;
}

/// The clip has more frames than a session has slots, so some neighbouring frames are at both ends
/// of device memory.
void expect_same_quality_at_8k(const Params& params) {
  const Plane<float> clean = texture_picture(full_hd.width, full_hd.height);
  const int slots = margin(params).after + 1, count = slots + 3;
  const int distinct = 2 * params.temporal + 1;
  const std::vector<Frame> small = noisy_frames(clean.view(), count, distinct);
  std::vector<Frame> large;
  for (int n = 0; n < count; ++n) {
    large.push_back(n < distinct ? repeated(small[n]) : large[n - distinct]);
    large.back().pts = n;
  }
  const auto run = [&](const std::vector<Frame>& frames) {
    return run_clip(*open(params, frames[0].format, {.kind = BackendKind::cuda}), frames);
  };
  const std::vector<Frame> expected = run(small), result = run(large);
  ASSERT_EQ(result.size(), small.size());
  for (const int n : {0, slots / 2, slots - 1, slots, count - 1})
    EXPECT_NEAR(psnr_of(result[n], clean.view()), psnr_of(expected[n], clean.view()), 0.05)
        << "frame " << n;
}

TEST_F(CudaLargeFrames, Filters8KStillsOverTimeLikeSmallOnes) {
  SKIP_WITHOUT_MEMORY(24);
  expect_same_quality_at_8k(make_params(Profile::balanced, {sigma, 0, 0}, 4));
}

// The Walsh-Hadamard transform has no kernels with sums in shared memory.
TEST_F(CudaLargeFrames, SumsInDeviceMemoryAt8K) {
  SKIP_WITHOUT_MEMORY(16);
  Params params = make_params(Profile::balanced, {sigma, 0, 0}, 2);
  params.hard.group_transform = params.wiener.group_transform = GroupTransform::wht;
  expect_same_quality_at_8k(params);
}

// ---- kernels ----

constexpr int width = 64, height = 48, step = 4, group = 8;

/// Two frames of planes and sums that are `distance` samples apart.
class TwoFrames {
 public:
  TwoFrames(const Margins& margins, std::ptrdiff_t distance)
      : size_(margins.size()),
        distance_(static_cast<std::size_t>(distance)),
        noisy_(distance_ + size_),
        basic_(distance_ + size_),
        numerators_(distance_ + size_),
        denominators_(distance_ + size_) {
    for (const int t : {0, 1}) {
      const Plane<float> clean = texture_picture(width, height, 0.1 * t);
      put(clean.view(), margins, basic_.get() + t * distance_);
      put(with_noise(clean.view(), sigma, t + 1).view(), margins, noisy_.get() + t * distance_);
      cuda::check(cudaMemset(numerators_.get() + t * distance_, 0, size_ * sizeof(Numerator)));
      cuda::check(cudaMemset(denominators_.get() + t * distance_, 0, size_ * sizeof(Denominator)));
    }
  }
  const float* noisy() const { return noisy_.get(); }
  const float* basic() const { return basic_.get(); }
  Sums sums() const { return {numerators_.get(), denominators_.get()}; }
  /// Returns the sums of both frames: for each frame first all numerators, then all weights.
  std::vector<unsigned long long> added() const {
    std::vector<unsigned long long> all;
    for (const int t : {0, 1}) {
      std::vector<Numerator> numerators(size_);
      std::vector<Denominator> denominators(size_);
      get(numerators_.get() + t * distance_, numerators);
      get(denominators_.get() + t * distance_, denominators);
      all.insert(all.end(), numerators.begin(), numerators.end());
      all.insert(all.end(), denominators.begin(), denominators.end());
    }
    return all;
  }

 private:
  using Numerator = unsigned long long;
  using Denominator = std::uint32_t;

  void put(PlaneView<const float> plane, const Margins& margins, float* to) const {
    std::vector<float> values(size_, 0);
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x) values[margins.at(x, y)] = plane(x, y);
    cuda::check(cudaMemcpy(to, values.data(), size_ * sizeof(float), cudaMemcpyHostToDevice));
  }
  template <class T>
  static void get(const T* from, std::vector<T>& to) {
    cuda::check(cudaMemcpy(to.data(), from, to.size() * sizeof(T), cudaMemcpyDeviceToHost));
  }

  std::size_t size_, distance_;
  cuda::DeviceBuffer<float> noisy_, basic_;
  cuda::DeviceBuffer<Numerator> numerators_;
  cuda::DeviceBuffer<Denominator> denominators_;
};

/// Returns `count` members for each of `references` patches. The first member is the patch itself.
/// The others lie within four samples of it in either frame, inside the picture.
template <class Place>
std::vector<std::uint32_t> random_members(int references, int count, Place x, Place y) {
  constexpr int radius = 4;
  std::mt19937 rng{3};
  std::vector<std::uint32_t> members;
  for (int r = 0; r < references; ++r)
    for (int m = 0; m < count; ++m) {
      const auto along = [&](int at, int length) {
        std::uniform_int_distribution<int> any(std::max(-radius, -at),
                                               std::min(radius, length - patch - at));
        return any(rng);
      };
      const int dx = along(x(r), width), dy = along(y(r), height);
      members.push_back(m == 0 ? 0 : pack_displacement(dx, dy, m % 2));
    }
  return members;
}

constexpr std::ptrdiff_t far_apart = (std::ptrdiff_t{1} << 31) + (1 << 20);

std::vector<unsigned long long> filtered(std::ptrdiff_t distance, Phase which,
                                         GroupTransform across) {
  const PhaseParams phase{
      .window = 15, .group = group, .step = step, .group_transform = across, .temporal_window = 9};
  FilterArgs args;
  args.margins = Margins(width, height, phase.window, 40);
  const TwoFrames frames(args.margins, distance);
  args.noisy[0] = frames.noisy();
  args.basic[0] = frames.basic();
  args.sums[0] = frames.sums();
  args.sigma[0] = sigma;
  args.grid = ReferenceGrid(width, height, step);
  args.batch = {0, 0, reference_tiles_of(args.grid.count_x), reference_tiles_of(args.grid.count_y)};
  args.window = kaiser_window(2);
  args.frames.over_time = true;
  args.frames.grid = {width, height, step};
  for (const int t : {0, 1}) {
    args.frames.present[t] = true;
    args.frames.distance[t] = t * distance;
  }
  const int references = args.batch.tiles_x * args.batch.tiles_y * references_per_tile;
  const auto index = [&](int reference, bool along_x) {
    const int reference_tile = reference / references_per_tile, r = reference % references_per_tile;
    return along_x
               ? reference_tile % args.batch.tiles_x * reference_tile_side + r % reference_tile_side
               : reference_tile / args.batch.tiles_x * reference_tile_side +
                     r / reference_tile_side;
  };
  const auto place = [&](bool along_x) {
    return [&args, index, along_x](int reference) {
      const int i = index(reference, along_x);
      return along_x ? args.grid.x(i) : args.grid.y(i);
    };
  };
  const int capacity = group_capacity(phase.matching());
  const auto displacements =
      on_device(random_members(references, capacity, place(true), place(false)));
  // base-2 logarithm of the group size
  const auto counts = on_device(std::vector<std::uint8_t>(references, 3));
  args.groups = {displacements.get(), counts.get(), capacity};
  (which == Phase::first ? filter_hard : filter_wiener)(args, phase, {0.5f, 1}, nullptr,
                                                        cuda::device_limits(), {});
  cuda::check(cudaDeviceSynchronize());
  return frames.added();
}

TEST_F(CudaLargeFrames, FiltersFramesBeyond32BitOffsets) {
  SKIP_WITHOUT_MEMORY(48);
  for (const Phase which : {Phase::first, Phase::second})
    for (const auto across : {GroupTransform::haar, GroupTransform::wht}) {
      const auto near = filtered(1 << 20, which, across);
      EXPECT_GT(std::ranges::count_if(near, [](auto sum) { return sum != 0; }), width * height);
      EXPECT_EQ(filtered(far_apart, which, across), near)
          << static_cast<int>(which) << static_cast<int>(across);
    }
}

}  // namespace
}  // namespace lull::bm3d
