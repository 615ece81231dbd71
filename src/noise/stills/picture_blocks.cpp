#include "noise/stills/picture_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/bases.h"
#include "core/colour.h"
#include "core/float_range.h"
#include "core/samples.h"

namespace lull {
namespace {

constexpr int side = PictureBlocks::side;

/// An extreme value of a plane (minimum or maximum) is a clipping limit if more than this share of
/// the samples have the value.
constexpr double piled_up = 0.002;

/// Maximum range of the samples of a letterbox row or column, on the 0..255 scale.
constexpr float letterbox_range = 3.5f;

struct Rectangle {
  int x = 0, y = 0, width = 0, height = 0;
};

void mark_out_of_range(PlaneView<float> plane) {
  for (int y = 0; y < plane.height; ++y)
    for (float* v = plane.row(y); v != plane.row(y) + plane.width; ++v)
      if (!FloatGuard::is_in_filter_range(*v)) *v = std::numeric_limits<float>::quiet_NaN();
}

/// Finds the clipping limits of the pictures. Comparisons with NaN are false, so NaN has no effect.
ClipBounds bounds_of(std::span<const Plane<float>> pictures, const FrameFormat& format) {
  float minimum = std::numeric_limits<float>::infinity(), maximum = -minimum;
  const auto each = [&](auto&& f) {
    for (const Plane<float>& picture : pictures)
      for (int y = 0; y < picture.height(); ++y) {
        const float* row = picture.view().row(y);
        for (int x = 0; x < picture.width(); ++x) f(row[x]);
      }
  };
  each([&](float v) {
    minimum = v < minimum ? v : minimum;
    maximum = v > maximum ? v : maximum;
  });
  std::size_t at_minimum = 0, at_maximum = 0, all = 0;
  each([&](float v) {
    at_minimum += v == minimum;
    at_maximum += v == maximum;
    all += v == v;
  });
  ClipBounds bounds;
  if (format.sample != SampleType::f32) bounds = {0, 255};
  if (minimum > bounds.low && static_cast<double>(at_minimum) > piled_up * static_cast<double>(all))
    bounds.low = minimum;
  if (maximum<bounds.high&& static_cast<double>(at_maximum)> piled_up * static_cast<double>(all))
    bounds.high = maximum;
  return bounds;
}

/// Returns whether the samples of a row or column are similar enough for a letterbox. `stride` is
/// the distance between two of these samples, in elements.
bool may_be_letterbox(const float* samples, int count, std::ptrdiff_t stride) {
  float minimum = samples[0], maximum = samples[0];
  for (int i = 1; i < count; ++i) {
    minimum = std::min(minimum, samples[i * stride]);
    maximum = std::max(maximum, samples[i * stride]);
  }
  return maximum - minimum <= letterbox_range;
}

/// Returns the picture without its letterbox, or the whole picture if nothing would remain.
Rectangle content(PlaneView<const float> p) {
  int left = 0, top = 0, right = p.width, bottom = p.height;
  while (top < bottom && may_be_letterbox(p.row(top), p.width, 1)) ++top;
  while (bottom > top && may_be_letterbox(p.row(bottom - 1), p.width, 1)) --bottom;
  if (top == bottom) return {0, 0, p.width, p.height};
  const int rows = bottom - top;
  while (left < right && may_be_letterbox(p.row(top) + left, rows, p.stride)) ++left;
  while (right > left && may_be_letterbox(p.row(top) + right - 1, rows, p.stride)) --right;
  return {left, top, right - left, rows};
}

/// Returns a rectangle of each picture that excludes the letterbox. All rectangles have the same
/// size. Each rectangle lies at the centre of the picture's area inside the letterbox.
std::vector<Rectangle> contents(const PlaneStack& stack) {
  std::vector<Rectangle> all;
  int width = std::numeric_limits<int>::max(), height = width;
  for (const Plane<float>& picture : stack.pictures) {
    all.push_back(content(picture.view()));
    width = std::min(width, all.back().width);
    height = std::min(height, all.back().height);
  }
  for (Rectangle& r : all)
    r = {r.x + (r.width - width) / 2, r.y + (r.height - height) / 2, width, height};
  return all;
}

int clipped_samples(const PlaneView<const float>& plane, int x, int y, const ClipBounds& bounds) {
  int clipped = 0, numbers = 0;
  for (int j = 0; j < side; ++j) {
    const float* row = plane.row(y + j) + x;
    for (int i = 0; i < side; ++i) {
      clipped += row[i] <= bounds.low || row[i] >= bounds.high;
      numbers += row[i] == row[i];
    }
  }
  return numbers == side * side ? clipped : PictureBlocks::unusable;
}

bool is_constant(const PlaneView<const float>& plane, int x, int y) {
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < side; ++i)
      if (plane(x + i, y + j) != plane(x, y)) return false;
  return true;
}

}  // namespace

PlaneStack load_stack(std::span<const Frame> frames, int i) {
  PlaneStack stack;
  for (const Frame& frame : frames) {
    Plane<float> plane(frame.format.plane_width(i), frame.format.plane_height(i));
    load_plane(frame, i, plane.view());
    if (frame.format.sample == SampleType::f32) mark_out_of_range(plane.view());
    stack.pictures.push_back(std::move(plane));
  }
  stack.bounds = bounds_of(stack.pictures, frames.front().format);
  return stack;
}

PlaneStack opponent_plane(std::span<const PlaneStack> rgb, int i) {
  PlaneStack stack;
  for (std::size_t n = 0; n < rgb[0].pictures.size(); ++n) {
    const int width = rgb[0].pictures[n].width(), height = rgb[0].pictures[n].height();
    Plane<float> plane(width, height);
    for (int y = 0; y < height; ++y) {
      const float* in[3];
      for (int c = 0; c < 3; ++c) in[c] = rgb[c].pictures[n].view().row(y);
      float* out = plane.view().row(y);
      const float* m = opponent_forward[i];
      for (int x = 0; x < width; ++x) out[x] = m[0] * in[0][x] + m[1] * in[1][x] + m[2] * in[2][x];
    }
    stack.pictures.push_back(std::move(plane));
  }
  return stack;
}

PictureBlocks cut_blocks(const PlaneStack& filtered_plane, std::span<const PlaneStack> sources,
                         std::size_t max_blocks) {
  const std::vector<Rectangle> rectangles = contents(filtered_plane);
  const int width = rectangles.front().width, height = rectangles.front().height;
  PictureBlocks blocks;
  if (width < side || height < side) return blocks;
  // The stride of the blocks is an odd number of samples, so that the blocks lie at all offsets
  // relative to the block grid of a codec.
  const auto along = [&](int length) { return (length - side) / blocks.step + 1; };
  const auto pictures = filtered_plane.pictures.size();
  blocks.step = 1;
  while (static_cast<std::size_t>(along(width)) * along(height) * pictures > max_blocks &&
         (blocks.step < 3 || along(width) * along(height) > 64))
    blocks.step += 2;
  blocks.columns = along(width);
  blocks.rows = along(height);
  for (std::size_t n = 0; n < pictures; ++n) {
    const Rectangle& r = rectangles[n];
    blocks.corners.insert(blocks.corners.end(), {r.x, r.y});
    for (int y = r.y; y + side <= r.y + height; y += blocks.step)
      for (int x = r.x; x + side <= r.x + width; x += blocks.step) {
        int clipped = clipped_samples(filtered_plane.pictures[n].view(), x, y, {});
        for (const PlaneStack& source : sources)
          clipped =
              std::max(clipped, clipped_samples(source.pictures[n].view(), x, y, source.bounds));
        if (clipped != PictureBlocks::unusable &&
            is_constant(filtered_plane.pictures[n].view(), x, y)) {
          blocks.constant += clipped == 0;
          clipped = PictureBlocks::unusable;
        }
        blocks.clipped.push_back(static_cast<std::uint8_t>(clipped));
      }
  }
  return blocks;
}

std::vector<float> coefficients(const PlaneStack& plane, const PictureBlocks& blocks) {
  const auto& rows = float_dct_rows<8>();
  float columns[side][side];  // [i][k]: element i of basis function k
  for (int k = 0; k < side; ++k)
    for (int i = 0; i < side; ++i) columns[i][k] = rows[k][i];
  std::vector<float> result(blocks.size() * 64);
  const std::size_t in_picture = static_cast<std::size_t>(blocks.columns) * blocks.rows;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks.clipped[b] == PictureBlocks::unusable) continue;
    const std::size_t n = b / in_picture, at = b % in_picture;
    const int x = blocks.corners[2 * n] + static_cast<int>(at % blocks.columns) * blocks.step;
    const int y = blocks.corners[2 * n + 1] + static_cast<int>(at / blocks.columns) * blocks.step;
    float across[side][side] = {};
    for (int j = 0; j < side; ++j) {
      const float* row = plane.pictures[n].view().row(y + j) + x;
      for (int i = 0; i < side; ++i)
        for (int u = 0; u < side; ++u) across[j][u] += row[i] * columns[i][u];
    }
    float* out = &result[b * 64];
    for (int j = 0; j < side; ++j)
      for (int v = 0; v < side; ++v)
        for (int u = 0; u < side; ++u) out[v * side + u] += columns[j][v] * across[j][u];
  }
  return result;
}

}  // namespace lull
