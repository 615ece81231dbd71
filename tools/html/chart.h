#pragma once
// Curves as SVG, made by hand, readable in light and dark. Who shows them says how `text` and
// `.grid` look.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "noise/noise_model.h"

namespace lull::tools {

struct Curve {
  std::string name, colour;
  std::vector<std::pair<double, double>> points;
};

struct Chart {
  std::string title, axis;  // axis: the name of what goes to the right
  double left = 0, right = 1;
  double bottom = 0;
  double top = 0;               // 0: a round number from the greatest value on
  std::vector<Curve> curves{};  // no more than five fit the key
  std::vector<double> marks{};  // where something begins
  int width = 380, height = 240;
};

/// Room around the curves: for numbers, title and axis.
inline constexpr int chart_left = 56, chart_top = 44, chart_right = 20, chart_bottom = 56;

/// A round number from `value` on, for the end of an axis.
[[nodiscard]] double round_up(double value);

/// The elements of a chart whose curves begin at (x, y); not an SVG element of its own.
[[nodiscard]] std::string drawn(const Chart& chart, double x, double y);
/// An SVG element.
[[nodiscard]] std::string svg_of(const Chart& chart);

/// The autocorrelation of noise as squares: lags from -7 to 7 along x and y, nothing grey, orange
/// above, blue below; the one in the middle is left out.
[[nodiscard]] std::string heatmap(const Autocorrelation& lags, const std::string& title);

}  // namespace lull::tools
