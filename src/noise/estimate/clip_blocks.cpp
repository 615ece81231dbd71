#include "noise/estimate/clip_blocks.h"

#include <algorithm>
#include <cmath>

#include "core/bases.h"
#include "core/colour.h"
#include "core/samples.h"

namespace lull {
namespace {

constexpr int side = clip_block + 2 * clip_ring;  // of a block with its surroundings
constexpr int lanes = 8;
using Window = std::array<std::array<float, clip_window>, clip_window>;
using Patch = std::array<std::array<float, side>, side>;

/// Samples of one plane of the file, on the 0..255 scale.
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

struct Ends {
  int clipped = 0, around = 0;
  bool constant = false;
  float mean = 0;
};
/// Of the block in the middle of a window, and what is clipped in its surroundings.
Ends ends_of(const Window& w, float low, float high) {
  Ends ends;
  for (int y = clip_border; y < clip_border + side; ++y)
    for (int x = clip_border; x < clip_border + side; ++x)
      ends.around += w[y][x] <= low || w[y][x] >= high;
  float least = w[clip_margin][clip_margin], most = least;
  for (int y = clip_margin; y < clip_margin + clip_block; ++y)
    for (int x = clip_margin; x < clip_margin + clip_block; ++x) {
      ends.clipped += w[y][x] <= low || w[y][x] >= high;
      least = std::min(least, w[y][x]);
      most = std::max(most, w[y][x]);
      ends.mean += w[y][x];
    }
  ends.around -= ends.clipped;
  ends.constant = least == most;
  ends.mean /= clip_block * clip_block;
  return ends;
}

ClipChannel channel_of(const Ends& a, const Ends& b, float low, float high) {
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

/// What a difference is explained by: slopes (motion by less than a sample), the picture itself (a
/// change of gain) and 1 (of offset).
constexpr int causes = 4;
struct Fit {
  std::array<std::array<float, lanes>, causes*(causes + 1) / 2 + causes + 1> sums{};

  /// Adds `sign` times what a rectangle of the patches says.
  void add(const std::array<const Patch*, causes + 1>& patches, int first, int end, float sign) {
    for (int y = first; y < end; ++y)
      for (int x = first; x < end; x += lanes) {
        int k = 0;
        for (int a = 0; a <= causes; ++a)
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

/// The share of each cause, by least squares, and what is left.
struct Explained {
  std::array<float, causes> share{};
  float rest = 0;  // mean square
};
Explained explain(const Fit& fit, int samples) {
  double m[causes][causes + 1];
  for (int a = 0; a < causes; ++a) {
    for (int b = 0; b < causes; ++b) m[a][b] = fit.sum(std::max(a, b), std::min(a, b));
    m[a][a] += 1e-3 * samples;  // flat surroundings explain nothing
    m[a][causes] = fit.sum(causes, a);
  }
  for (int a = 0; a < causes; ++a)
    for (int r = 0; r < causes; ++r) {
      if (r == a) continue;
      const double factor = m[r][a] / m[a][a];
      for (int c = a; c <= causes; ++c) m[r][c] -= factor * m[a][c];
    }
  Explained found;
  double rest = fit.sum(causes, causes);
  for (int a = 0; a < causes; ++a) {
    const double share = m[a][causes] / m[a][a];
    found.share[a] = static_cast<float>(share);
    rest -= share * fit.sum(causes, a);
  }
  found.rest = static_cast<float>(std::max(rest, 0.0) / (samples - causes));
  return found;
}

/// Squared coefficients of the orthonormal DCT of a block, halved: two frames have their noise in
/// it.
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
  Patch difference, mean, across, down, one;
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
      one[y][x] = 1;
    }
  }
  const std::array<const Patch*, causes + 1> patches{&across, &down, &mean, &one, &difference};
  Fit fit;
  fit.add(patches, 0, side, 1);
  fit.add(patches, clip_ring, clip_ring + clip_block, -1);
  constexpr int samples = side * side - clip_block * clip_block;
  const Explained found = explain(fit, samples);
  std::array<std::array<float, 8>, 8> block;
  for (int y = 0; y < clip_block; ++y)
    for (int x = 0; x < clip_block; ++x) {
      float rest = difference[clip_ring + y][clip_ring + x];
      for (int c = 0; c < causes; ++c)
        rest -= found.share[c] * (*patches[c])[clip_ring + y][clip_ring + x];
      block[y][x] = rest;
    }
  out.energy = energy_of(block);
  out.around = found.rest / 2;
  out.texture = static_cast<float>((fit.sum(0, 0) + fit.sum(1, 1)) / samples);
  out.brightness = level;
  out.valid = std::isfinite(out.around) && std::isfinite(out.energy[0] + out.energy[63]);
}

}  // namespace

ClipDifference ClipBlocks::at(int i, int x, int y, ClipVector v) const {
  ClipDifference out;
  const FrameFormat& format = from_.format;
  const int sx = i == 0 ? 0 : format.chroma_shift_x, sy = i == 0 ? 0 : format.chroma_shift_y;
  // To the nearest sample: what is left of the vector is less than one.
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
  bool constant = false, same = true;
  if (format.layout == Layout::rgb) {
    Window a, b;
    p = {}, q = {};
    for (int c = 0; c < 3; ++c) {
      load(from_, c, px, py, a);
      load(to_, c, qx, qy, b);
      const Ends ea = ends_of(a, range_.low[c], range_.high[c]);
      const Ends eb = ends_of(b, range_.low[c], range_.high[c]);
      out.channels[c] = channel_of(ea, eb, range_.low[c], range_.high[c]);
      clipped = std::max(clipped, ea.around + eb.around);
      constant |= ea.constant || eb.constant;
      same &= same_block(a, b);
      for (int j = 0; j < clip_window; ++j)
        for (int k = 0; k < clip_window; ++k) {
          p[j][k] += opponent_forward[i][c] * a[j][k];
          q[j][k] += opponent_forward[i][c] * b[j][k];
        }
    }
  } else {
    load(from_, i, px, py, p);
    load(to_, i, qx, qy, q);
    const Ends ep = ends_of(p, range_.low[i], range_.high[i]);
    const Ends eq = ends_of(q, range_.low[i], range_.high[i]);
    out.channels[0] = channel_of(ep, eq, range_.low[i], range_.high[i]);
    clipped = ep.around + eq.around;
    constant = ep.constant || eq.constant;
    same = same_block(p, q);
  }
  out.clipped = static_cast<float>(clipped) / (2 * (side * side - clip_block * clip_block));
  measure(p, q, out);
  out.copied = same;
  out.constant = constant;
  return out;
}

}  // namespace lull
