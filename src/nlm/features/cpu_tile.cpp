// The CPU kernel of non-local means with features for one tile. Loops along rows have no branches,
// so that the compiler vectorises them.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nlm/features/cpu_tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "nlm/features/cpu_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lull::nlm::cpu {
namespace HWY_NAMESPACE {

constexpr int width = light_tile_width, height = light_tile_height;
constexpr int halo = widest_patch;
constexpr int padded_width = width + 2 * halo, padded_height = height + 2 * halo;
constexpr int samples = width * height;

/// Sums of one filter (colour or guided, formulas.h), as planes with one value for each pixel of a
/// tile.
struct LightSums {
  float *weight, *matrix, *right, *slope_light, *slope;
};

/// Memory layout of a tile.
struct TileLayout {
  explicit TileLayout(LightMemory& memory) {
    constexpr int planes = 2 * (1 + triangle(max_coefficients) + 3 * max_coefficients + 6);
    memory.floats.resize(samples * (planes + max_coefficients + 4) +
                         2 * padded_width * padded_height);
    next = memory.floats.data();
    for (LightSums* s : {&colour, &guided})
      *s = {allocate(1), allocate(triangle(max_coefficients)), allocate(3 * max_coefficients),
            allocate(3), allocate(3)};
    end_of_sums = next;
    g = allocate(max_coefficients);
    weights = allocate(1);
    slopes = allocate(1);
    weighted = allocate(1);
    summand = next;
    row_sums = next + padded_width * padded_height;
  }
  float* allocate(int planes) { return std::exchange(next, next + planes * samples); }

  float* next;
  LightSums colour{}, guided{};
  float *end_of_sums, *g, *weights, *slopes, *weighted, *summand, *row_sums;
};

/// Computes the terms of the distance D_f (formulas.h) for the tile and its halo, as means over
/// channels.
HWY_ATTR void find_summands(const LightTile& tile, const ContinuedLight& p, const LightSource& q,
                            int ex, int ey, float* HWY_RESTRICT to) {
  const float share = 1.0f / static_cast<float>(tile.channels);
  for (int j = 0; j < tile.height + 2 * halo; ++j) {
    const int y = tile.y + j - halo, x = tile.x - halo;
    float* HWY_RESTRICT row = to + j * padded_width;
    for (int i = 0; i < padded_width; ++i) row[i] = 0;
    for (int c = 0; c < tile.channels; ++c) {
      const float* HWY_RESTRICT up = p.light[c].row(y) + x;
      const float* HWY_RESTRICT vp = p.variance[c].row(y) + x;
      const float* HWY_RESTRICT uq = q.planes.light[c].row(y + ey) + x + ex;
      const float* HWY_RESTRICT vq = q.planes.variance[c].row(y + ey) + x + ex;
      const int count = tile.width + 2 * halo;
      for (int i = 0; i < count; ++i) row[i] += share * difference(up[i], uq[i], vp[i], vq[i]);
    }
  }
}

/// Computes the weights w of a filter and their derivatives w' (step 4 of formulas.h).
HWY_ATTR void find_weights(const LightTile& tile, CandidateFilter filter, TileLayout& m) {
  const int f = filter.patch_radius, side = 2 * f + 1, shift = halo - f;
  for (int j = 0; j < tile.height + 2 * f; ++j) {
    const float* HWY_RESTRICT from = m.summand + (j + shift) * padded_width + shift;
    float* HWY_RESTRICT to = m.row_sums + j * padded_width;
    for (int x = 0; x < width; ++x) to[x] = from[x];
    for (int k = 1; k < side; ++k)
      for (int x = 0; x < width; ++x) to[x] += from[x + k];
  }
  const float scale = 1 / (filter.k * filter.k * static_cast<float>(filter.patch()));
  const auto slope_scale = static_cast<float>(per_sample(filter, tile.channels));
  for (int j = 0; j < tile.height; ++j) {
    float* HWY_RESTRICT w = m.weights + j * width;
    float* HWY_RESTRICT s = m.slopes + j * width;
    for (int x = 0; x < width; ++x) w[x] = 0;
    for (int k = 0; k < side; ++k) {
      const float* HWY_RESTRICT row = m.row_sums + (j + k) * padded_width;
      for (int x = 0; x < width; ++x) w[x] += row[x];
    }
    for (int x = 0; x < width; ++x) {
      const float d = w[x] * scale;
      float t = 1 - (d > 0 ? d : 0) / 8;
      t = t > 0 ? t : 0;
      const float t2 = t * t, t7 = t2 * t2 * t2 * t;
      w[x] = t7 * t;
      s[x] = d > 0 ? -t7 * slope_scale : 0;
    }
  }
}

HWY_ATTR bool any_weight(const TileLayout& m, int rows) {
  float sum = 0;
  for (int i = 0; i < rows * width; ++i) sum += m.weights[i];
  return sum > 0;
}

/// Adds the weighted candidates at one displacement to the sums of a filter (colour or guided).
/// `coefficients` is the number of coefficients that the filter fits (step 3 of formulas.h): 1 for
/// the colour filter.
HWY_ATTR void add(const LightTile& tile, const LightSource& q, const ContinuedLight& p, int ex,
                  int ey, int coefficients, TileLayout& m, LightSums& sums) {
  const int all = tile.height * width;
  for (int i = 0; i < all; ++i) sums.weight[i] += m.weights[i];
  for (int a = 0; a < coefficients; ++a) {
    const float* HWY_RESTRICT g = m.g + a * samples;
    float* HWY_RESTRICT wg = m.weighted;
    for (int i = 0; i < all; ++i) wg[i] = m.weights[i] * g[i];
    for (int b = 0; b <= a; ++b) {
      const float* HWY_RESTRICT other = m.g + b * samples;
      float* HWY_RESTRICT to = sums.matrix + (triangle(a) + b) * samples;
      for (int i = 0; i < all; ++i) to[i] += wg[i] * other[i];
    }
    for (int c = 0; c < tile.channels; ++c) {
      float* HWY_RESTRICT to = sums.right + (a * tile.channels + c) * samples;
      for (int j = 0; j < tile.height; ++j) {
        const float* HWY_RESTRICT uq = q.planes.light[c].row(tile.y + j + ey) + tile.x + ex;
        for (int x = 0; x < tile.width; ++x) to[j * width + x] += wg[j * width + x] * uq[x];
      }
    }
  }
  for (int c = 0; c < tile.channels; ++c)
    for (int j = 0; j < tile.height; ++j) {
      const int y = tile.y + j, at = j * width;
      const float* HWY_RESTRICT up = p.light[c].row(y) + tile.x;
      const float* HWY_RESTRICT vp = p.variance[c].row(y) + tile.x;
      const float* HWY_RESTRICT uq = q.planes.light[c].row(y + ey) + tile.x + ex;
      const float* HWY_RESTRICT vq = q.planes.variance[c].row(y + ey) + tile.x + ex;
      float* HWY_RESTRICT with_light = sums.slope_light + c * samples + at;
      float* HWY_RESTRICT alone = sums.slope + c * samples + at;
      for (int x = 0; x < tile.width; ++x) {
        const float s = m.slopes[at + x] * (up[x] - uq[x]) / (vp[x] + vq[x]);
        with_light[x] += s * uq[x];
        alone[x] += s;
      }
    }
}

/// Computes the vector g of the linear function (step 3 of formulas.h) for all pixels and one
/// displacement.
HWY_ATTR void find_terms(const LightTile& tile, const LightSource& q, const ContinuedLight& p,
                         int dx, int dy, int ex, int ey, TileLayout& m) {
  const float s = static_cast<float>(tile.search_radius);
  for (int i = 0; i < samples; ++i) m.g[i] = 1;
  for (int i = 0; i < samples; ++i) m.g[samples + i] = static_cast<float>(dx) / s;
  for (int i = 0; i < samples; ++i) m.g[2 * samples + i] = static_cast<float>(dy) / s;
  for (int r = 0; r < tile.regressors; ++r) {
    float* to = m.g + (1 + position_terms + r) * samples;
    for (int j = 0; j < tile.height; ++j) {
      const float* HWY_RESTRICT a = p.regressor[r].row(tile.y + j) + tile.x;
      const float* HWY_RESTRICT b = q.planes.regressor[r].row(tile.y + j + ey) + tile.x + ex;
      float* HWY_RESTRICT row = to + j * width;
      for (int x = 0; x < tile.width; ++x) {
        const float d = b[x] - a[x], low = d > -1 ? d : -1;
        row[x] = low < 1 ? low : 1;
      }
    }
  }
}

HWY_ATTR void finish(const LightTile& tile, int coefficients, const LightSums& sums,
                     const std::array<PlaneView<float>, 3>& value,
                     const std::array<PlaneView<float>, 3>& derivative) {
  for (int j = 0; j < tile.height; ++j)
    for (int x = 0; x < tile.width; ++x) {
      const int at = j * width + x;
      float matrix[triangle(max_coefficients)], right[3 * max_coefficients];
      float penalty[max_coefficients], result[3] = {};
      for (int i = 0; i < triangle(coefficients); ++i) matrix[i] = sums.matrix[i * samples + at];
      for (int i = 0; i < coefficients * tile.channels; ++i)
        right[i] = sums.right[i * samples + at];
      for (int i = 0; i < coefficients; ++i)
        penalty[i] =
            ridge + (i > position_terms ? tile.noise[i - 1 - position_terms](tile.x + x, tile.y + j)
                                        : 0.0f);
      const float share = solve_line(matrix, right, coefficients, tile.channels, penalty, result);
      for (int c = 0; c < tile.channels; ++c) {
        value[c](tile.x + x, tile.y + j) = result[c];
        derivative[c](tile.x + x, tile.y + j) = share + (sums.slope_light[c * samples + at] -
                                                         result[c] * sums.slope[c * samples + at]) /
                                                            sums.weight[at];
      }
    }
}

HWY_ATTR void run_tile(const LightTile& tile, LightMemory& memory) {
  TileLayout m(memory);
  std::fill(memory.floats.data(), m.end_of_sums, 0.0f);
  const ContinuedLight& p = tile.sources[0].planes;
  const int guided = 1 + position_terms + tile.regressors, s = tile.search_radius;
  for (const LightSource& q : tile.sources)
    for (int dy = -s; dy <= s; ++dy)
      for (int dx = -s; dx <= s; ++dx) {
        if (!is_in_window(dx, dy, s)) continue;
        const int ex = dx + q.motion_x, ey = dy + q.motion_y;
        find_summands(tile, p, q, ex, ey, m.summand);
        find_terms(tile, q, p, dx, dy, ex, ey, m);
        find_weights(tile, colour_filter, m);
        if (any_weight(m, tile.height)) add(tile, q, p, ex, ey, 1, m, m.colour);
        find_weights(tile, guided_filter, m);
        if (any_weight(m, tile.height)) add(tile, q, p, ex, ey, guided, m, m.guided);
      }
  finish(tile, 1, m.colour, tile.colour, tile.colour_derivative);
  finish(tile, guided, m.guided, tile.guided, tile.guided_derivative);
}

}  // namespace HWY_NAMESPACE
}  // namespace lull::nlm::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lull::nlm::cpu {

HWY_EXPORT(run_tile);

void filter_light(const LightTile& tile, LightMemory& memory) {
  HWY_DYNAMIC_DISPATCH(run_tile)(tile, memory);
}

}  // namespace lull::nlm::cpu
#endif
