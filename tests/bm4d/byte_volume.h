#pragma once
// A guide in GPU memory, and the groups that kernels must find in it.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bm4d/cuda/kernels.h"
#include "bm4d/reference/stages.h"
#include "bm4d/volumes.h"
#include "support/device.h"

namespace lull::bm4d::test_support {

/// The bytes of a volume in a ring buffer; the volume does not begin at the first slot of the ring.
class ByteVolume {
 public:
  static constexpr int base = 5;  // the first slice

  ByteVolume(const Size& size, const std::function<int(int, int, int)>& value)
      : margins_(size.width, size.height, 15, 8), depth_(size.slices + 1), size_(size) {
    std::vector<std::uint8_t> bytes(depth_ * margins_.size());
    for (int z = base; z < end(); ++z)
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          bytes[z % depth_ * margins_.size() + margins_.at(x, y)] =
              static_cast<std::uint8_t>(value(x, y, z - base));
    host_ = bytes;
    samples_ = lull::test_support::on_device(bytes);
    norms_ = lull::test_support::on_device(std::vector<std::int32_t>(bytes.size(), 0x3f3f3f3f));
  }

  int end() const { return base + size_.slices; }
  const Margins& margins() const { return margins_; }
  int at(int x, int y, int z) const {
    return host_[z % depth_ * margins_.size() + margins_.at(x, y)];
  }
  cuda::Guide guide(int cube) {
    const cuda::Guide guide{{samples_.get(), margins_.size(), depth_},
                            {norms_.get(), margins_.size(), depth_}};
    cuda::make_half_norms(guide, {base, end() - cube + 1}, margins_, cube, nullptr);
    return guide;
  }

 private:
  Margins margins_;
  int depth_;
  Size size_;
  std::vector<std::uint8_t> host_;
  lull::cuda::DeviceBuffer<std::uint8_t> samples_;
  lull::cuda::DeviceBuffer<std::int32_t> norms_;
};

/// Returns all displacements of a window except that of the reference cube itself.
inline std::vector<std::uint32_t> all_displacements(int r) {
  std::vector<std::uint32_t> all;
  for (int dz = -r; dz <= r; ++dz)
    for (int dy = -r; dy <= r; ++dy)
      for (int dx = -r; dx <= r; ++dx)
        if ((dx | dy | dz) != 0) all.push_back(pack_offset(dx, dy, dz));
  return all;
}

/// Returns the nearest cubes among some candidates, ordered by score, then by position in the
/// window.
inline std::vector<std::uint32_t> expected_group(const ByteVolume& volume,
                                                 const reference::Place& at, const PhaseParams& p,
                                                 std::span<const std::uint32_t> candidates) {
  const auto half_norm_and_product = [&](int x, int y, int z) {
    int norm = 0, product = 0;
    for (int c = 0; c < p.cube; ++c)
      for (int b = 0; b < p.cube; ++b)
        for (int a = 0; a < p.cube; ++a) {
          const int v = volume.at(x + a, y + b, z + c);
          norm += v * v, product += v * volume.at(at.x + a, at.y + b, at.z + c);
        }
    return std::pair{norm / 2, product};
  };
  const int own = half_norm_and_product(at.x, at.y, at.z).first;
  std::vector<std::tuple<int, int, std::uint32_t>> found;
  for (const std::uint32_t to : candidates) {
    const int dx = offset_x(to), dy = offset_y(to), dz = offset_z(to);
    const int x = at.x + dx, y = at.y + dy, z = at.z + dz;
    if (x < 0 || y < 0 || z < ByteVolume::base || x + p.cube > volume.margins().width ||
        y + p.cube > volume.margins().height || z + p.cube > volume.end())
      continue;
    const auto [norm, product] = half_norm_and_product(x, y, z);
    const int distance = std::max(0, own + norm - product);
    if (distance < cuda::best_score)
      found.emplace_back(distance, (dz * max_window + dy) * max_window + dx, to);
  }
  std::ranges::sort(found);
  const auto most = std::min<std::size_t>(found.size() + 1, p.group);
  std::vector<std::uint32_t> group{0};
  for (std::size_t m = 1; m < std::bit_floor(most); ++m) group.push_back(std::get<2>(found[m - 1]));
  group[0] = static_cast<std::uint32_t>(group.size()) << 24;
  group.resize(p.group);
  return group;
}

}  // namespace lull::bm4d::test_support
