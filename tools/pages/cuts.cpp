#include "tools/pages/cuts.h"

#include <algorithm>
#include <cmath>

#include "core/frame_pool.h"

namespace lull::tools {
namespace {

/// The axes of a cross-section: perpendicular, along the rows, and along the columns.
struct CutAxes {
  int across, along_row, along_column;
};
constexpr std::array<CutAxes, 3> cut_axes{{{2, 0, 1}, {1, 0, 2}, {0, 1, 2}}};

constexpr int gap = 4;  // black space between panels, in pixels

float sample_of(const Frame& slice, int x, int y) {
  switch (slice.format.sample) {
    case SampleType::u8:
      return static_cast<float>(slice.plane<std::uint8_t>(0)(x, y)) / 255;
    case SampleType::u16:
      return static_cast<float>(slice.plane<std::uint16_t>(0)(x, y)) /
             static_cast<float>(slice.format.full_scale());
    case SampleType::f32:
      return slice.plane<float>(0)(x, y) / slice.format.white;
  }
  return 0;
}

std::uint8_t byte_of(float v) {
  if (!(v > 0)) return 0;  // true also for NaN
  return static_cast<std::uint8_t>(std::lround(255 * std::min(v, 1.0f)));
}

/// Returns the sample of a difference picture: mid-grey plus the amplified difference, or mid-grey
/// if the difference is NaN.
std::uint8_t difference_of(float before, float after, int factor) {
  const float difference = static_cast<float>(factor) * (before - after);
  return std::isnan(difference) ? 128 : byte_of(128.0f / 255 + difference);
}

struct PanelSize {
  int width, height;
};

/// Returns the size of each cross-section in pixels. A pixel is as long as the shortest side of a
/// voxel, or longer if an axis would otherwise have more than 4096 pixels.
std::array<PanelSize, 3> panel_sizes(const CutGeometry& geometry) {
  constexpr double max_side = 4096;
  std::array<double, 3> length{};
  const double unit = std::ranges::min(geometry.spacing);
  for (int a = 0; a < 3; ++a) length[a] = geometry.size[a] * geometry.spacing[a] / unit;
  const double shrink = std::min(1.0, max_side / std::ranges::max(length));
  std::array<PanelSize, 3> sizes{};
  const auto pixels = [&](int axis) {
    return std::max(1, static_cast<int>(std::lround(length[axis] * shrink)));
  };
  for (int i = 0; i < 3; ++i)
    sizes[i] = {pixels(cut_axes[i].along_row), pixels(cut_axes[i].along_column)};
  return sizes;
}

}  // namespace

CutGeometry cut_geometry(const io::MediaSource& source, io::Axis axis) {
  const io::VideoInfo& info = source.info();
  CutGeometry geometry;
  geometry.of_slice = axis == io::Axis::x   ? std::array{1, 2, 0}
                      : axis == io::Axis::y ? std::array{0, 2, 1}
                                            : std::array{0, 1, 2};
  const std::int64_t slices = info.stack ? info.slices : info.frames_estimate;
  const std::array size{source.format().width, source.format().height, static_cast<int>(slices)};
  for (int i = 0; i < 3; ++i) {
    geometry.size[geometry.of_slice[i]] = size[i];
    geometry.spacing[geometry.of_slice[i]] = info.spacing[i];
  }
  for (int i = 0; i < 3; ++i) geometry.at[i] = geometry.size[i] / 2;
  geometry.upwards = info.volume;
  return geometry;
}

VolumeCuts::VolumeCuts(const CutGeometry& geometry) : geometry_(geometry) {
  for (int i = 0; i < 3; ++i)
    cuts_[i] =
        Plane<float>(geometry.size[cut_axes[i].along_row], geometry.size[cut_axes[i].along_column]);
}

void VolumeCuts::add(const Frame& slice, int number) {
  std::array<int, 3> at{};  // position along x, y, z
  const auto [row, column, order] = geometry_.of_slice;
  at[order] = number;
  for (int i = 0; i < 3; ++i) {
    const CutAxes& axes = cut_axes[i];
    const int position = geometry_.at[axes.across];
    if (order == axes.across && number != position) continue;
    const PlaneView<float> cut = cuts_[i].view();
    const bool one_x = row == axes.across, one_y = column == axes.across;
    for (int y = one_y ? position : 0; y < (one_y ? position + 1 : slice.format.height); ++y)
      for (int x = one_x ? position : 0; x < (one_x ? position + 1 : slice.format.width); ++x) {
        at[row] = x;
        at[column] = y;
        cut(at[axes.along_row], at[axes.along_column]) = sample_of(slice, x, y);
      }
  }
}

std::array<Frame, 3> cut_panels(const CutGeometry& geometry, const VolumeCuts& before,
                                const VolumeCuts& after, int i, int factor) {
  const PanelSize size = panel_sizes(geometry)[i];
  const PlaneView<const float> noisy = before.cut(i), clean = after.cut(i);
  FramePool pool({.width = size.width, .height = size.height});
  std::array<Frame, 3> panels{pool.acquire(), pool.acquire(), pool.acquire()};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const int from_x = static_cast<int>((x + 0.5) * noisy.width / size.width);
      const int row = static_cast<int>((y + 0.5) * noisy.height / size.height);
      const int from_y = geometry.upwards ? noisy.height - 1 - row : row;
      const float a = noisy(from_x, from_y), b = clean(from_x, from_y);
      panels[0].plane<std::uint8_t>(0)(x, y) = byte_of(a);
      panels[1].plane<std::uint8_t>(0)(x, y) = byte_of(b);
      panels[2].plane<std::uint8_t>(0)(x, y) = difference_of(a, b, factor);
    }
  return panels;
}

Frame cuts_picture(const CutGeometry& geometry, const VolumeCuts& before, const VolumeCuts& after,
                   int factor) {
  const std::array<PanelSize, 3> sizes = panel_sizes(geometry);
  const int column = std::ranges::max(sizes, {}, &PanelSize::width).width + gap;
  int height = 2 * gap;
  for (const PanelSize& size : sizes) height += size.height;
  FramePool pool({.width = 3 * column - gap, .height = height, .layout = Layout::rgb});
  Frame picture = pool.acquire();
  for (int plane = 0; plane < 3; ++plane)
    for (int y = 0; y < height; ++y)
      std::fill_n(picture.plane<std::uint8_t>(plane).row(y), picture.format.width, std::uint8_t{0});
  for (int i = 0, top = 0; i < 3; top += sizes[i++].height + gap) {
    const std::array<Frame, 3> panels = cut_panels(geometry, before, after, i, factor);
    for (int k = 0; k < 3; ++k)
      for (int plane = 0; plane < 3; ++plane)
        for (int y = 0; y < sizes[i].height; ++y)
          std::copy_n(panels[k].plane<std::uint8_t>(0).row(y), sizes[i].width,
                      picture.plane<std::uint8_t>(plane).row(top + y) + k * column);
  }
  return picture;
}

}  // namespace lull::tools
