// Linear combinations of the patches of one group (params.h), in single precision. In matrices
// whose rows or columns are members, the lanes of a vector contain neighbouring columns. Groups are
// padded with members whose patches are 0, whose noise is independent, and whose estimates are not
// used.

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

/// Sizes of the group that is being combined.
struct GroupSize {
  int members, padded;  // k, and k rounded up to complete vectors
  int samples, row;     // n, and n rounded up to complete vectors
  int side;
};

HWY_INLINE float sum_of(hn::Vec<D> v) {
  const D d;
  return hn::GetLane(hn::SumOfLanes(d, v));
}

/// Offsets of the members of a group in a picture. Padding members have the offset of the reference
/// patch.
using Offsets = std::array<std::int32_t, max_group>;
Offsets offsets_of(std::span<const Displacement> members, std::ptrdiff_t stride) {
  Offsets offsets{};
  for (std::size_t m = 0; m < members.size(); ++m)
    offsets[m] = static_cast<std::int32_t>(members[m].y * stride + members[m].x);
  return offsets;
}

/// Loads the patches of a group as columns, and subtracts the mean patch from each.
void load_columns(const float* reference, std::ptrdiff_t stride, const Offsets& offsets,
                  const GroupSize& size, float* columns) {
  const D d;
  const hn::RebindToSigned<D> i32;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto share = hn::Set(d, 1.0f / static_cast<float>(size.members));
  for (int row = 0; row < size.side; ++row)
    for (int column = 0; column < size.side; ++column, columns += size.padded) {
      const float* const from = reference + row * stride + column;
      auto sum = hn::Zero(d);
      for (int m = 0; m < size.padded; m += lanes) {
        const auto value = hn::GatherIndex(d, from, hn::LoadU(i32, offsets.data() + m));
        hn::Store(value, d, columns + m);
        sum = hn::Add(sum, hn::IfThenElseZero(first_lanes(size.members - m), value));
      }
      const auto mean = hn::Mul(hn::SumOfLanes(d, sum), share);
      for (int m = 0; m < size.padded; m += lanes)
        hn::Store(hn::IfThenElseZero(first_lanes(size.members - m),
                                     hn::Sub(hn::Load(d, columns + m), mean)),
                  d, columns + m);
    }
}

/// Loads the patches of a group as rows. Padding becomes 0.
void load_rows(const float* reference, std::ptrdiff_t stride, const Offsets& offsets,
               const GroupSize& size, float* rows) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int m = 0; m < size.members; ++m, rows += size.row) {
    const float* from = reference + offsets[m];
    for (int s = 0; s < size.samples; s += size.side, from += stride)
      for (int c = 0; c < size.side; c += lanes)  // surplus samples are overwritten by the next row
        hn::StoreU(hn::LoadU(d, from + c), d, rows + s + c);
    std::fill(rows + size.samples, rows + size.row, 0.0f);
  }
  std::fill(rows, rows + (size.padded - size.members) * size.row, 0.0f);
}

/// Subtracts the mean of all rows from each row, and writes the mean to `mean`.
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

/// Returns the standard deviation of the difference between Y and Z (params.h). `z` contains the
/// patches of Z.
float deviation(const float* reference, std::ptrdiff_t stride, const Offsets& offsets,
                const GroupSize& size, const float* z) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  auto sum = hn::Zero(d), squares = hn::Zero(d);
  for (int m = 0; m < size.members; ++m, z += size.row) {
    const float* from = reference + offsets[m];
    for (int s = 0; s < size.samples; s += size.side, from += stride)
      for (int c = 0; c < size.side; c += lanes) {
        const auto difference = hn::IfThenElseZero(
            first_lanes(size.side - c), hn::Sub(hn::LoadU(d, from + c), hn::LoadU(d, z + s + c)));
        sum = hn::Add(sum, difference);
        squares = hn::MulAdd(difference, difference, squares);
      }
  }
  const float share = 1.0f / static_cast<float>(size.members * size.samples);
  const float mean = sum_of(sum) * share;
  return std::sqrt(std::max(sum_of(squares) * share - mean * mean, 0.0f));
}

/// Computes `factor` times the covariance of the noise, and adds it to Q or stores it in `to`.
void shared_noise(std::span<const Displacement> members, const PlaneNoise& noise, float variance,
                  const GroupSize& size, float* to) {
  std::fill_n(to, size.padded * size.padded, 0.0f);
  const Autocorrelation& correlation = *noise.correlation;
  for (int i = 0; i < size.members; ++i)
    for (int j = 0; j < size.members; ++j) {
      const int dx = members[i].x - members[j].x, dy = members[i].y - members[j].y;
      if (within_lags(dx, dy)) to[i * size.padded + j] = variance * correlation[lag_index(dx, dy)];
    }
}

/// Computes Theta (params.h) for white noise. `matrix` contains the Gram matrix. `assumed` is the
/// noise in Q, and `removed` is the noise in Theta.
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

/// Computes Theta (params.h) for coloured noise. `noise` contains the covariance C and is
/// overwritten.
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

/// Adds the estimates of a group to the sums of a tile, multiplied by their weights. The values are
/// mean + estimates for x, and mean + estimates + ratio (combined - estimates) for z.
template <bool kHasZ>
void add_patches(const GroupSize& size, const Offsets& offsets,
                 const std::array<float, max_group>& weights, const float* mean,
                 const float* estimates, const float* combined, float ratio,
                 std::ptrdiff_t reference, const TileSums& tile) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto share = hn::Set(d, ratio);
  for (int m = 0; m < size.members; ++m) {
    const auto weight = hn::Set(d, weights[m]);
    std::ptrdiff_t to = reference + offsets[m];
    for (int s = 0; s < size.samples; s += size.side, to += tile.stride)
      for (int c = 0; c < size.side; c += lanes) {
        const int at = m * size.row + s + c;
        const auto mask = first_lanes(size.side - c);
        const auto add = [&](auto value, float* sum) {
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

void combine_group(const PlaneStep& plane, int left, int top, std::span<const Displacement> members,
                   Workspace& workspace, const TileSums& tile) {
  const int k = static_cast<int>(members.size()), n = plane.side * plane.side;
  const GroupSize size{k, (k + padding - 1) / padding * padding, n,
                       (n + padding - 1) / padding * padding, plane.side};
  const auto space = [&](Buffer<float>& memory, int rows, int columns) {
    return memory.reserve(static_cast<std::size_t>(rows) * columns + padding);
  };
  float* const columns = space(workspace.columns, max_samples, max_group);
  float* const matrix = space(workspace.matrix, max_group, max_group);
  float* const combined = space(workspace.combined, max_group, max_samples);
  float* const estimates = space(workspace.estimates, max_group, max_samples);
  const auto at = [&](const Picture& picture) {
    return picture.origin + top * picture.stride + left;
  };

  const Step& step = plane.step;
  const Picture& source = step.is_pilot ? plane.y : plane.x;
  const Picture& input = step.is_pilot ? plane.y : plane.z;
  load_rows(at(input), input.stride, offsets_of(members, input.stride), size, combined);
  float assumed = step.alpha * step.alpha, removed = 1 + assumed, ratio = 0;
  const float sigma = plane.noise->sigma;
  if (!step.is_pilot) {
    const float left_in_z = 1 - deviation(at(plane.y), plane.y.stride,
                                          offsets_of(members, plane.y.stride), size, combined) /
                                    sigma;
    const float t = std::max(left_in_z, step.tau);
    assumed = removed = step.excess * t * t;
    if (step.tau > 0) ratio = step.tau / t;
  }
  alignas(64) float mean[max_samples + padding] = {};
  centre_rows(size, combined, mean);
  load_columns(at(source), source.stride, offsets_of(members, source.stride), size, columns);
  gram_matrix(columns, n, size.padded, matrix);
  const float variance = sigma * sigma * static_cast<float>(n);
  if (plane.noise->is_white()) {
    white_theta(size, assumed * variance, removed * variance, matrix);
  } else {
    float* const noise = space(workspace.product, 2 * max_group, max_group);
    shared_noise(members, *plane.noise, variance, size, noise);
    coloured_theta(size, assumed, removed, matrix, noise, noise + max_group * max_group);
  }
  multiply({matrix, size.padded, 1}, size.padded, size.padded, combined, size.row, estimates);

  const auto weights = weights_of(size, matrix);
  const Offsets to = offsets_of(members, tile.stride);
  const std::ptrdiff_t reference = top * tile.stride + left;
  for (int m = 0; m < k; ++m) tile.weights[reference + to[m]] += weights[m];
  const auto add = tile.z != nullptr ? add_patches<true> : add_patches<false>;
  add(size, to, weights, mean, estimates, combined, ratio, reference, tile);
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::linear::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::linear::cpu {
HWY_EXPORT(combine_group);
void combine_group(const PlaneStep& plane, int left, int top, std::span<const Displacement> members,
                   Workspace& workspace, const TileSums& tile) {
  HWY_DYNAMIC_DISPATCH(combine_group)(plane, left, top, members, workspace, tile);
}
}  // namespace lull::linear::cpu
#endif
