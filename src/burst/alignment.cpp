#include "burst/alignment.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "burst/refinement.h"

namespace lull::burst {
namespace {

using View = PlaneView<const float>;

constexpr int least_side = 24;    // minimum side of the coarsest level
constexpr int tile = 16;          // side of a tile
constexpr int tiles_across = 24;  // maximum number of tiles along an axis
constexpr int reach = 2;          // search radius of a tile around its expected position
constexpr int fits = 6;  // number of fits; each fit excludes the outliers of the previous one
/// Maximum size, in samples, of pictures that the alignment refines at full size. The alignment
/// refines larger pictures at half size, which is accurate enough and less sensitive to noise.
constexpr double large = 1 << 20;

double squared_difference(View a, View b, int x, int y, int width, int height, int dx, int dy) {
  double sum = 0;
  for (int j = y; j < y + height; ++j) {
    const float* const p = a.row(j) + x;
    const float* const q = b.row(j + dy) + x + dx;
    float row = 0;
    for (int i = 0; i < width; ++i) row += (p[i] - q[i]) * (p[i] - q[i]);
    sum += static_cast<double>(row);
  }
  return sum;
}

struct Move {
  int x = 0, y = 0;
};

/// Returns the translation with the minimum cost, among translations for which the pictures overlap
/// by at least half of their size along each axis.
Move search_whole(View a, View b) {
  Move best;
  double least =
      squared_difference(a, b, 0, 0, a.width, a.height, 0, 0) / (1.0 * a.width * a.height);
  for (int dy = -a.height / 2; dy <= a.height / 2; ++dy)
    for (int dx = -a.width / 2; dx <= a.width / 2; ++dx) {
      const int width = a.width - std::abs(dx), height = a.height - std::abs(dy);
      const double sum =
          squared_difference(a, b, std::max(0, -dx), std::max(0, -dy), width, height, dx, dy);
      // Long translations cost more, because the pictures then overlap only in a small area, which
      // can be similar by chance.
      const double away = 1.0 * std::abs(dx) / a.width + 1.0 * std::abs(dy) / a.height;
      const double cost = sum / (1.0 * width * height) * (1 + away / 4);
      if (cost < least) least = cost, best = {dx, dy};
    }
  return best;
}

/// The centre of a tile, the position of its match in the other picture, and the weight of the
/// match.
struct Correspondence {
  double x, y, to_x, to_y, weight;
};

/// Returns the offset of the minimum of the parabola through three costs, at the offsets -1, 0 and
/// 1. `least`, the cost at offset 0, must be the smallest cost.
double parabola_vertex(double before, double least, double after) {
  const double curvature = before - 2 * least + after;
  return curvature > 0 ? std::clamp((before - after) / (2 * curvature), -0.5, 0.5) : 0;
}

/// Appends the match of the tile at (x, y), unless the minimum cost is at the edge of the search
/// window.
void match_tile(View a, View b, const Alignment& guess, int x, int y,
                std::vector<Correspondence>& correspondences) {
  const double middle_x = x + 0.5 * tile - 0.5 * a.width;
  const double middle_y = y + 0.5 * tile - 0.5 * a.height;
  const double to_x = guess.a * middle_x - guess.b * middle_y + guess.move_x;
  const double to_y = guess.b * middle_x + guess.a * middle_y + guess.move_y;
  const int dx = static_cast<int>(std::lround(to_x - middle_x));
  const int dy = static_cast<int>(std::lround(to_y - middle_y));
  if (x + dx < reach || y + dy < reach || x + dx + tile + reach > b.width ||
      y + dy + tile + reach > b.height)
    return;
  constexpr int side = 2 * reach + 1;
  std::array<double, side * side> cost;
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < side; ++i)
      cost[j * side + i] =
          squared_difference(a, b, x, y, tile, tile, dx + i - reach, dy + j - reach);
  const auto least = static_cast<int>(std::ranges::min_element(cost) - cost.begin());
  const int i = least % side, j = least / side;
  if (i == 0 || j == 0 || i == side - 1 || j == side - 1) return;
  const double left = cost[least - 1], right = cost[least + 1];
  const double above = cost[least - side], below = cost[least + side];
  // The cost has one curvature along x and one along y. The weight of a match is the square root of
  // the smaller curvature, because the position of the match is uncertain along an axis of low
  // curvature.
  const double curvature = std::min(left + right, above + below) - 2 * cost[least];
  if (curvature <= 0) return;
  correspondences.push_back({middle_x, middle_y,
                             middle_x + dx + i - reach + parabola_vertex(left, cost[least], right),
                             middle_y + dy + j - reach + parabola_vertex(above, cost[least], below),
                             std::sqrt(curvature)});
}

double distance(const Alignment& s, const Correspondence& t) {
  return std::hypot(s.a * t.x - s.b * t.y + s.move_x - t.to_x,
                    s.b * t.x + s.a * t.y + s.move_y - t.to_y);
}

/// The matches for which the error of `guess`, an approximate alignment, is at most `limit`
/// samples.
struct Inliers {
  const std::vector<Correspondence>& all;
  const Alignment& guess;
  double limit;
  template <class Use>
  void each(const Use& use) const {
    for (const Correspondence& t : all)
      if (distance(guess, t) <= limit) use(t);
  }
};

/// Fits a similarity transform to the inliers by least squares. If the inliers are close together,
/// fits only a translation. With fewer than three inliers, returns `guess`.
Alignment fit(const Inliers& correspondences) {
  const Alignment& guess = correspondences.guess;
  double w = 0, x = 0, y = 0, u = 0, v = 0;
  int count = 0;
  correspondences.each([&](const Correspondence& t) {
    w += t.weight, x += t.weight * t.x, y += t.weight * t.y;
    u += t.weight * t.to_x, v += t.weight * t.to_y;
    ++count;
  });
  if (count < 3) return guess;
  x /= w, y /= w, u /= w, v /= w;
  double square = 0, along = 0, across = 0;
  correspondences.each([&](const Correspondence& t) {
    const double px = t.x - x, py = t.y - y, qx = t.to_x - u, qy = t.to_y - v;
    square += t.weight * (px * px + py * py);
    along += t.weight * (px * qx + py * qy);
    across += t.weight * (px * qy - py * qx);
  });
  Alignment s{guess.a, guess.b};
  if (square > w * tile * tile) s = {along / square, across / square};
  s.move_x = u - s.a * x + s.b * y;
  s.move_y = v - s.b * x - s.a * y;
  return s;
}

double median_distance(const std::vector<Correspondence>& correspondences, const Alignment& s) {
  std::vector<double> all;
  for (const Correspondence& t : correspondences) all.push_back(distance(s, t));
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return *middle;
}

Alignment by_tiles(View a, View b, Alignment guess) {
  if (a.width < 2 * tile || a.height < 2 * tile) return guess;
  const auto spacing = [](int length) {
    return std::max(tile / 2, (length - tile) / (tiles_across - 1));
  };
  std::vector<Correspondence> correspondences;
  for (int y = 0; y + tile <= a.height; y += spacing(a.height))
    for (int x = 0; x + tile <= a.width; x += spacing(a.width))
      match_tile(a, b, guess, x, y, correspondences);
  if (correspondences.size() < 4) return guess;
  for (int k = 0; k < fits; ++k)
    guess =
        fit({correspondences, guess, std::max(0.5, 2 * median_distance(correspondences, guess))});
  return guess;
}

}  // namespace

Pyramid::Pyramid(PlaneView<const float> picture) {
  Plane<float>& own = planes_.emplace_back(picture.width, picture.height);
  for (int y = 0; y < picture.height; ++y)
    std::copy_n(picture.row(y), picture.width, own.view().row(y));
  for (;;) {
    const View from = level(levels() - 1);
    if (std::min(from.width, from.height) < 2 * least_side) return;
    Plane<float> half(from.width / 2, from.height / 2);
    const PlaneView<float> to = half.view();
    for (int y = 0; y < to.height; ++y)
      for (int x = 0; x < to.width; ++x)
        to(x, y) = (from(2 * x, 2 * y) + from(2 * x + 1, 2 * y) + from(2 * x, 2 * y + 1) +
                    from(2 * x + 1, 2 * y + 1)) /
                   4;
    planes_.push_back(std::move(half));
  }
}

Alignment find_alignment(const Pyramid& picture, const Pyramid& other) {
  const int last = picture.levels() - 1;
  const Move whole = search_whole(picture.level(last), other.level(last));
  Alignment found;
  found.move_x = whole.x, found.move_y = whole.y;
  const View whole_picture = picture.level(0);
  const int finest = 1.0 * whole_picture.width * whole_picture.height > large ? 1 : 0;
  for (int i = last; i >= 0; --i) {
    if (i >= finest) found = by_tiles(picture.level(i), other.level(i), found);
    if (i == std::min(finest, last)) found = refined(picture.level(i), other.level(i), found);
    if (i == 0) break;
    // If the size of the larger picture is odd, the centre of the half-size picture is half a
    // sample away from the centre of the larger picture. The function corrects the translation for
    // this difference.
    const View larger = picture.level(i - 1), smaller = picture.level(i);
    const double off_x = 0.5 * (larger.width - 2 * smaller.width);
    const double off_y = 0.5 * (larger.height - 2 * smaller.height);
    found.move_x = 2 * found.move_x + found.a * off_x - found.b * off_y - off_x;
    found.move_y = 2 * found.move_y + found.b * off_x + found.a * off_y - off_y;
  }
  return found;
}

}  // namespace lull::burst
