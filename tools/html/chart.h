#pragma once
// Line charts and heat maps as SVG, for light and dark pages. The page must define the styles of
// `text` and `.grid`.

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
  std::string title, axis;  // `axis` is the label of the horizontal axis
  double left = 0, right = 1;
  double bottom = 0;
  double top = 0;               // maximum of the vertical axis; 0: a round number above the data
  std::vector<Curve> curves{};  // at most five fit into the legend
  std::vector<double> marks{};  // positions of vertical marks, such as scene changes
  int width = 380, height = 240;
};

/// Space around the curves for tick labels, title and axis, in SVG units.
inline constexpr int chart_left = 56, chart_top = 44, chart_right = 20, chart_bottom = 56;

/// Returns a round number, at least `value`, for the end of an axis.
[[nodiscard]] double round_up(double value);

/// Returns the SVG elements of a chart, without the <svg> element around them. The plot area begins
/// at (x, y).
[[nodiscard]] std::string chart_elements(const Chart& chart, double x, double y);
/// Returns the chart as an <svg> element.
[[nodiscard]] std::string svg_of(const Chart& chart);

/// Returns a heat map of the autocorrelation for lags -7..7 along x and y, without the lag (0, 0).
/// Positive values are orange, and negative values are blue.
[[nodiscard]] std::string heatmap(const Autocorrelation& lags, const std::string& title);

}  // namespace lull::tools
