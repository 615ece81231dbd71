#include "tools/pages/series_record.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/frame_pool.h"
#include "tools/html/chart.h"
#include "tools/html/markup.h"
#include "tools/pages/sections.h"

namespace lull::tools {
namespace {

constexpr const char* cut_axis_names[] = {"z", "y", "x"};
constexpr std::size_t max_repeats_shown = 3;

/// Makes three cross-sections. `value` returns the sample (0..1) for the index of a voxel. The
/// index counts the voxels of all three cross-sections together.
template <class Value>
VolumeCuts cuts_with(const CutGeometry& geometry, Value value) {
  VolumeCuts cuts(geometry);
  int voxel = 0;
  for (int i = 0; i < 3; ++i) {
    const PlaneView<float> cut = cuts.cut(i);
    for (int y = 0; y < cut.height; ++y)
      for (int x = 0; x < cut.width; ++x) cut(x, y) = static_cast<float>(value(voxel++));
  }
  return cuts;
}

/// Returns the quantile at `share` (0..1) of the finite values, or 1 if no value is finite.
double quantile(std::vector<double> values, double share) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return 1;
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at > 0 ? *at : 1;
}

double correlation_of(const std::vector<std::pair<double, double>>& pairs) {
  double a = 0, b = 0, aa = 0, bb = 0, ab = 0;
  const auto n = static_cast<double>(pairs.size());
  for (const auto& [x, y] : pairs) a += x, b += y;
  a /= n, b /= n;
  for (const auto& [x, y] : pairs)
    aa += (x - a) * (x - a), bb += (y - b) * (y - b), ab += (x - a) * (y - b);
  return ab / std::sqrt(aa * bb);
}

Chart spectrum_chart(const SeriesRecord::Facts& facts) {
  constexpr double least = 1e-3;  // eigenvalues of dependent volumes are 0
  Curve signal{"signal", "#3b82f6", {}}, noise{"noise", "#8a8a8a", {}};
  double bottom = 0, top = 1;
  for (std::size_t k = 0; k < facts.eigenvalues.size(); ++k) {
    const double value = std::log10(std::max(facts.eigenvalues[k], least));
    bottom = std::min(bottom, value), top = std::max(top, value);
    Curve& curve = static_cast<int>(k) < facts.spectrum.components ? signal : noise;
    curve.points.emplace_back(static_cast<double>(k + 1), value);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(facts.eigenvalues.size(), 2));
  const double edge = std::log10(std::max(facts.spectrum.edge, least));
  return {.title = "eigenvalues of the covariance in units of the noise variance (log10)",
          .axis = "component",
          .left = 1,
          .right = 1 + std::ceil((count - 1) / 4) * 4,
          .bottom = std::floor(bottom),
          .top = std::ceil(top),
          .curves = {std::move(signal),
                     std::move(noise),
                     {"edge of the noise", "#e0803a", {{1, edge}, {count, edge}}}},
          .width = 860};
}

}  // namespace

CutSums::CutSums(const CutGeometry& geometry) {
  const VolumeCuts cuts(geometry);
  std::size_t voxels = 0;
  for (int i = 0; i < 3; ++i)
    voxels += static_cast<std::size_t>(cuts.cut(i).width) * cuts.cut(i).height;
  sums_.resize(voxels);
}

void CutSums::add(const VolumeCuts& volume, float factor) { add(volume, nullptr, factor); }

void CutSums::add_difference(const VolumeCuts& a, const VolumeCuts& b, float factor) {
  add(a, &b, factor);
}

void CutSums::add(const VolumeCuts& a, const VolumeCuts* b, float factor) {
  auto sum = sums_.begin();
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < a.cut(i).height; ++y)
      for (int x = 0; x < a.cut(i).width; ++x, ++sum) {
        const float subtrahend = b ? b->cut(i)(x, y) : 0;
        const auto value = static_cast<double>((a.cut(i)(x, y) - subtrahend) * factor);
        if (std::isnan(value)) continue;
        sum->sum += value, sum->squares += value * value, ++sum->count;
      }
}

double CutSums::variance(int voxel) const {
  const Sum& sum = sums_[voxel];
  if (sum.count < 2) return std::numeric_limits<double>::quiet_NaN();
  return std::max(sum.squares - sum.sum * sum.sum / sum.count, 0.0) / (sum.count - 1);
}

SeriesRecord::SeriesRecord(Facts facts, const CutGeometry& geometry, int slices)
    : facts_(std::move(facts)),
      geometry_(geometry),
      slices_(slices),
      before_(geometry),
      after_(geometry),
      noisy_(geometry),
      removed_(geometry),
      repeats_before_(geometry),
      repeats_after_(geometry),
      factor_(amplification(series::median_level(facts_.noise))) {}

void SeriesRecord::add(const Frame& noisy, const Frame& result) {
  const int slice = static_cast<int>(noisy.pts % slices_);
  if (slice == 0) added_ = 0;
  before_.add(noisy, slice);
  const Part whole{.width = noisy.format.width, .height = noisy.format.height};
  after_.add(noisy.mask ? within_mask(noisy, result, whole) : result, slice);
  ++added_;
  if (slice + 1 == slices_ && added_ == slices_)
    complete_volume(static_cast<int>(noisy.pts / slices_));
}

void SeriesRecord::complete_volume(int volume) {
  if (volume >= facts_.volumes) return;
  const float level = facts_.noise.levels[volume];
  // The factor 255 converts samples of the cross-sections (0..1) to the scale of the noise level.
  if (level > 0) {
    noisy_.add(before_, 255);
    removed_.add_difference(before_, after_, 255 / level);
  }
  if (!std::ranges::binary_search(facts_.unweighted, volume)) return;
  repeats_before_.add(before_, 255);
  repeats_after_.add(after_, 255);
  if (repeated_.size() < max_repeats_shown)
    repeated_.push_back(compare_pictures(geometry_, before_, after_, 0, factor_));
}

/// Returns the denoised voxels of the imaged object: the voxels whose mean over the volumes is more
/// than three times the noise level. The limit excludes the background, where the mean of Rician
/// noise is 1.25 times the noise level.
std::vector<int> SeriesRecord::object() const {
  const double limit = static_cast<double>(facts_.noise.zero) +
                       3 * static_cast<double>(series::median_level(facts_.noise));
  std::vector<int> voxels;
  for (int i = 0; i < noisy_.voxels(); ++i)
    if (noisy_.mean(i) > limit && removed_.mean_square(i) > 0) voxels.push_back(i);
  return voxels;
}

std::string SeriesRecord::facts_html() const {
  std::string level = number_text("%.4g", static_cast<double>(series::median_level(facts_.noise)) *
                                              (facts_.unit > 0 ? facts_.unit : 1));
  level += facts_.unit > 0 ? " (the file's units)" : " (8-bit levels)";
  std::vector<std::pair<std::string, std::string>> rows{
      {"volumes", std::to_string(facts_.volumes)},
      {"volumes that are combined to components", std::to_string(facts_.combined)},
      {"components with signal", std::to_string(facts_.spectrum.components)},
      {"filtered components", std::to_string(facts_.filtered)},
      {"edge of the noise (Marchenko and Pastur)",
       number_text("%.3f", facts_.spectrum.edge) + " noise variances"},
      {"noise level, median of the volumes", level}};
  return facts_table(rows) + svg_of(spectrum_chart(facts_)) +
         "<p>The components above the edge contain signal. lull also filters the components that "
         "follow, because they can contain signal in a few voxels, and drops the others. For "
         "Rician noise, the figures are those of the first decomposition.</p>\n";
}

/// Returns the mean of the volumes, normalised so that the imaged object has values of 0..1.
VolumeCuts SeriesRecord::anatomy() const {
  std::vector<double> means;
  for (int i = 0; i < noisy_.voxels(); ++i) means.push_back(noisy_.mean(i));
  const double white = quantile(means, 0.99);
  return cuts_with(geometry_, [&](int i) { return means[i] / white; });
}

std::string SeriesRecord::residual_html() const {
  const VolumeCuts anatomy = this->anatomy();
  const VolumeCuts size =
      cuts_with(geometry_, [&](int i) { return 0.5 * std::sqrt(removed_.mean_square(i)); });
  // The mean of the removed noise over V volumes has a standard deviation of 1 / sqrt(V) noise
  // levels.
  const double gain = std::sqrt(static_cast<double>(std::max(facts_.volumes, 1))) / 8;
  const VolumeCuts mean =
      cuts_with(geometry_, [&](int i) { return 0.5 + gain * removed_.mean(i); });
  std::string html =
      "<p>The pictures show the mean of all volumes, the root mean square of the residual "
      "over all volumes (mid-grey: the noise level of the volume), and the mean of the "
      "residual (mid-grey: 0). Outlines of the anatomy in the residual mean that signal was "
      "removed.";
  if (facts_.noise.kind == NoiseKind::rician)
    html += " Rician noise raises the background, so its mean is removed there.";
  html += "</p>\n";
  for (int i = 0; i < 3; ++i) {
    auto first = cut_panels(geometry_, anatomy, size, i, 1);
    auto second = cut_panels(geometry_, mean, mean, i, 1);
    html += slider({{"mean of the volumes", std::move(first[0])},
                    {"removed, root mean square", std::move(first[1])},
                    {"removed, mean", std::move(second[0])}},
                   std::string("cut across ") + cut_axis_names[i] + " at " +
                       std::to_string(geometry_.at[2 - i]) + ", all volumes");
  }
  const std::vector<int> inside = object();
  if (inside.size() < 2) return html;
  std::vector<std::pair<double, double>> pairs;
  double square = 0;
  for (const int i : inside) {
    pairs.emplace_back(noisy_.mean(i), std::sqrt(removed_.mean_square(i)));
    square += removed_.mean_square(i);
  }
  return html + facts_table({{"removed in the object, root mean square",
                              number_text("%.3f noise levels",
                                          std::sqrt(square / static_cast<double>(inside.size())))},
                             {"its correlation with the mean volume",
                              number_text("%.3f", correlation_of(pairs))},
                             {"voxels of the object in the cuts", std::to_string(inside.size())}});
}

std::string SeriesRecord::map_html() const {
  const auto& map = facts_.noise.map;
  if (!map) return {};
  const double max_value = static_cast<double>(map->max_value());
  FramePool pool({.width = map->voxels[0],
                  .height = map->voxels[1],
                  .sample = SampleType::f32,
                  .bits = 32,
                  .white = 1});
  const VolumeCuts means = anatomy();
  VolumeCuts cuts(geometry_);
  for (int z = 0; z < map->voxels[2]; ++z) {
    const Frame slice = pool.acquire();
    const PlaneView<float> levels = slice.plane<float>(0);
    map->slice(z, levels);
    for (int y = 0; y < levels.height; ++y)
      for (int x = 0; x < levels.width; ++x) levels(x, y) /= static_cast<float>(max_value);
    cuts.add(slice, z);
  }
  const double level =
      static_cast<double>(series::median_level(facts_.noise)) * (facts_.unit > 0 ? facts_.unit : 1);
  std::string html = "<h3>Noise map</h3>\n<p>The noise level varies from " +
                     number_text("%.4g", level * static_cast<double>(map->min_value())) + " to " +
                     number_text("%.4g", level * max_value) +
                     " over the volume. White is the highest level.</p>";
  for (int i = 0; i < 3; ++i) {
    auto panels = cut_panels(geometry_, means, cuts, i, 1);
    html += slider(
        {{"mean of the volumes", std::move(panels[0])}, {"noise level", std::move(panels[1])}},
        std::string("noise map across ") + cut_axis_names[i] + " at " +
            std::to_string(geometry_.at[2 - i]));
  }
  return html;
}

std::string SeriesRecord::repeats_html() const {
  if (facts_.unweighted.empty() || repeated_.empty()) return {};
  std::string html = "<h3>Volumes with b = 0</h3>\n";
  for (std::size_t i = 0; i < repeated_.size(); ++i)
    html += slider_of(repeated_[i], {"before", "after", "removed"},
                      "volume " + std::to_string(facts_.unweighted[i]) + ", b = 0");
  double before = 0, after = 0, count = 0;
  for (const int i : object()) {
    const double a = repeats_before_.variance(i), b = repeats_after_.variance(i);
    if (std::isfinite(a) && std::isfinite(b)) before += a, after += b, ++count;
  }
  if (count == 0) return html;
  const double unit = facts_.unit > 0 ? facts_.unit : 1;
  const std::string format = "%.4g";
  return html + html_table({"standard deviation over the repeated volumes", "before", "after"},
                           {{"voxels of the object in the cuts",
                             number_text(format.c_str(), unit * std::sqrt(before / count)),
                             number_text(format.c_str(), unit * std::sqrt(after / count))}});
}

std::string SeriesRecord::section() const {
  return facts_html() + "<h3>The residual and the anatomy</h3>\n" + residual_html() + map_html() +
         repeats_html();
}

}  // namespace lull::tools
