#include "tools/pages/sections.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>

#include "tools/html/chart.h"
#include "tools/html/markup.h"
#include "tools/noise/noise_charts.h"
#include "tools/noise/noise_text.h"

namespace lull::tools {
namespace {

constexpr const char* noise_fact_name = "the noise";
constexpr std::size_t max_scenes = 12;  // maximum number of scenes with curves

Curve along(const PlaneNoise& noise, bool down, const std::string& name, const char* colour) {
  Curve curve{name, colour, {}};
  for (int lag = 0; lag <= correlation_reach; ++lag)
    curve.points.emplace_back(lag, noise.correlation_at(down ? 0 : lag, down ? lag : 0));
  return curve;
}

/// Returns the square root of the power spectrum of the noise, normalised to the variance 1.
Curve spectrum_curve(PlaneNoise noise, const std::string& name, const char* colour) {
  noise.sigma = 1;
  Curve curve{name, colour, {}};
  for (int k = 0; k <= 32; ++k) curve.points.emplace_back(k / 64.0, spectrum_at(noise, k / 64.0));
  return curve;
}

}  // namespace

std::string noise_section(const NoiseRecord& noise) {
  std::string html;
  for (const std::string& line : describe(noise)) html += "<p>" + escaped(line) + "</p>\n";
  for (std::size_t i = 0; i < std::min(noise.scenes.size(), max_scenes); ++i) {
    if (noise.scenes[i].volume)
      continue;  // a volume has only a level, which the line of text contains
    if (noise.scenes.size() > 1) html += "<h3>Scene " + std::to_string(i) + "</h3>\n";
    const NoiseCharts charts = noise_charts(noise.scenes[i].estimate, noise.layout);
    html += "<div class=\"charts\">" + svg_of(charts.level) + svg_of(charts.spectrum) + "</div>\n";
  }
  if (noise.scenes.size() > max_scenes)
    html += "<p>Curves of the first " + std::to_string(max_scenes) + " scenes of " +
            std::to_string(noise.scenes.size()) + ".</p>\n";
  return html;
}

const char* name_of(ResidualVerdict::Answer answer) {
  switch (answer) {
    case ResidualVerdict::Answer::yes:
      return "yes";
    case ResidualVerdict::Answer::no:
      return "no";
    case ResidualVerdict::Answer::cannot_tell:
      return "cannot tell";
  }
  return "";
}

std::string residual_section(const ResidualFindings& findings, const PlaneNoise& expected,
                             const ResidualVerdict& verdict) {
  const std::string answer = name_of(verdict.answer);
  std::string html = "<p>Looks like noise: <span class=\"" +
                     std::string(verdict.answer == ResidualVerdict::Answer::yes  ? "yes"
                                 : verdict.answer == ResidualVerdict::Answer::no ? "no"
                                                                                 : "dim") +
                     "\">" + answer + "</span>" +
                     (verdict.why.empty() ? "" : " (" + escaped(verdict.why) + ")") + "</p>\n";
  std::vector<Cells> rows;
  for (const ResidualReason& reason : verdict.reasons)
    rows.push_back({escaped(reason.question), escaped(reason.measured), escaped(reason.limit),
                    reason.passed ? "<span class=\"yes\">like noise</span>"
                                  : "<span class=\"no\">not like noise</span>"});
  if (!rows.empty()) html += html_table({"question", "measured", "at most", ""}, rows, false);
  if (findings.blocks == 0) return html;
  html += "<p class=\"dim\">Measured in " + std::to_string(findings.pictures) +
          (findings.pictures == 1 ? " picture, " : " pictures, ") +
          std::to_string(findings.blocks) + " blocks of 8x8 samples, standard deviation " +
          printed("%.2f", findings.rms) + " (8-bit levels).</p>\n";
  PlaneNoise measured{.sigma = 1,
                      .correlation = std::make_shared<Autocorrelation>(findings.correlation),
                      .curve = {}};
  constexpr const char* orange = "#e0803a";
  constexpr const char* blue = "#3b82f6";
  constexpr const char* grey = "#8a8a8a";
  const Chart lags{.title = "autocorrelation",
                   .axis = "samples apart",
                   .left = 0,
                   .right = correlation_reach + 1,
                   .bottom = -0.2,
                   .top = 1,
                   .curves = {along(expected, false, "expected", grey),
                              along(measured, false, "along x", orange),
                              along(measured, true, "along y", blue)}};
  const Chart spectrum{.title = "power spectrum (root), white noise is 1",
                       .axis = "cycles per sample",
                       .left = 0,
                       .right = 0.5,
                       .curves = {spectrum_curve(expected, "expected", grey),
                                  spectrum_curve(measured, "removed", orange)}};
  return html + "<div class=\"charts\">" + svg_of(lags) + svg_of(spectrum) +
         heatmap(findings.correlation, "autocorrelation of the residual") + "</div>\n";
}

Facts plain_facts(const std::vector<io::JobFact>& facts) {
  Facts plain;
  for (const io::JobFact& fact : facts)
    if (fact.name != noise_fact_name) plain.emplace_back(fact.name, fact.value);
  return plain;
}

std::vector<NoiseRecord> noise_among(const std::vector<io::JobFact>& facts,
                                     const std::string& name) {
  std::vector<NoiseRecord> found;
  for (const io::JobFact& fact : facts)
    if (fact.name == noise_fact_name) found.push_back(parse_noise(fact.value, name));
  return found;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr const char* units[] = {"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return printed(unit == 0 ? "%.0f %s" : "%.3g %s", value, units[unit]);
}

std::string time_text(std::int64_t time) {
  if (time == 0) return {};
  const auto seconds = static_cast<std::time_t>(time);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
  return text;
}

std::string number_text(const char* format, double value) {
  if (!std::isfinite(value)) return "-";
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

const char* plane_name_of(Layout layout, int plane) {
  constexpr const char* yuv[] = {"Y", "Cb", "Cr"};
  constexpr const char* rgb[] = {"R", "G", "B"};
  return layout == Layout::rgb ? rgb[plane] : yuv[plane];
}

const char* plane_colour(Layout layout, int plane) {
  constexpr const char* yuv[] = {"#8a8a8a", "#3b82f6", "#e0533d"};
  constexpr const char* rgb[] = {"#e0533d", "#3aa655", "#3b82f6"};
  return layout == Layout::rgb ? rgb[plane] : yuv[plane];
}

}  // namespace lull::tools
