#include "noise/estimate/clip_blocks.h"

#include <algorithm>
#include <cmath>

#include "core/bases.h"
#include "core/colour.h"
#include "core/samples.h"

namespace lull {
namespace {

constexpr int side = clip_block + 2 * clip_ring;  // side of a block with its ring
constexpr int lanes = 8;
using Window = std::array<std::array<float, clip_window>, clip_window>;
using Patch = std::array<std::array<float, side>, side>;

/// Loads a window of one stored plane, on the 0..255 scale.
template <class T>
void load(const Frame& frame, int plane, int x, int y, Window& to) {
  const auto from = frame.plane<const T>(plane);
  const float scale = to_unit_255(frame.format);
  for (int j = 0; j < clip_window; ++j)
    for (int i = 0; i < clip_window; ++i)
      to[j][i] = static_cast<float>(from.row(y + j)[x + i]) * scale;
}
void load(const Frame& frame, int plane, int x, int y, Window& to) {
  switch (frame.format.sample) {
    case SampleType::u8:
      return load<std::uint8_t>(frame, plane, x, y, to);
    case SampleType::u16:
      return load<std::uint16_t>(frame, plane, x, y, to);
    case SampleType::f32:
      return load<float>(frame, plane, x, y, to);
  }
}

constexpr bool in_block(int i) { return i >= clip_margin && i < clip_margin + clip_block; }

struct BlockClipping {
  int clipped = 0, around = 0;
  bool constant = false;
  float mean = 0;
};
/// Counts the clipped samples in the block at the centre of a window, and the clipped samples in
/// the ring around this block.
BlockClipping clipping_of(const Window& w, float low, float high) {
  BlockClipping result;
  for (int y = clip_border; y < clip_border + side; ++y)
    for (int x = clip_border; x < clip_border + side; ++x)
      result.around += w[y][x] <= low || w[y][x] >= high;
  float minimum = w[clip_margin][clip_margin], maximum = minimum;
  for (int y = clip_margin; y < clip_margin + clip_block; ++y)
    for (int x = clip_margin; x < clip_margin + clip_block; ++x) {
      result.clipped += w[y][x] <= low || w[y][x] >= high;
      minimum = std::min(minimum, w[y][x]);
      maximum = std::max(maximum, w[y][x]);
      result.mean += w[y][x];
    }
  result.around -= result.clipped;
  result.constant = minimum == maximum;
  result.mean /= clip_block * clip_block;
  return result;
}

ClipChannel channel_of(const BlockClipping& a, const BlockClipping& b, float low, float high) {
  const float mean = (a.mean + b.mean) / 2;
  return {mean - low, high - mean,
          static_cast<float>(a.clipped + b.clipped) / (2 * clip_block * clip_block)};
}

bool same_block(const Window& a, const Window& b) {
  for (int y = clip_margin; y < clip_margin + clip_block; ++y)
    for (int x = clip_margin; x < clip_margin + clip_block; ++x)
      if (a[y][x] != b[y][x]) return false;
  return true;
}

/// Number of regressors for the difference of two frames: the slopes along x and y (sub-sample
/// motion), the samples (change of gain) and a constant (change of offset).
constexpr int regressors = 4;
struct Fit {
  std::array<std::array<float, lanes>, regressors*(regressors + 1) / 2 + regressors + 1> sums{};

  /// Adds one square of samples to the normal equations, or removes it if `sign` is -1. `patches`
  /// contains five values for each sample: the four regressors, and the difference of the two
  /// frames. For each pair of these values, the function sums the products over the square, which
  /// contains the rows and columns `first` <= index < `end`.
  void add(const std::array<const Patch*, regressors + 1>& patches, int first, int end,
           float sign) {
    for (int y = first; y < end; ++y)
      for (int x = first; x < end; x += lanes) {
        int k = 0;
        for (int a = 0; a <= regressors; ++a)
          for (int b = 0; b <= a; ++b, ++k) {
            const float* const p = (*patches[a])[y].data() + x;
            const float* const q = (*patches[b])[y].data() + x;
            for (int i = 0; i < lanes; ++i) sums[k][i] += sign * p[i] * q[i];
          }
      }
  }
  double sum(int a, int b) const {
    double s = 0;
    for (const float v : sums[a * (a + 1) / 2 + b]) s += static_cast<double>(v);
    return s;
  }
};

/// The least-squares solution: coefficients of the regressors, and the residual.
struct Explained {
  std::array<float, regressors> share{};
  float residual = 0;  // mean square of the residual
};
Explained explain(const Fit& fit, int samples) {
  double m[regressors][regressors + 1];
  for (int a = 0; a < regressors; ++a) {
    for (int b = 0; b < regressors; ++b) m[a][b] = fit.sum(std::max(a, b), std::min(a, b));
    m[a][a] += 1e-3 * samples;  // regularisation, so that flat rings give coefficients of 0
    m[a][regressors] = fit.sum(regressors, a);
  }
  for (int a = 0; a < regressors; ++a)
    for (int r = 0; r < regressors; ++r) {
      if (r == a) continue;
      const double factor = m[r][a] / m[a][a];
      for (int c = a; c <= regressors; ++c) m[r][c] -= factor * m[a][c];
    }
  Explained found;
  double residual = fit.sum(regressors, regressors);
  for (int a = 0; a < regressors; ++a) {
    const double share = m[a][regressors] / m[a][a];
    found.share[a] = static_cast<float>(share);
    residual -= share * fit.sum(regressors, a);
  }
  found.residual = static_cast<float>(std::max(residual, 0.0) / (samples - regressors));
  return found;
}

/// Returns half of the squared DCT coefficients of a block of differences. The reason for the
/// factor 1/2 is that a difference of two frames contains the noise of both frames.
CoefficientTable energy_of(const std::array<std::array<float, 8>, 8>& block) {
  const auto& basis = float_dct_rows<8>();
  std::array<std::array<float, 8>, 8> rows{};
  CoefficientTable energy{};
  for (int k = 0; k < 8; ++k)
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 8; ++x) rows[k][x] += basis[k][y] * block[y][x];
  for (int k = 0; k < 8; ++k)
    for (int l = 0; l < 8; ++l) {
      float c = 0;
      for (int x = 0; x < 8; ++x) c += rows[k][x] * basis[l][x];
      energy[k * 8 + l] = c * c / 2;
    }
  return energy;
}

void measure(const Window& p, const Window& q, ClipDifference& out) {
  Patch difference, mean, across, down, ones;
  float level = 0;
  for (int y = clip_margin; y < clip_margin + clip_block; ++y)
    for (int x = clip_margin; x < clip_margin + clip_block; ++x) level += (p[y][x] + q[y][x]) / 2;
  level /= clip_block * clip_block;
  Window sum;
  for (int y = 0; y < clip_window; ++y)
    for (int x = 0; x < clip_window; ++x) sum[y][x] = (p[y][x] + q[y][x]) / 2 - level;
  for (int y = 0; y < side; ++y) {
    const int v = y + clip_border;
    for (int x = 0; x < side; ++x) {
      const int u = x + clip_border;
      difference[y][x] = p[v][u] - q[v][u];
      mean[y][x] = sum[v][u];
      across[y][x] = (8 * (sum[v][u + 1] - sum[v][u - 1]) - (sum[v][u + 2] - sum[v][u - 2])) / 12;
      down[y][x] = (8 * (sum[v + 1][u] - sum[v - 1][u]) - (sum[v + 2][u] - sum[v - 2][u])) / 12;
      ones[y][x] = 1;
    }
  }
  const std::array<const Patch*, regressors + 1> patches{&across, &down, &mean, &ones, &difference};
  Fit fit;
  fit.add(patches, 0, side, 1);
  fit.add(patches, clip_ring, clip_ring + clip_block, -1);
  constexpr int samples = side * side - clip_block * clip_block;
  const Explained found = explain(fit, samples);
  std::array<std::array<float, 8>, 8> block;
  for (int y = 0; y < clip_block; ++y)
    for (int x = 0; x < clip_block; ++x) {
      float residual = difference[clip_ring + y][clip_ring + x];
      for (int c = 0; c < regressors; ++c)
        residual -= found.share[c] * (*patches[c])[clip_ring + y][clip_ring + x];
      block[y][x] = residual;
    }
  out.energy = energy_of(block);
  out.ring_energy = found.residual / 2;
  out.texture = static_cast<float>((fit.sum(0, 0) + fit.sum(1, 1)) / samples);
  out.brightness = level;
  out.valid = std::isfinite(out.ring_energy) && std::isfinite(out.energy[0] + out.energy[63]);
}

}  // namespace

ClipDifference ClipBlocks::at(int i, int x, int y, ClipVector v) const {
  ClipDifference out;
  const FrameFormat& format = from_.format;
  const int sx = i == 0 ? 0 : format.chroma_shift_x, sy = i == 0 ? 0 : format.chroma_shift_y;
  // Rounds a motion vector to whole samples of a subsampled plane.
  const auto scaled = [](int a, int shift) {
    return (a + (shift > 0 ? 1 << (shift - 1) : 0)) >> shift;
  };
  const int px = (x >> sx) - clip_margin, py = (y >> sy) - clip_margin;
  const int qx = px + scaled(v.x, sx), qy = py + scaled(v.y, sy);
  const auto fits = [&](int a, int b) {
    return a >= 0 && b >= 0 && a + clip_window <= format.plane_width(i) &&
           b + clip_window <= format.plane_height(i);
  };
  if (!fits(px, py) || !fits(qx, qy)) return out;
  Window p, q;
  int clipped = 0;
  bool constant = false, is_copy = true;
  if (format.layout == Layout::rgb) {
    Window a, b;
    p = {}, q = {};
    for (int c = 0; c < 3; ++c) {
      load(from_, c, px, py, a);
      load(to_, c, qx, qy, b);
      const BlockClipping clipping_a = clipping_of(a, range_.low[c], range_.high[c]);
      const BlockClipping clipping_b = clipping_of(b, range_.low[c], range_.high[c]);
      out.channels[c] = channel_of(clipping_a, clipping_b, range_.low[c], range_.high[c]);
      clipped = std::max(clipped, clipping_a.around + clipping_b.around);
      constant |= clipping_a.constant || clipping_b.constant;
      is_copy &= same_block(a, b);
      for (int j = 0; j < clip_window; ++j)
        for (int k = 0; k < clip_window; ++k) {
          p[j][k] += opponent_forward[i][c] * a[j][k];
          q[j][k] += opponent_forward[i][c] * b[j][k];
        }
    }
  } else {
    load(from_, i, px, py, p);
    load(to_, i, qx, qy, q);
    const BlockClipping clipping_p = clipping_of(p, range_.low[i], range_.high[i]);
    const BlockClipping clipping_q = clipping_of(q, range_.low[i], range_.high[i]);
    out.channels[0] = channel_of(clipping_p, clipping_q, range_.low[i], range_.high[i]);
    clipped = clipping_p.around + clipping_q.around;
    constant = clipping_p.constant || clipping_q.constant;
    is_copy = same_block(p, q);
  }
  out.clipped = static_cast<float>(clipped) / (2 * (side * side - clip_block * clip_block));
  measure(p, q, out);
  out.copied = is_copy;
  out.constant = constant;
  return out;
}

}  // namespace lull
