#include "noise/estimate/estimate_still.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "noise/coefficient_table.h"
#include "noise/estimate/brightness_curve.h"
#include "noise/stabiliser.h"
#include "noise/stills/camera_noise.h"
#include "noise/stills/developed_noise.h"
#include "noise/stills/flat_block_spectrum.h"
#include "noise/stills/picture_blocks.h"
#include "noise/stills/white_level.h"

namespace lull {
namespace {

constexpr std::size_t max_blocks = 30000;  // maximum for a plane, in all pictures together
constexpr std::size_t min_blocks = 16;
/// Maximum number of blocks of each plane in the search for the noise of demosaiced pictures. The
/// search examines three planes.
constexpr std::size_t max_demosaiced_blocks = 16000;

/// Minimum ratios L(5) / L(11..13) and L(8) / L(11..13) for coloured noise. L(n) is the level of
/// the DCT coefficients (v, u) with v + u = n. In camera pictures, the ratios are at least 3.1 and
/// 1.64. In scans, the ratios are at most 3.5 and 1.42.
constexpr double coloured_fall = 3.0, coloured_end_fall = 1.55;
/// Limits for noise that is the sum of coloured noise and fine white noise. L(n) is the level of
/// the DCT coefficients (v, u) with v + u = n. For this noise, L(5) / L(11..13) is at least
/// `uniform_fall`, FlatBlockSpectrum::greater_unevenness is below `uniform_unevenness`, and L(1..2)
/// / L(3..4) is below `uniform_slope`.
constexpr double uniform_fall = 2.0, uniform_unevenness = 1.2, uniform_slope = 2.1;
/// Minimum noise level at the finest frequencies, without the variance of rounding. Lower levels
/// are not reliable.
constexpr double min_end_level = 0.14;
/// Maximum of L(1..2) / L(3..4) for noise. L(n) is the level of the DCT coefficients (v, u) with v
/// + u = n. Shading and soft texture exceed this ratio.
constexpr double texture_slope = 3.4;
/// Maximum FlatBlockSpectrum::unevenness of noise. Texture is more uneven.
constexpr double texture_unevenness = 2.0;
/// Limits for noise: maximum of FlatBlockSpectrum::dispersion (relative variance of the block
/// energies) and of FlatBlockSpectrum::direction (ratio of the energies along the two axes). In
/// camera noise, the values are at most 11 and 10. Texture exceeds the limits.
constexpr double texture_dispersion = 15, texture_direction = 15;
/// Coloured noise with a level of at least `strong_level` is synthetic, because camera noise has a
/// level of at most 11. Synthetic noise has a dispersion of at most 1.7, a kurtosis of at most 3.4
/// and a slope L(1..2) / L(3..4) of at most 1.7. Texture exceeds one of the limits: plaster has a
/// dispersion of 1.8, and gravel a kurtosis of 3.7 or a slope of 2.
constexpr float strong_level = 12;
constexpr double strong_dispersion = 1.8, strong_kurtosis = 3.6, strong_slope = 1.8;
/// Pictures of cameras that denoise have a CameraNoise::sharpness below `sharp_picture`. In sharper
/// pictures, coloured noise is synthetic, and has a FlatBlockSpectrum::greater_unevenness below
/// `sharp_unevenness`. A higher value indicates texture.
constexpr double sharp_picture = 0.3, sharp_unevenness = 1.6;

/// Maximum noise level of an uncertain estimate.
constexpr float safe_level = 2;
/// Noise below this level is invisible. `invisible_level` applies to R, G and B, and
/// `invisible_yuv_level` to Y of YCbCr.
constexpr float invisible_level = 0.5f, invisible_yuv_level = 0.33f;

/// Noise variance of chroma relative to luma, for independent noise in R, G and B. The estimator
/// computes chroma noise from luma noise by this ratio, because codecs remove chroma noise in flat
/// blocks.
constexpr double opponent_share = 3;                    // U and V over Y = (R + G + B) / 3
constexpr std::array<double, 2> yuv_share{0.87, 0.97};  // Cb and Cr over Y, ITU-R BT.601

/// The blocks of one plane (for example luma) from all pictures, and the DCT coefficients of these
/// blocks.
struct PlaneBlocks {
  PictureBlocks blocks;
  std::vector<float> values;

  std::size_t usable() const {
    return blocks.clipped.size() -
           static_cast<std::size_t>(std::ranges::count(blocks.clipped, PictureBlocks::unusable));
  }
  /// Returns whether most of the plane is free of noise, as in synthetic graphics.
  bool is_drawn() const { return static_cast<std::size_t>(blocks.constant) > usable(); }
};

PlaneBlocks blocks_of_plane(const PlaneStack& filtered_plane, std::span<const PlaneStack> sources) {
  PlaneBlocks result;
  result.blocks = cut_blocks(filtered_plane, sources, max_blocks);
  result.values = coefficients(filtered_plane, result.blocks);
  return result;
}

/// Simplifies the noise levels of three planes. If `alike` is true and the levels differ by at most
/// 15 %, all levels become their root mean square. If all levels are below `invisible_level`, all
/// levels become 0.
void equalise(std::array<float, 3>& levels, bool alike) {
  const auto [minimum, maximum] = std::ranges::minmax(levels);
  if (alike && maximum <= 1.15f * minimum) {
    double sum = 0;
    for (const float level : levels) sum += static_cast<double>(level) * static_cast<double>(level);
    levels.fill(static_cast<float>(std::sqrt(sum / 3)));
  }
  if (maximum < invisible_level) levels.fill(0);
}

class StillEstimate {
 public:
  explicit StillEstimate(std::span<const Frame> pictures) : format_(pictures.front().format) {
    for (int i = 0; i < format_.planes(); ++i) sources_.push_back(load_stack(pictures, i));
    if (is_rgb()) {
      for (int i = 0; i < 3; ++i) opponents_[i] = opponent_plane(sources_, i);
      luma_ = blocks_of_plane(opponents_[0], sources_);
    } else {
      luma_ = blocks_of_plane(sources_[0], std::span(sources_).first(1));
    }
  }

  NoiseEstimate judge() {
    NoiseEstimate estimate;
    if (luma_.is_drawn()) return estimate;
    DevelopedNoise raw;
    if (is_rgb())
      raw = developed_noise(sources_, opponents_, max_demosaiced_blocks, 3 * rounding());
    if (raw.found == Demosaicing::clear) {
      developed(raw, estimate);
      return estimate;
    }
    const FlatBlockSpectrum spectrum = flat_block_spectrum(luma_.values, luma_.blocks);
    if (!spectrum.found) {
      if (luma_.usable() >= min_blocks) white(estimate);
      mark_uncertain(estimate, "too few parts of the picture are usable");
    } else if (is_white(spectrum)) {
      white(estimate);
      if (!estimate.noise.has_curves())
        estimate.confidence = explained_share(estimate, spectrum, is_rgb());
    } else if (raw.found == Demosaicing::weak) {
      developed(raw, estimate);
    } else {
      coloured(spectrum, estimate);
      estimate.confidence =
          static_cast<float>(std::min(1.0, std::pow(spectrum.greater_unevenness, -2)));
    }
    return estimate;
  }

 private:
  bool is_rgb() const { return format_.layout == Layout::rgb; }
  bool is_yuv() const { return format_.layout == Layout::yuv; }

  /// Returns the variance of the white noise that rounding to integer samples causes.
  double rounding() const {
    if (format_.sample == SampleType::f32) return 0;
    const double step = 255.0 / ((1 << format_.bits) - 1) / (is_rgb() ? std::sqrt(3.0) : 1);
    return step * step / 12;
  }
  bool is_white(const FlatBlockSpectrum& spectrum) const {
    return !falls(spectrum, 0) && !falls(spectrum, rounding());
  }
  /// Returns whether the spectrum of the noise decreases towards high frequencies, as for coloured
  /// noise. The function first subtracts the variance `rounding` from the spectrum.
  static bool falls(const FlatBlockSpectrum& spectrum, double rounding) {
    const auto level = [&](int first, int last) {
      const double whole = band_level(spectrum.table, first, last);
      return std::sqrt(std::max(1e-6, whole * whole - rounding));
    };
    const double end = std::max(level(11, 13), rounding > 0 ? min_end_level : 1e-3);
    const double fall = level(5, 5) / end;
    const bool is_coloured = fall >= coloured_fall && level(8, 8) >= coloured_end_fall * end;
    return is_coloured || (fall >= uniform_fall && is_uniform(spectrum));
  }
  static bool is_uniform(const FlatBlockSpectrum& spectrum,
                         double unevenness = uniform_unevenness) {
    return spectrum.greater_unevenness < unevenness &&
           band_level(spectrum.table, 1, 2) < uniform_slope * band_level(spectrum.table, 3, 4);
  }
  static bool is_texture(const FlatBlockSpectrum& spectrum, const CameraNoise& found, float level) {
    const double slope =
        band_level(spectrum.table, 1, 2) / std::max(1e-3, band_level(spectrum.table, 3, 4));
    const bool differs_from_strong_noise = spectrum.dispersion >= strong_dispersion ||
                                           spectrum.kurtosis >= strong_kurtosis ||
                                           slope >= strong_slope;
    return spectrum.unevenness >= texture_unevenness || slope >= texture_slope ||
           spectrum.dispersion >= texture_dispersion || spectrum.direction >= texture_direction ||
           (level >= strong_level && differs_from_strong_noise) ||
           (found.sharpness >= sharp_picture && !is_uniform(spectrum, sharp_unevenness));
  }

  /// Returns the noise level of stored plane `i`. R, G and B share the blocks selected in luma.
  float stored_level(int i) const {
    if (i == 0 && !is_rgb()) return white_level(luma_.values, luma_.blocks, sources_[0].bounds);
    if (is_rgb())
      return white_level(coefficients(sources_[i], luma_.blocks), luma_.blocks, sources_[i].bounds);
    const PlaneBlocks plane = blocks_of_plane(sources_[i], std::span(sources_).subspan(i, 1));
    return plane.is_drawn() ? 0 : white_level(plane.values, plane.blocks, sources_[i].bounds);
  }

  void white(NoiseEstimate& estimate) const {
    for (int i = 0; i < format_.planes(); ++i) estimate.level[i] = stored_level(i);
    equalise(estimate.level, is_rgb());
    estimate.noise = NoiseModel(estimate.level);
    estimate.coarse = estimate.level[0] / 8;
    if (is_rgb()) white_opponents(estimate);
    if (!is_yuv() && !estimate.noise.is_of_opponents()) add_brightness_curves(estimate);
  }

  /// Replaces the noise levels by noise curves if the noise of all planes rises with the
  /// brightness. Flat dark areas would otherwise determine the noise level of bright areas.
  void add_brightness_curves(NoiseEstimate& estimate) const {
    std::array<BrightnessCurve, 3> found;
    for (int i = 0; i < format_.planes(); ++i) {
      found[i] = brightness_curve(is_rgb() ? coefficients(sources_[i], luma_.blocks) : luma_.values,
                                  luma_.blocks);
      if (!found[i].curve) return;
    }
    estimate.confidence = 1;
    for (int i = 0; i < format_.planes(); ++i) {
      const NoiseCurve& curve = *found[i].curve;
      estimate.noise.plane(i) = {stabilised_sigma(curve), nullptr, found[i].curve};
      estimate.level[i] = curve.level();
      estimate.confidence = std::min(estimate.confidence, found[i].explained);
    }
    estimate.coarse = estimate.level[0] / 8;
  }

  /// Measures the levels of white noise in the planes Y, U and V of the opponent space. If the
  /// noise is correlated between R, G and B (film, grey pictures stored as RGB), the noise model of
  /// the estimate receives these levels.
  void white_opponents(NoiseEstimate& estimate) const {
    std::array<float, 3> levels{
        white_level(luma_.values, luma_.blocks, {}),
        white_level(coefficients(opponents_[1], luma_.blocks), luma_.blocks, {}),
        white_level(coefficients(opponents_[2], luma_.blocks), luma_.blocks, {})};
    estimate.coarse = levels[0] / 8;
    const float independent = estimate.noise.in_opponent_space().sigma(0);
    constexpr float clearly = 1.3f;
    if (levels[0] < clearly * independent) return;
    equalise(levels, false);
    estimate.noise = NoiseModel::of_opponents({PlaneNoise{levels[0], nullptr, nullptr},
                                               {levels[1], nullptr, nullptr},
                                               {levels[2], nullptr, nullptr}});
  }

  /// Sets `estimate` to the noise of a photograph developed without denoising.
  static void developed(const DevelopedNoise& found, NoiseEstimate& estimate) {
    if (*std::ranges::max_element(found.level) < invisible_level) return;
    estimate.noise = found.noise;
    estimate.level = found.level;
    estimate.coarse = found.coarse;
    estimate.confidence = found.confidence;
  }

  /// Returns the share (0 to 1) of white noise in the luma variance of flat blocks. Only the DCT
  /// coefficients (v, u) with v + u = 3 or 4 count.
  static float explained_share(const NoiseEstimate& estimate, const FlatBlockSpectrum& spectrum,
                               bool is_rgb) {
    const NoiseModel& noise = estimate.noise;
    const float level = (is_rgb ? noise.in_opponent_space() : noise).sigma(0);
    const double share =
        static_cast<double>(level) / std::max(1e-3, band_level(spectrum.table, 3, 4));
    return static_cast<float>(std::min(1.0, share * share));
  }

  void coloured(const FlatBlockSpectrum& spectrum, NoiseEstimate& estimate) const {
    const CameraNoise luma = camera_noise(spectrum);
    const std::array<PlaneNoise, 3> measured = planes(luma.measured, 1),
                                    filtered = planes(luma.filtered, luma.chroma);
    if (is_rgb()) {
      estimate.noise = NoiseModel::of_opponents(filtered);
      estimate.level = NoiseModel::of_opponents(measured).sigmas();
    } else {
      for (int i = 0; i < format_.planes(); ++i) {
        estimate.noise.plane(i) = filtered[i];
        estimate.level[i] = measured[i].sigma;
      }
    }
    estimate.coarse = std::sqrt(luma.measured[0]) / 8;
    const float level = *std::ranges::max_element(estimate.level);
    if (level < (is_yuv() ? invisible_yuv_level : invisible_level)) {
      estimate = {};
    } else if (is_texture(spectrum, luma, level)) {
      mark_uncertain(estimate, "texture and coarse noise look alike here");
    }
  }

  /// Returns the noise of Y, U, V or Y, Cb, Cr, computed from the coefficient variances of luma.
  std::array<PlaneNoise, 3> planes(const CoefficientTable& luma, double chroma_gain) const {
    std::array<PlaneNoise, 3> result{noise_of(luma)};
    for (int i = 1; i < format_.planes(); ++i) {
      if (!has_chroma(i)) continue;
      const double share = is_rgb() ? opponent_share : yuv_share[i - 1];
      result[i] = noise_of(
          subsampled(luma, format_.chroma_shift_x, format_.chroma_shift_y, share * chroma_gain));
    }
    return result;
  }

  /// Returns whether plane `i` contains chroma. False for grey pictures stored in three planes. The
  /// function ignores NaN.
  bool has_chroma(int i) const {
    const PlaneStack& filtered_plane = is_rgb() ? opponents_[i] : sources_[i];
    for (const Plane<float>& picture : filtered_plane.pictures) {
      float first = std::numeric_limits<float>::quiet_NaN();
      for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x) {
          const float v = picture.view()(x, y);
          if (std::isnan(first)) first = v;
          if (std::abs(v - first) > 2) return true;
        }
    }
    return false;
  }

  /// Marks the estimate as uncertain, and limits its noise levels to `safe_level` to preserve
  /// texture.
  static void mark_uncertain(NoiseEstimate& estimate, const char* why) {
    estimate.certain = false;
    estimate.why = why;
    const std::array<float, 3> filtered = estimate.noise.sigmas();
    const float maximum = *std::ranges::max_element(filtered);
    if (maximum <= safe_level) return;
    const float share = safe_level / maximum;
    estimate.noise = scaled(estimate.noise, share);
    for (float& level : estimate.level) level = std::min(level, safe_level);
    estimate.coarse = std::min(estimate.coarse, safe_level);
  }

  FrameFormat format_;
  std::vector<PlaneStack> sources_;
  std::array<PlaneStack, 3> opponents_;  // Y, U and V of RGB
  PlaneBlocks luma_;
};

}  // namespace

NoiseEstimate estimate_stills(std::span<const Frame> pictures) {
  return StillEstimate(pictures).judge();
}

}  // namespace lull
