#include "raw/directional.h"

#include <tbb/parallel_for.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "core/colour.h"
#include "core/plane.h"
#include "raw/mirrored_rows.h"

namespace lull::raw {
namespace {

/// Width of the border in samples. The width must be an even number, to preserve the Bayer pattern,
/// and at least 10, because run() computes no valid results in the outermost 10 samples.
constexpr int border = 12;

/// The intermediate planes of directional demosaicing, with a border. The valid part of the border
/// shrinks with each step.
class Directional {
 public:
  Directional(PlaneView<const float> mosaic, const BayerPattern& pattern)
      : pattern_(pattern),
        width_(mosaic.width + 2 * border),
        height_(mosaic.height + 2 * border),
        across_(width_, height_),
        down_(width_, height_),
        horizontal_(width_, height_),
        rgb_{Plane<float>(width_, height_), Plane<float>(width_, height_),
             Plane<float>(width_, height_)} {
    for_sites(0, [&](int x, int y) {
      const float v =
          mosaic(mirrored(x - border, mosaic.width), mirrored(y - border, mosaic.height));
      for (Plane<float>& plane : rgb_) plane.view()(x, y) = v;
    });
  }

  void run() {
    compare_directions();
    choose_green();
    add_colours_at_green_sites(6);
    add_opposite_colours(7);
    refine_green(8);
    add_colours_at_green_sites(9);
    refine_opposite_colours(10);
  }

  void copy_to(const std::array<PlaneView<float>, 3>& rgb) {
    tbb::parallel_for(0, rgb[0].height, [&](int y) {
      for (int c = 0; c < 3; ++c)
        std::copy_n(rgb_[c].view().row(y + border) + border, rgb[c].width, rgb[c].row(y));
    });
  }

 private:
  template <class Function>
  void for_sites(int margin, const Function& function) {
    tbb::parallel_for(margin, height_ - margin, [&](int y) {
      for (int x = margin; x < width_ - margin; ++x) function(x, y);
    });
  }

  /// Computes the colour difference (sample minus interpolated green) at red and blue sites. The
  /// function interpolates green along rows for `across_`, and along columns for `down_`. The
  /// values at green sites are 0.
  void compare_directions() {
    const PlaneView<const float> s = rgb_[0].view();
    const PlaneView<float> across = across_.view(), down = down_.view();
    for_sites(2, [&](int x, int y) {
      across(x, y) = down(x, y) = 0;
      if (pattern_.at(x, y) == 1) return;
      const float v = s(x, y);
      const float along_row =
          (s(x - 1, y) + s(x + 1, y)) / 2 + (2 * v - s(x - 2, y) - s(x + 2, y)) / 4;
      const float along_column =
          (s(x, y - 1) + s(x, y + 1)) / 2 + (2 * v - s(x, y - 2) - s(x, y + 2)) / 4;
      across(x, y) = v - along_row;
      down(x, y) = v - along_column;
    });
  }

  /// Chooses, at each site, the direction in which the colour difference varies less. Then computes
  /// green at red and blue sites.
  void choose_green() {
    const PlaneView<const float> across = across_.view(), down = down_.view();
    const PlaneView<std::uint8_t> horizontal = horizontal_.view();
    const PlaneView<float> green = rgb_[1].view();
    const auto h = [&](int x, int y) { return std::abs(across(x, y) - across(x + 2, y)); };
    const auto v = [&](int x, int y) { return std::abs(down(x, y) - down(x, y + 2)); };
    for_sites(6, [&](int x, int y) {
      const float along_row = 3 * (h(x, y) + h(x - 2, y)) + h(x, y - 2) + h(x - 2, y - 2) +
                              h(x, y + 2) + h(x - 2, y + 2) + h(x - 1, y - 1) + h(x - 1, y + 1);
      const float along_column = 3 * (v(x, y) + v(x, y - 2)) + v(x - 2, y) + v(x - 2, y - 2) +
                                 v(x + 2, y) + v(x + 2, y - 2) + v(x - 1, y - 1) + v(x + 1, y - 1);
      horizontal(x, y) = along_column >= along_row;
      if (pattern_.at(x, y) != 1) green(x, y) -= horizontal(x, y) ? across(x, y) : down(x, y);
    });
  }

  /// Computes red and blue at green sites: green plus the mean colour difference of the two nearest
  /// sites.
  void add_colours_at_green_sites(int margin) {
    const PlaneView<const float> green = rgb_[1].view();
    for_sites(margin, [&](int x, int y) {
      if (pattern_.at(x, y) != 1) return;
      for (int c = 0; c < 3; c += 2) {
        const PlaneView<float> colour = rgb_[c].view();
        const int dx = pattern_.at(x + 1, y) == c, dy = 1 - dx;
        colour(x, y) = green(x, y) + (colour(x - dx, y - dy) - green(x - dx, y - dy) +
                                      colour(x + dx, y + dy) - green(x + dx, y + dy)) /
                                         2;
      }
    });
  }

  /// Computes red at blue sites and blue at red sites, along the chosen direction.
  void add_opposite_colours(int margin) {
    for_sites(margin, [&](int x, int y) {
      const int own = pattern_.at(x, y);
      if (own == 1) return;
      const PlaneView<float> from = rgb_[own].view(), to = rgb_[2 - own].view();
      const int dx = horizontal_.view()(x, y), dy = 1 - dx;
      to(x, y) = from(x, y) + (to(x - dx, y - dy) - from(x - dx, y - dy) + to(x + dx, y + dy) -
                               from(x + dx, y + dy)) /
                                  2;
    });
  }

  /// Returns the mean of a - b over the site (x, y) and its two neighbours along the chosen
  /// direction.
  float smooth_difference(PlaneView<const float> a, PlaneView<const float> b, int x, int y) {
    const int dx = horizontal_.view()(x, y), dy = 1 - dx;
    return (a(x - dx, y - dy) - b(x - dx, y - dy) + a(x, y) - b(x, y) + a(x + dx, y + dy) -
            b(x + dx, y + dy)) /
           3;
  }

  void refine_green(int margin) {
    const PlaneView<float> green = rgb_[1].view();
    for_sites(margin, [&](int x, int y) {
      const int own = pattern_.at(x, y);
      if (own == 1) return;
      const PlaneView<const float> colour = rgb_[own].view();
      green(x, y) = colour(x, y) - smooth_difference(colour, green, x, y);
    });
  }

  void refine_opposite_colours(int margin) {
    for_sites(margin, [&](int x, int y) {
      const int own = pattern_.at(x, y);
      if (own == 1) return;
      const PlaneView<float> from = rgb_[own].view(), to = rgb_[2 - own].view();
      to(x, y) = from(x, y) + smooth_difference(to, from, x, y);
    });
  }

  BayerPattern pattern_;
  int width_, height_;
  Plane<float> across_, down_;
  Plane<std::uint8_t> horizontal_;
  std::array<Plane<float>, 3> rgb_;
};

}  // namespace

void demosaic_along_edges(PlaneView<const float> mosaic, const BayerPattern& pattern,
                          const std::array<PlaneView<float>, 3>& rgb) {
  Directional planes(mosaic, pattern);
  planes.run();
  planes.copy_to(rgb);
}

NoiseModel measured_noise(const BayerPattern& pattern, const std::array<float, 3>& sigma) {
  constexpr int side = 384;
  std::array<Plane<float>, 3> planes{Plane<float>(side, side), Plane<float>(side, side),
                                     Plane<float>(side, side)};
  const std::array<PlaneView<float>, 3> rgb{planes[0].view(), planes[1].view(), planes[2].view()};
  Plane<float> mosaic(side, side);
  std::mt19937 rng(1);  // its numbers are the same everywhere, unlike those of distributions
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      double sum = -6;  // the sum of 12 uniform numbers is close to normal
      for (int i = 0; i < 12; ++i) sum += static_cast<double>(rng()) / 4294967296.0;
      mosaic.view()(x, y) = sigma[pattern.at(x, y)] * static_cast<float>(sum);
    }
  demosaic_along_edges(mosaic.view(), pattern, rgb);
  apply_colour_matrix(opponent_forward, rgb);
  constexpr int reach = 5, inner = side - 2 * reach;
  std::array<PlaneNoise, 3> opponents;
  for (int o = 0; o < 3; ++o) {
    const auto covariance = [&](int dx, int dy) {
      std::vector<double> rows(inner);
      tbb::parallel_for(0, inner, [&](int y) {
        for (int x = reach; x < side - reach; ++x)
          rows[y] += static_cast<double>(rgb[o](x, y + reach)) *
                     static_cast<double>(rgb[o](x + dx, y + reach + dy));
      });
      double sum = 0;
      for (const double row : rows) sum += row;
      return sum / (inner * inner);
    };
    const double variance = covariance(0, 0);
    opponents[o].sigma = static_cast<float>(std::sqrt(variance));
    if (variance == 0) continue;
    auto lags = std::make_shared<Autocorrelation>();
    for (int dy = 0; dy <= reach; ++dy)
      for (int dx = -reach; dx <= reach; ++dx) {
        double value = covariance(dx, dy) / variance;
        if (std::abs(value) < 0.008) value = 0;  // the error of the measurement
        (*lags)[lag_index(dx, dy)] = (*lags)[lag_index(-dx, -dy)] = static_cast<float>(value);
      }
    (*lags)[lag_index(0, 0)] = 1;
    opponents[o].correlation = std::move(lags);
  }
  return NoiseModel::of_opponents(opponents);
}

}  // namespace lull::raw
