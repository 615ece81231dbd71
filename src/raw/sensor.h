#pragma once
// The samples of a sensor with a Bayer mosaic, and their noise.

#include <array>
#include <cstdint>

namespace lull::raw {

/// Colours of the 2x2 sites of a Bayer mosaic, row by row: 0 red, 1 green, 2 blue. Green is on a
/// diagonal.
struct BayerPattern {
  std::array<std::uint8_t, 4> colours{0, 1, 1, 2};
  constexpr int at(int x, int y) const { return colours[(y & 1) * 2 + (x & 1)]; }
};

/// Samples of a sensor. The scaled value of a sample v is x = (v - black) / (white - black).
struct Sensor {
  BayerPattern pattern;
  std::array<float, 4> black{};  // one for each of the 2x2 sites
  float white = 65535;           // samples from here on are clipped
  /// White balance: factors for R, G and B, with 1 for G.
  std::array<float, 3> balance{1, 1, 1};

  constexpr float black_at(int x, int y) const { return black[(y & 1) * 2 + (x & 1)]; }
};

/// Independent noise of a sensor with the variance gain * x + offset at the scaled value x (Foi et
/// al. 2008, doi:10.1109/TIP.2008.2001399).
struct SensorNoise {
  double gain = 0, offset = 0;
  constexpr double variance(double x) const { return gain * (x > 0 ? x : 0) + offset; }
};

/// The noise of red, green and blue samples.
using ColourNoise = std::array<SensorNoise, 3>;

}  // namespace lull::raw
