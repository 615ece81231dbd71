// Weighted means of groups (bm3d/group_means.h). A row of a patch is one vector of 8 lanes, or two
// vectors of 4 lanes.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bm3d/cpu/means.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "bm3d/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::bm3d::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using MeansLanes = hn::CappedTag<float, patch>;
using MeansVector = hn::Vec<MeansLanes>;
inline constexpr int means_lanes = static_cast<int>(hn::MaxLanes(MeansLanes()));
inline constexpr int means_parts = patch / means_lanes;
inline constexpr int means_vectors = patch * means_parts;

/// Returns the offset of vector `v` of a patch from the top-left sample of the patch.
HWY_INLINE std::ptrdiff_t place_of(int v, std::ptrdiff_t stride) {
  return v / means_parts * stride + v % means_parts * means_lanes;
}

/// The members of a group, with their positions and weights.
struct Members {
  int x[max_group], y[max_group], t[max_group];
  float weight[max_group];
  int count;

  Members(int x0, int y0, const Group& group) : count(group.count) {
    for (int m = 0; m < count; ++m) {
      const std::uint32_t member = group.members[m];
      x[m] = x0 + displacement_x(member);
      y[m] = y0 + displacement_y(member);
      t[m] = displacement_t(member);
      weight[m] = 0;
    }
  }
  const float* samples(const PlaneTile& plane, int m) const {
    const FrameTile& frame = plane.frame[t[m]];
    return frame.noisy + y[m] * frame.noisy_stride + x[m];
  }
  std::ptrdiff_t stride(const PlaneTile& plane, int m) const {
    return plane.frame[t[m]].noisy_stride;
  }
};

/// Adds the contribution of one plane to the distance of each member from the first member. The
/// contribution is the sum of squared differences. Members::weight contains the distances until the
/// kernel replaces them by weights.
HWY_INLINE void add_distances(const PlaneTile& plane, float scale, Members& members) {
  const MeansLanes d;
  const std::ptrdiff_t own_stride = members.stride(plane, 0);
  MeansVector own[means_vectors];
  const float* const first = members.samples(plane, 0);
  for (int v = 0; v < means_vectors; ++v) own[v] = hn::LoadU(d, first + place_of(v, own_stride));
  for (int m = 1; m < members.count; ++m) {
    const float* const at = members.samples(plane, m);
    const std::ptrdiff_t stride = members.stride(plane, m);
    MeansVector sum = hn::Zero(d);
    for (int v = 0; v < means_vectors; ++v) {
      const MeansVector difference = hn::Sub(hn::LoadU(d, at + place_of(v, stride)), own[v]);
      sum = hn::MulAdd(difference, difference, sum);
    }
    members.weight[m] += scale * hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

/// Computes the mean of the patches of a plane, multiplied by the aggregation window.
HWY_INLINE void mean_of_plane(const PlaneTile& plane, const Members& members, float sum_of_weights,
                              const float* window, float* mean) {
  const MeansLanes d;
  const std::ptrdiff_t own_stride = members.stride(plane, 0);
  const float* const first = members.samples(plane, 0);
  MeansVector sum[means_vectors];
  for (int v = 0; v < means_vectors; ++v) sum[v] = hn::Zero(d);
  for (int m = 1; m < members.count; ++m) {
    if (members.weight[m] == 0) continue;
    const float* const at = members.samples(plane, m);
    const std::ptrdiff_t stride = members.stride(plane, m);
    const MeansVector weight = hn::Set(d, members.weight[m]);
    for (int v = 0; v < means_vectors; ++v) {
      const MeansVector own = hn::LoadU(d, first + place_of(v, own_stride));
      const MeansVector other = hn::LoadU(d, at + place_of(v, stride));
      sum[v] = hn::MulAdd(weight, hn::Sub(other, own), sum[v]);
    }
  }
  const MeansVector share = hn::Set(d, 1 / sum_of_weights);
  for (int v = 0; v < means_vectors; ++v) {
    const MeansVector value =
        hn::MulAdd(share, sum[v], hn::LoadU(d, first + place_of(v, own_stride)));
    hn::Store(hn::Mul(value, hn::Load(d, window + v * means_lanes)), d, mean + v * means_lanes);
  }
}

/// Adds the mean patch to the tile at the position of each member.
HWY_INLINE void add_mean(const PlaneTile& plane, const Members& members, const float* mean) {
  const MeansLanes d;
  for (int m = 0; m < members.count; ++m) {
    if (members.weight[m] == 0) continue;
    const FrameTile& tile = plane.frame[members.t[m]];
    const std::ptrdiff_t origin = members.y[m] * tile.stride + members.x[m];
    const MeansVector weight = hn::Set(d, members.weight[m]);
    tile.weights[origin] += members.weight[m];
    for (int v = 0; v < means_vectors; ++v) {
      float* const at = tile.numerator + origin + place_of(v, tile.stride);
      hn::StoreU(hn::MulAdd(weight, hn::Load(d, mean + v * means_lanes), hn::LoadU(d, at)), d, at);
    }
  }
}

}  // namespace

void average_group(const MeansTables& tables, std::span<const PlaneTile> planes, int x, int y,
                   const Group& group) {
  Members members(x, y, group);
  for (std::size_t p = 0; p < planes.size(); ++p)
    add_distances(planes[p], tables.scale[p], members);
  float sum = 0;
  for (int m = 0; m < members.count; ++m)
    sum += members.weight[m] = tables.curve(members.weight[m]);
  alignas(64) float mean[patch * patch];
  for (const PlaneTile& plane : planes) {
    mean_of_plane(plane, members, sum, tables.window.data(), mean);
    add_mean(plane, members, mean);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::bm3d::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::bm3d::cpu {
HWY_EXPORT(average_group);
void average_group(const MeansTables& tables, std::span<const PlaneTile> planes, int x, int y,
                   const Group& group) {
  HWY_DYNAMIC_DISPATCH(average_group)(tables, planes, x, y, group);
}
}  // namespace lull::bm3d::cpu
#endif
