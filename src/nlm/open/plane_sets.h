#pragma once
// Which planes of a frame share their weights, and where distances are taken.

#include <vector>

#include "core/frame.h"
#include "nlm/params.h"

namespace lull::nlm {

/// Planes of one size.
struct PlaneSet {
  std::vector<int> planes;  // whose samples are averaged
  std::vector<int> guides;  // that distances are taken in: the first of the planes
};

/// RGB jointly. Of YUV whose planes have one size all have luma's weights. Chroma of another size,
/// or beside luma that passes through, has its own, from both planes together. Planes without noise
/// are in no set.
[[nodiscard]] inline std::vector<PlaneSet> plane_sets(const FrameFormat& format,
                                                      const NoiseModel& noise) {
  std::vector<int> luma, chroma;
  for (int i = 0; i < format.planes(); ++i)
    if (noise.sigma(i) > 0) (i == 0 ? luma : chroma).push_back(i);
  std::vector<int> all = luma;
  all.insert(all.end(), chroma.begin(), chroma.end());
  if (all.empty()) return {};
  if (format.layout == Layout::rgb) return {{all, all}};
  if (luma.empty()) return {{chroma, chroma}};
  if (!format.subsampled()) return {{all, luma}};
  std::vector<PlaneSet> sets{{luma, luma}};
  if (!chroma.empty()) sets.push_back({chroma, chroma});
  return sets;
}

}  // namespace lull::nlm
