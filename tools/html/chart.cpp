#include "tools/html/chart.h"

#include <algorithm>
#include <cmath>

#include "tools/html/markup.h"

namespace lull::tools {
namespace {

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return printed("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor) + escaped(text) +
         "</text>\n";
}

std::string line(const char* kind, double x1, double y1, double x2, double y2) {
  return printed("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", kind, x1,
                 y1, x2, y2);
}

double top_of(const Chart& chart) {
  if (chart.top != 0) return chart.top;
  double max_value = 0;
  for (const Curve& curve : chart.curves)
    for (const auto& [x, y] : curve.points)
      if (std::isfinite(y)) max_value = std::max(max_value, y);
  return round_up(max_value);
}

/// Returns the legend, with its top right corner at (right, above) and a semi-transparent
/// background.
std::string legend_of(const Chart& chart, double right, double above) {
  std::size_t max_length = 0;
  for (const Curve& curve : chart.curves) max_length = std::max(max_length, curve.name.size());
  if (max_length == 0) return {};
  const double width = 34 + 7.0 * static_cast<double>(max_length), left = right - width - 4;
  std::string svg = printed(
      "<rect class=\"key\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
      "fill-opacity=\"0.8\"/>\n",
      left, above + 4, width, 16.0 * static_cast<double>(chart.curves.size()) + 6);
  double at = above + 20;
  for (const Curve& curve : chart.curves) {
    svg +=
        printed("<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"3\" fill=\"", left + 6, at - 5) +
        curve.colour + "\"/>\n" + label(left + 24, at, "start", curve.name);
    at += 16;
  }
  return svg;
}

/// Returns the colour of a value: mid-grey for 0, orange for `max_value`, blue for -`max_value`.
std::string colour_of(double value, double max_value) {
  constexpr double grey[3] = {128, 128, 128}, warm[3] = {240, 130, 30}, cold[3] = {40, 110, 240};
  const double share = std::clamp(std::abs(value) / max_value, 0.0, 1.0);
  const auto& end = value > 0 ? warm : cold;
  int rgb[3];
  for (int i = 0; i < 3; ++i)
    rgb[i] = static_cast<int>(std::lround(grey[i] + share * (end[i] - grey[i])));
  return printed("#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

}  // namespace

double round_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(std::max(value, 1e-6))));
  for (const double step : {1.0, 2.0, 5.0, 10.0})
    if (step * power >= value) return step * power;
  return value;
}

std::string chart_elements(const Chart& chart, double left, double above) {
  const double top = top_of(chart), bottom = above + chart.height;
  const auto place_x = [&](double x) {
    return left + chart.width * (x - chart.left) / (chart.right - chart.left);
  };
  const auto place_y = [&](double y) {
    const double share = (y - chart.bottom) / (top - chart.bottom);
    return bottom - chart.height * std::clamp(share, 0.0, 1.0);
  };
  std::string svg = label(left, above - 14, "start", chart.title);
  for (int i = 0; i <= 4; ++i) {
    const double y = bottom - chart.height * i / 4.0, x = left + chart.width * i / 4.0;
    svg += line("grid", left, y, left + chart.width, y);
    svg +=
        label(left - 6, y + 4, "end", printed("%.3g", chart.bottom + (top - chart.bottom) * i / 4));
    svg += label(x, bottom + 18, "middle",
                 printed("%.4g", chart.left + (chart.right - chart.left) * i / 4));
  }
  svg += label(left + chart.width / 2.0, bottom + 38, "middle", chart.axis);
  for (const double mark : chart.marks)
    svg += line("mark", place_x(mark), above, place_x(mark), bottom);
  for (const Curve& curve : chart.curves) {
    svg += "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + curve.colour + "\" points=\"";
    for (const auto& [x, y] : curve.points)
      if (std::isfinite(y)) svg += printed("%.1f,%.1f ", place_x(x), place_y(y));
    svg += "\"/>\n";
  }
  return svg + legend_of(chart, left + chart.width, above);
}

std::string svg_of(const Chart& chart) {
  return printed("<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                 chart_left + chart.width + chart_right, chart_top + chart.height + chart_bottom) +
         escaped(chart.title) + "\">\n" + chart_elements(chart, chart_left, chart_top) + "</svg>\n";
}

std::string heatmap(const Autocorrelation& lags, const std::string& title) {
  constexpr int cell = 20, side = correlation_lags * cell, edge = 30;
  double max_value = 0.1;  // minimum of the range, so that noise around 0 is not amplified
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx)
      if (dx != 0 || dy != 0)
        max_value = std::max(max_value, std::abs(static_cast<double>(lags[lag_index(dx, dy)])));
  std::string svg = printed("<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
                            side + 2 * edge + 100, side + 2 * edge + 20) +
                    escaped(title) + "\">\n" + label(edge, 20, "start", title);
  for (int dy = -correlation_reach; dy <= correlation_reach; ++dy)
    for (int dx = -correlation_reach; dx <= correlation_reach; ++dx) {
      if (dx == 0 && dy == 0) continue;
      const auto value = static_cast<double>(lags[lag_index(dx, dy)]);
      svg += printed("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"",
                     edge + (dx + correlation_reach) * cell, edge + (dy + correlation_reach) * cell,
                     cell - 1, cell - 1) +
             colour_of(value, max_value) + "\"><title>" + printed("%d, %d: %.3f", dx, dy, value) +
             "</title></rect>\n";
    }
  for (const int lag : {-7, 0, 7}) {
    const double at = edge + (lag + correlation_reach + 0.5) * cell;
    svg += label(at, edge + side + 16, "middle", std::to_string(lag));
    svg += label(edge - 6, at + 4, "end", std::to_string(lag));
  }
  for (const double share : {1.0, 0.5, 0.0, -0.5, -1.0}) {
    const double y = edge + 40 + (1 - share) * 60;
    svg += printed("<rect x=\"%d\" y=\"%.1f\" width=\"18\" height=\"28\" fill=\"", edge + side + 24,
                   y) +
           colour_of(share * max_value, max_value) + "\"/>\n" +
           label(edge + side + 50, y + 18, "start", printed("%+.2f", share * max_value));
  }
  return svg + "</svg>\n";
}

}  // namespace lull::tools
