// Draws the noise charts of an input as one SVG picture, for light and dark pages.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "tools/html/markup.h"
#include "tools/noise/noise_charts.h"
#include "tools/noise/noise_text.h"

namespace lull::tools {

double spectrum_at(const PlaneNoise& plane, double frequency) {
  double power = 0;
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx) {
      const double phase = 2 * std::numbers::pi * frequency;
      power += plane.correlation_at(dx, dy) * (std::cos(phase * dx) + std::cos(phase * dy)) / 2;
    }
  return static_cast<double>(plane.sigma) * std::sqrt(std::max(power, 0.0));
}

NoiseCharts noise_charts(const NoiseEstimate& estimate, Layout of_frames) {
  constexpr const char* names[3][3] = {{"Y", "", ""}, {"Y", "Cb", "Cr"}, {"R", "G", "B"}};
  constexpr std::array colours{"#8a8a8a", "#3b82f6", "#e0533d"};
  constexpr std::array rgb_colours{"#e0533d", "#3aa655", "#3b82f6"};
  const int layout = static_cast<int>(of_frames);
  const int planes = of_frames == Layout::gray ? 1 : 3;
  const bool opponent = estimate.noise.is_of_opponents();
  const NoiseModel filtered =
      of_frames == Layout::rgb ? estimate.noise.in_opponent_space() : estimate.noise;
  std::vector<Curve> levels, spectra;
  for (int i = 0; i < planes; ++i) {
    const auto& palette = of_frames == Layout::rgb ? rgb_colours : colours;
    Curve level{names[layout][i], palette[i], {}}, spectrum = level;
    const PlaneNoise& plane = estimate.noise.plane(i);
    for (int k = 0; k < NoiseCurve::knots; ++k)
      level.points.emplace_back(k * NoiseCurve::spacing,
                                plane.curve ? plane.curve->sigma[k] : estimate.level[i]);
    if (opponent) spectrum = {std::array{"Y", "U", "V"}[i], colours[i], {}};
    const PlaneNoise& filtered_plane = opponent ? filtered.plane(i) : plane;
    for (int k = 0; k <= 32; ++k)
      spectrum.points.emplace_back(k / 64.0, spectrum_at(filtered_plane, k / 64.0));
    levels.push_back(std::move(level));
    spectra.push_back(std::move(spectrum));
  }
  return {.level = {.title = "level over brightness",
                    .axis = "brightness (8-bit levels)",
                    .right = 255,
                    .curves = std::move(levels)},
          .spectrum = {.title = "power spectrum (root)",
                       .axis = "cycles per sample",
                       .right = 0.5,
                       .curves = std::move(spectra)}};
}

std::string plot(const NoiseRecord& record, const std::string& title) {
  constexpr std::size_t max_scenes = 12;  // maximum number of scenes in a picture
  constexpr int gap = 90;
  const std::size_t count = std::min(record.scenes.size(), max_scenes);
  std::string charts;
  int width = 0, row = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const SceneNoise& scene = record.scenes[i];
    NoiseCharts drawing = noise_charts(scene.estimate, record.layout);
    std::string from;
    if (!scene.name.empty())
      from = ", " + scene.name;
    else if (record.scenes.size() > 1)
      from = printed(", from %.6g s", scene.from_s - record.scenes.front().from_s);
    drawing.level.title = title + from + ": " + drawing.level.title;
    width = drawing.level.width;
    row = chart_top + drawing.level.height + chart_bottom;
    const int top = static_cast<int>(i) * row + chart_top;
    charts += chart_elements(drawing.level, chart_left, top);
    charts += chart_elements(drawing.spectrum, chart_left + width + gap, top);
  }
  const int whole_width = 2 * (chart_left + width) + gap;
  const int whole_height = static_cast<int>(count) * row;
  std::string svg = printed(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
      "height=\"%d\" role=\"img\">\n",
      whole_width, whole_height, whole_width, whole_height);
  svg += "<title>" + escaped(title) + "</title>\n";
  svg +=
      "<style>svg{background:#fff;font:12px "
      "sans-serif}text{fill:#333}.grid{stroke:#ddd}.key{fill:#fff}"
      "@media(prefers-color-scheme:dark){svg{background:#1b1b1b}text{fill:#ddd}"
      ".grid{stroke:#444}.key{fill:#1b1b1b}}</style>\n";
  return svg + charts + "</svg>\n";
}

}  // namespace lull::tools
