// Linear combinations of the patches of one group (params.h), in single precision. The kernel pads
// each group with zero patches to a multiple of the vector size.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "linear/cpu/combine.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "linear/cpu/kernels.h"
#include "linear/cpu/matrices-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lull::linear::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Sizes of the group that the kernel processes.
struct GroupSize {
  int members, padded;  // k, and k rounded up to complete vectors
  int samples, row;     // n, and n rounded up to complete vectors
  int side;
};

HWY_INLINE float sum_of(hn::Vec<D> v) {
  const D d;
  return hn::GetLane(hn::SumOfLanes(d, v));
}

/// Pointers to the patches of a group in the estimate x, the noisy picture y, or the partly
/// denoised picture z (params.h). at[half * max_group + m] points to the patch of member m in the
/// first (`half` = 0) or second frame (`half` = 1).
struct Patches {
  std::array<const float*, 2 * max_group> at;
  std::ptrdiff_t stride = 0;
};

/// Returns pointers to the patches of `group`. `picture` selects a picture of each frame: the
/// estimate x, the noisy picture y, or the partly denoised picture z (params.h).
Patches patches_of(const GroupPlaces& group, std::span<const FrameStep> frames,
                   Picture FrameStep::*picture) {
  Patches patches;
  patches.stride = (frames[0].*picture).stride;
  const auto locate = [&](std::span<const Place> places, const float** to) {
    for (std::size_t m = 0; m < places.size(); ++m)
      to[m] = (frames[places[m].frame].*picture).origin +
              (group.top + places[m].y) * patches.stride + group.left + places[m].x;
  };
  locate(group.first, patches.at.data());
  locate(group.second, patches.at.data() + max_group);
  return patches;
}

/// Calls use(m, s, from) for each row of each patch. A row has GroupSize::side samples. m is the
/// index of the member, s is the index of the row's first sample in the member, and `from` points
/// to this sample.
template <class Use>
HWY_INLINE void for_rows(const Patches& patches, const GroupSize& size, const Use& use) {
  const int area = size.side * size.side;
  for (int m = 0; m < size.members; ++m)
    for (int half = 0; half * area < size.samples; ++half) {
      const float* from = patches.at[half * max_group + m];
      for (int s = half * area; s < (half + 1) * area; s += size.side, from += patches.stride)
        use(m, s, from);
    }
}

/// Loads each patch into one row of the matrix `rows`, and pads the matrix with zeros.
void load_rows(const Patches& patches, const GroupSize& size, float* rows) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for_rows(patches, size, [&](int m, int s, const float* from) HWY_ATTR {
    float* const to = rows + m * size.row + s;
    for (int c = 0; c < size.side; c += lanes)  // the next row overwrites surplus samples
      hn::StoreU(hn::LoadU(d, from + c), d, to + c);
    if (s + size.side == size.samples) std::fill(to + size.side, to + size.row - s, 0.0f);
  });
  std::fill(rows + size.members * size.row, rows + size.padded * size.row, 0.0f);
}

/// Transposes rows to columns.
void transpose(const GroupSize& size, const float* rows, float* columns) {
  const D d;
  const hn::RebindToSigned<D> i32;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto indices = hn::Mul(hn::Iota(i32, 0), hn::Set(i32, size.row));
  for (int s = 0; s < size.samples; ++s, columns += size.padded)
    for (int m = 0; m < size.padded; m += lanes)
      hn::Store(hn::GatherIndex(d, rows + m * size.row + s, indices), d, columns + m);
}

/// Subtracts the mean patch (the mean of all rows) from each row, and writes the mean patch to
/// `mean`.
void centre_rows(const GroupSize& size, float* rows, float* mean) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto share = hn::Set(d, 1.0f / static_cast<float>(size.members));
  for (int s = 0; s < size.row; s += lanes) {
    auto sum = hn::Zero(d);
    for (int m = 0; m < size.members; ++m) sum = hn::Add(sum, hn::Load(d, rows + m * size.row + s));
    sum = hn::Mul(sum, share);
    hn::Store(sum, d, mean + s);
    for (int m = 0; m < size.members; ++m) {
      float* const at = rows + m * size.row + s;
      hn::Store(hn::Sub(hn::Load(d, at), sum), d, at);
    }
  }
}

/// Returns the standard deviation of Y - Z, for the noisy patches Y (`y`) and the partly denoised
/// patches Z (`z`).
float deviation(const Patches& y, const GroupSize& size, const float* z) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  auto sum = hn::Zero(d), squares = hn::Zero(d);
  for_rows(y, size, [&](int m, int s, const float* from) HWY_ATTR {
    for (int c = 0; c < size.side; c += lanes) {
      const auto difference = hn::IfThenElseZero(
          first_lanes(size.side - c),
          hn::Sub(hn::LoadU(d, from + c), hn::LoadU(d, z + m * size.row + s + c)));
      sum = hn::Add(sum, difference);
      squares = hn::MulAdd(difference, difference, squares);
    }
  });
  const float share = 1.0f / static_cast<float>(size.members * size.samples);
  const float mean = sum_of(sum) * share;
  return std::sqrt(std::max(sum_of(squares) * share - mean * mean, 0.0f));
}

/// Computes the noise covariance matrix C of the members of a group. `variance` is the noise
/// variance, summed over the samples of a patch in one frame.
void shared_noise(const GroupPlaces& group, const PlaneNoise& noise, float variance,
                  const GroupSize& size, float* to) {
  std::fill_n(to, size.padded * size.padded, 0.0f);
  const Autocorrelation& correlation = *noise.correlation;
  for (const auto& places : {group.first, group.second})
    for (std::size_t i = 0; i < places.size(); ++i)
      for (std::size_t j = 0; j < places.size(); ++j) {
        const int dx = places[i].x - places[j].x, dy = places[i].y - places[j].y;
        if (places[i].frame == places[j].frame && within_lags(dx, dy))
          to[i * size.padded + j] += variance * correlation[lag_index(dx, dy)];
      }
}

/// Computes the matrix Theta (params.h) for white noise from the Gram matrix `matrix`. The formula
/// of Q contains the noise variance `assumed`, and the formula of Theta contains the noise variance
/// `removed`.
void white_theta(const GroupSize& size, float assumed, float removed, float* matrix) {
  const D d;
  const int k = size.padded, lanes = static_cast<int>(hn::Lanes(d));
  const float lowest = add_floor(size.members, size.samples, k, matrix) + assumed;
  for (int i = 0; i < k; ++i) matrix[i * k + i] += assumed;
  invert_negative(k, matrix);
  mirror(k, matrix);
  const float ones = removed / (static_cast<float>(size.members) * lowest);
  const auto factor = hn::Set(d, removed);
  for (int i = 0; i < k; ++i)
    for (int m = 0; m < k; m += lanes) {
      float* const at = matrix + i * k + m;
      const auto term = hn::IfThenElseZero(first_lanes(size.members - m), hn::Set(d, ones));
      hn::Store(hn::MulAdd(factor, hn::Load(d, at), term), d, at);
    }
  for (int i = 0; i < k; ++i) matrix[i * k + i] += 1;
}

/// Computes the matrix Theta (params.h) for coloured noise. On entry, `noise` is the covariance
/// matrix C; the function overwrites it.
void coloured_theta(const GroupSize& size, float assumed, float removed, float* matrix,
                    float* noise, float* scratch) {
  const D d;
  const int k = size.padded, lanes = static_cast<int>(hn::Lanes(d));
  add_floor(size.members, size.samples, k, matrix);
  for (int i = 0; i < k * k; i += lanes)
    hn::Store(hn::MulAdd(hn::Set(d, assumed), hn::Load(d, noise + i), hn::Load(d, matrix + i)), d,
              matrix + i);
  invert_negative(k, matrix);
  mirror(k, matrix);
  alignas(64) float sums[max_group];  // -Q^-1 1
  float total = 0;
  for (int i = 0; i < k; ++i) {
    auto sum = hn::Zero(d);
    for (int m = 0; m < size.members; m += lanes)
      sum = hn::Add(
          sum, hn::IfThenElseZero(first_lanes(size.members - m), hn::Load(d, matrix + i * k + m)));
    sums[i] = i < size.members ? sum_of(sum) : 0;
    total += sums[i];
  }
  for (int i = 0; i < k; ++i) {
    const auto factor = hn::Set(d, -sums[i] / total);
    for (int m = 0; m < k; m += lanes) {
      float* const at = matrix + i * k + m;
      hn::Store(hn::MulAdd(factor, hn::Load(d, sums + m), hn::Load(d, at)), d, at);
    }
  }
  multiply({noise, k, 1}, k, k, matrix, k, scratch);
  for (int i = 0; i < k * k; i += lanes)
    hn::Store(hn::Mul(hn::Set(d, removed), hn::Load(d, scratch + i)), d, matrix + i);
  for (int i = 0; i < k; ++i) matrix[i * k + i] += 1;
}

/// Returns the aggregation weights of the estimates of a group.
std::array<float, max_group> weights_of(const GroupSize& size, const float* theta) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const float least = 1.0f / static_cast<float>(size.members);
  std::array<float, max_group> weights;
  for (int i = 0; i < size.members; ++i) {
    auto squares = hn::Zero(d);
    for (int m = 0; m < size.padded; m += lanes) {
      const auto value = hn::IfThenElseZero(first_lanes(size.members - m),
                                            hn::Load(d, theta + i * size.padded + m));
      squares = hn::MulAdd(value, value, squares);
    }
    weights[i] = 1 / std::sqrt(std::max(sum_of(squares), least));
  }
  return weights;
}

/// Adds weighted patches to the sums of their frames. The sum for x receives mean + E, and the sum
/// for z receives mean + E + r * (Z - E) (params.h). E is `estimates`, Z is `combined`, and r is
/// `ratio`. `places` are the positions of the patches in the first (`half` = 0) or second frame
/// (`half` = 1).
template <bool kHasZ>
void add_patches(const GroupSize& size, const GroupPlaces& group, std::span<const Place> places,
                 int half, std::span<const FrameStep> frames,
                 const std::array<float, max_group>& weights, const float* mean,
                 const float* estimates, const float* combined, float ratio) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d)), area = size.side * size.side;
  const auto share = hn::Set(d, ratio);
  for (int m = 0; m < size.members; ++m) {
    const TileSums& tile = frames[places[m].frame].tile;
    std::ptrdiff_t to = (group.top + places[m].y) * tile.stride + group.left + places[m].x;
    tile.weights[to] += weights[m];
    const auto weight = hn::Set(d, weights[m]);
    for (int s = half * area; s < (half + 1) * area; s += size.side, to += tile.stride)
      for (int c = 0; c < size.side; c += lanes) {
        const int at = m * size.row + s + c;
        const auto mask = first_lanes(size.side - c);
        const auto add = [&](auto value, float* sum) HWY_ATTR {
          hn::StoreU(hn::MulAdd(weight, hn::IfThenElseZero(mask, value), hn::LoadU(d, sum)), d,
                     sum);
        };
        const auto estimate = hn::LoadU(d, estimates + at), level = hn::LoadU(d, mean + s + c);
        add(hn::Add(estimate, level), tile.x + to + c);
        if constexpr (kHasZ) {
          const auto noise = hn::Sub(hn::LoadU(d, combined + at), estimate);
          add(hn::Add(hn::MulAdd(share, noise, estimate), level), tile.z + to + c);
        }
      }
  }
}

}  // namespace

void combine_group(const PlaneStep& plane, const GroupPlaces& group,
                   std::span<const FrameStep> frames, Workspace& workspace) {
  const int k = static_cast<int>(group.first.size());
  const int n = (group.second.empty() ? 1 : 2) * plane.side * plane.side;
  const GroupSize size{k, (k + padding - 1) / padding * padding, n,
                       (n + padding - 1) / padding * padding, plane.side};
  const auto space = [&](Buffer<float>& memory, int rows, int columns) {
    return memory.reserve(static_cast<std::size_t>(rows) * columns + padding);
  };
  float* const columns = space(workspace.columns, max_samples, max_group);
  float* const matrix = space(workspace.matrix, max_group, max_group);
  float* const combined = space(workspace.combined, max_group, max_samples);
  float* const estimates = space(workspace.estimates, max_group, max_samples);

  const Step& step = plane.step;
  load_rows(patches_of(group, frames, step.is_pilot ? &FrameStep::y : &FrameStep::z), size,
            combined);
  float assumed = step.alpha * step.alpha, removed = 1 + assumed, ratio = 0;
  const float sigma = plane.noise->sigma;
  if (!step.is_pilot) {
    const float left_in_z =
        1 - deviation(patches_of(group, frames, &FrameStep::y), size, combined) / sigma;
    const float t = std::max(left_in_z, step.tau);
    assumed = removed = step.excess * t * t;
    if (step.tau > 0) ratio = step.tau / t;
  }
  alignas(64) float mean[max_samples + padding] = {}, mean_of_x[max_samples + padding] = {};
  centre_rows(size, combined, mean);
  float* rows = combined;
  if (!step.is_pilot) {
    rows = space(workspace.rows, max_group, max_samples);
    load_rows(patches_of(group, frames, &FrameStep::x), size, rows);
    centre_rows(size, rows, mean_of_x);
  }
  transpose(size, rows, columns);
  gram_matrix(columns, n, size.padded, matrix);
  const float variance = sigma * sigma * static_cast<float>(n);
  if (plane.noise->is_white()) {
    white_theta(size, assumed * variance, removed * variance, matrix);
  } else {
    float* const noise = space(workspace.product, 2 * max_group, max_group);
    const auto area = static_cast<float>(plane.side * plane.side);
    shared_noise(group, *plane.noise, sigma * sigma * area, size, noise);
    coloured_theta(size, assumed, removed, matrix, noise, noise + max_group * max_group);
  }
  multiply({matrix, size.padded, 1}, size.padded, size.padded, combined, size.row, estimates);

  const auto weights = weights_of(size, matrix);
  const auto add = step.has_z() ? add_patches<true> : add_patches<false>;
  add(size, group, group.first, 0, frames, weights, mean, estimates, combined, ratio);
  if (!group.second.empty())
    add(size, group, group.second, 1, frames, weights, mean, estimates, combined, ratio);
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::linear::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::linear::cpu {
HWY_EXPORT(combine_group);
void combine_group(const PlaneStep& plane, const GroupPlaces& group,
                   std::span<const FrameStep> frames, Workspace& workspace) {
  HWY_DYNAMIC_DISPATCH(combine_group)(plane, group, frames, workspace);
}
}  // namespace lull::linear::cpu
#endif
