// The noise of an input as a picture: SVG, made by hand, readable in light and dark.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "tools/noise/noise_text.h"

namespace lull::tools {
namespace {

constexpr int width = 380, height = 240, margin_left = 56, margin_top = 44, gap = 90;

struct Curve {
  std::string name, colour;
  std::vector<std::pair<double, double>> points;
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

template <class... Values>
std::string printed(const char* format, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return printed("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor) + escaped(text) +
         "</text>\n";
}

/// A round number from `value` on, for the end of an axis.
double round_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(std::max(value, 1e-6))));
  for (const double step : {1.0, 2.0, 5.0, 10.0})
    if (step * power >= value) return step * power;
  return value;
}

/// Axes from (0, 0) to (right, top), and the curves in them.
std::string chart(double left, const std::string& title, const std::string& axis, double right,
                  const std::vector<Curve>& curves) {
  double most = 0;
  for (const Curve& curve : curves)
    for (const auto& [x, y] : curve.points) most = std::max(most, y);
  const double top = round_up(most);
  const double bottom = margin_top + height;
  std::string svg = label(left, margin_top - 14, "start", title);
  for (int i = 0; i <= 4; ++i) {
    const double y = bottom - height * i / 4.0, x = left + width * i / 4.0;
    svg += printed("<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", left,
                   y, left + width, y);
    svg += label(left - 6, y + 4, "end", printed("%.3g", top * i / 4));
    svg += label(x, bottom + 18, "middle", printed("%.3g", right * i / 4));
  }
  svg += label(left + width / 2.0, bottom + 38, "middle", axis);
  double at = margin_top + 16;
  for (const Curve& curve : curves) {
    svg += "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + curve.colour + "\" points=\"";
    for (const auto& [x, y] : curve.points)
      svg += printed("%.1f,%.1f ", left + width * x / right, bottom - height * y / top);
    svg += "\"/>\n" +
           printed("<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"3\" fill=\"",
                   left + width - 60, at - 5) +
           curve.colour + "\"/>\n" + label(left + width - 42, at, "start", curve.name);
    at += 16;
  }
  return svg;
}

/// The power spectrum at `frequency` (cycles per sample, 0 .. 1/2), the mean of those along both
/// axes, in levels for each root of a sample: white noise has its level everywhere.
double spectrum_at(const PlaneNoise& plane, double frequency) {
  double power = 0;
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx) {
      const double turn = 2 * std::numbers::pi * frequency;
      power += plane.correlation_at(dx, dy) * (std::cos(turn * dx) + std::cos(turn * dy)) / 2;
    }
  return static_cast<double>(plane.sigma) * std::sqrt(std::max(power, 0.0));
}

}  // namespace

std::string plot(const NoiseRecord& record, const std::string& title) {
  constexpr const char* names[3][3] = {{"Y", "", ""}, {"Y", "Cb", "Cr"}, {"R", "G", "B"}};
  constexpr std::array colours{"#8a8a8a", "#3b82f6", "#e0533d"};
  constexpr std::array rgb_colours{"#e0533d", "#3aa655", "#3b82f6"};
  const NoiseEstimate& estimate = record.scenes.front().estimate;
  const int layout = static_cast<int>(record.layout);
  const int planes = record.layout == Layout::gray ? 1 : 3;
  const bool opponent = estimate.noise.is_of_opponents();
  const NoiseModel filtered =
      record.layout == Layout::rgb ? estimate.noise.in_opponent_space() : estimate.noise;
  std::vector<Curve> levels, spectra;
  for (int i = 0; i < planes; ++i) {
    const auto& palette = record.layout == Layout::rgb ? rgb_colours : colours;
    Curve level{names[layout][i], palette[i], {}}, spectrum = level;
    const PlaneNoise& plane = estimate.noise.plane(i);
    for (int k = 0; k < NoiseCurve::knots; ++k)
      level.points.emplace_back(k * NoiseCurve::spacing,
                                plane.curve ? plane.curve->sigma[k] : estimate.level[i]);
    if (opponent) spectrum = {std::array{"Y", "U", "V"}[i], colours[i], {}};
    const PlaneNoise& shown = opponent ? filtered.plane(i) : plane;
    for (int k = 0; k <= 32; ++k)
      spectrum.points.emplace_back(k / 64.0, spectrum_at(shown, k / 64.0));
    levels.push_back(std::move(level));
    spectra.push_back(std::move(spectrum));
  }
  const int whole_width = 2 * (margin_left + width) + gap, whole_height = margin_top + height + 56;
  std::string svg = printed(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
      "height=\"%d\" role=\"img\">\n",
      whole_width, whole_height, whole_width, whole_height);
  svg += "<title>" + escaped(title) + "</title>\n";
  svg +=
      "<style>svg{background:#fff;font:12px sans-serif}text{fill:#333}.grid{stroke:#ddd}"
      "@media(prefers-color-scheme:dark){svg{background:#1b1b1b}text{fill:#ddd}"
      ".grid{stroke:#444}}</style>\n";
  svg += chart(margin_left, title + ": level over brightness", "brightness (8-bit levels)", 255,
               levels);
  svg +=
      chart(margin_left + width + gap, "power spectrum (root)", "cycles per sample", 0.5, spectra);
  return svg + "</svg>\n";
}

}  // namespace lull::tools
