#include "io/metadata/orientation.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/error.h"

namespace lull::io {
namespace {

/// A rotation or reflection: the sample at (x, y) moves to (a * x + c * y, b * x + d * y) plus an
/// offset.
struct Turn {
  int a, b, c, d;
  bool operator==(const Turn&) const = default;
};
/// The rotation or reflection for each of the orientations 1..8 (EXIF 2.32, tag 0x0112). For each
/// orientation, EXIF states which sides of the displayed picture show row 0 and column 0.
constexpr std::array<Turn, 8> turns{{{1, 0, 0, 1},
                                     {-1, 0, 0, 1},
                                     {-1, 0, 0, -1},
                                     {1, 0, 0, -1},
                                     {0, 1, 1, 0},
                                     {0, 1, -1, 0},
                                     {0, -1, -1, 0},
                                     {0, -1, 1, 0}}};

constexpr std::int32_t one = 1 << 16;  // in the matrix's numbers of 16.16 bits

/// Returns the pixel stride of plane `plane` in bytes.
int pixel_bytes(const AVPixFmtDescriptor& format, int plane) {
  int bytes = 0;
  for (int i = 0; i < format.nb_components; ++i)
    if (format.comp[i].plane == plane) bytes = std::max(bytes, format.comp[i].step);
  return bytes;
}

template <int Bytes>
void rotate_plane(const AVFrame& from, int plane, const Turn& turn, AVFrame& to) {
  const std::ptrdiff_t step_x = turn.a * Bytes + std::ptrdiff_t{turn.b} * to.linesize[plane];
  const std::ptrdiff_t step_y = turn.c * Bytes + std::ptrdiff_t{turn.d} * to.linesize[plane];
  const std::ptrdiff_t first_x = turn.a + turn.c < 0 ? to.width - 1 : 0;
  const std::ptrdiff_t first_y = turn.b + turn.d < 0 ? to.height - 1 : 0;
  std::uint8_t* start = to.data[plane] + first_y * to.linesize[plane] + first_x * Bytes;
  for (int y = 0; y < from.height; ++y) {
    const std::uint8_t* in = from.data[plane] + std::ptrdiff_t{y} * from.linesize[plane];
    std::uint8_t* out = start + y * step_y;
    for (int x = 0; x < from.width; ++x, in += Bytes, out += step_x) std::memcpy(out, in, Bytes);
  }
}

void rotate_plane(const AVFrame& from, int plane, int bytes, const Turn& turn, AVFrame& to) {
  switch (bytes) {
    case 1:
      return rotate_plane<1>(from, plane, turn, to);
    case 2:
      return rotate_plane<2>(from, plane, turn, to);
    case 3:
      return rotate_plane<3>(from, plane, turn, to);
    case 4:
      return rotate_plane<4>(from, plane, turn, to);
    case 6:
      return rotate_plane<6>(from, plane, turn, to);
    case 8:
      return rotate_plane<8>(from, plane, turn, to);
    default:
      throw InternalError("a pixel format that cannot be rotated");
  }
}

}  // namespace

DisplayMatrix display_matrix(int orientation) {
  const Turn& turn = turns.at(static_cast<std::size_t>(orientation - 1));
  return {turn.a * one, turn.b * one, 0, turn.c * one, turn.d * one, 0, 0, 0, 1 << 30};
}

std::optional<int> orientation_of(std::span<const std::uint8_t> matrix) {
  DisplayMatrix m;
  if (matrix.size() < sizeof m) return 1;
  std::memcpy(m.data(), matrix.data(), sizeof m);
  if (std::ranges::any_of(m, [](std::int32_t value) { return value == INT32_MIN; }))
    return std::nullopt;
  const auto rounded = [&](int i) {
    return m[i] == one ? 1 : m[i] == -one ? -1 : m[i] == 0 ? 0 : 2;
  };
  const Turn turn{rounded(0), rounded(1), rounded(3), rounded(4)};
  const auto* found = std::ranges::find(turns, turn);
  if (found == turns.end()) return std::nullopt;
  return static_cast<int>(found - turns.begin()) + 1;
}

int combined_orientation(int first, int second) {
  const Turn& m = turns.at(static_cast<std::size_t>(first - 1));
  const Turn& n = turns.at(static_cast<std::size_t>(second - 1));
  const Turn both{n.a * m.a + n.c * m.b, n.b * m.a + n.d * m.b, n.a * m.c + n.c * m.d,
                  n.b * m.c + n.d * m.d};
  return static_cast<int>(std::ranges::find(turns, both) - turns.begin()) + 1;
}

bool can_rotate(AVPixelFormat format) {
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(format);
  constexpr std::uint64_t unsupported =
      AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL;
  return d && d->log2_chroma_w == 0 && d->log2_chroma_h == 0 && (d->flags & unsupported) == 0;
}

void rotate_samples(const AVFrame& from, int orientation, AVFrame& to) {
  const auto format = static_cast<AVPixelFormat>(from.format);
  if (!can_rotate(format)) throw InternalError("a pixel format that cannot be rotated");
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(format);
  const Turn& turn = turns.at(static_cast<std::size_t>(orientation - 1));
  for (int plane = 0; plane < av_pix_fmt_count_planes(format); ++plane)
    rotate_plane(from, plane, pixel_bytes(d, plane), turn, to);
}

}  // namespace lull::io
