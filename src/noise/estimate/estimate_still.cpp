#include "noise/estimate/estimate_still.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/colour.h"
#include "noise/coefficient_table.h"
#include "noise/estimate/camera_noise.h"
#include "noise/estimate/picture_blocks.h"
#include "noise/estimate/quiet_spectrum.h"
#include "noise/estimate/white_level.h"

namespace lull {
namespace {

constexpr std::size_t most_blocks = 30000;  // of a plane, of all pictures together
constexpr std::size_t few_blocks = 16;

/// The spectrum of quiet blocks falls so much, as a ratio of levels, where noise is not white: from
/// v + u = 5 to 11 .. 13, and from 8 to 11 .. 13. Cameras' falls by 3.1 and 1.64 at least. Scans
/// have white noise, however little: quiet blocks of Set12 and Kodak fall by 3.5 and 1.42 at most
/// (one picture of 18 excepted).
constexpr double steep = 3.0, steep_to_the_end = 1.55;
/// Or by less, on what is fine and white, but all that is coarser is alike in all quiet blocks, and
/// has the level of the middle frequencies at the lowest too, nearly.
constexpr double rather_steep = 2.0, even = 1.2, flat = 2.1;
/// Less is not believed once what rounding adds is taken off.
constexpr double least_end = 0.14;
/// Cameras' noise is nearly flat at the lowest frequencies; shading and soft texture rise by more
/// than this, from v + u = 3, 4 to 1, 2.
constexpr double soft = 3.4;
/// Blocks that are not textured are alike (QuietSpectrum::unevenness).
constexpr double uneven = 2.0;
/// Whatever its level, noise is not like this (QuietSpectrum); cameras' has 11 and 10 at most.
constexpr double dispersed = 15, directed = 15;
/// Coarse noise of cameras has 11 levels and less. What has more is noise only if it is like it in
/// every way: made, it has 1.7, 3.4 and 1.7 at most; plaster and gravel have 1.8, 3.7 and 2 at
/// least in one of them.
constexpr float strong = 12;
constexpr double rather_dispersed = 1.8, long_tailed = 3.6, rather_soft = 1.8;
/// Pictures as sharp (CameraNoise::sharpness) are not out of a camera's denoiser; coarse noise in
/// them was made, and is even and flat.
constexpr double sharp = 0.3, rather_even = 1.6;

/// What is taken where a picture does not tell.
constexpr float safe_level = 2;
/// What nobody sees. (Y of Cb and Cr has two thirds of the level that R, G and B have.)
constexpr float no_level = 0.5f, no_level_of_y = 0.33f;

/// Chroma's noise in terms of luma's, in variances, if that of red, green and blue is independent.
/// (What is read in chroma says little: codecs take nearly all of it in quiet blocks.)
constexpr double opponent_share = 3;                    // U and V of Y = (R + G + B) / 3
constexpr std::array<double, 2> yuv_share{0.87, 0.97};  // Cb and Cr of Y, ITU-R BT.601

/// A plane of all pictures: where its blocks are and what they hold.
struct Examined {
  PictureBlocks blocks;
  std::vector<float> values;

  std::size_t usable() const {
    return blocks.clipped.size() -
           static_cast<std::size_t>(std::ranges::count(blocks.clipped, PictureBlocks::unusable));
  }
  /// Most of it is flat without any noise: drawn, not taken.
  bool is_drawn() const { return static_cast<std::size_t>(blocks.constant) > usable(); }
};

Examined examine(const PlaneStack& shown, std::span<const PlaneStack> sources) {
  Examined result;
  result.blocks = cut(shown, sources, most_blocks);
  result.values = coefficients(shown, result.blocks);
  return result;
}

/// Y, U or V of R, G and B.
PlaneStack opponent(std::span<const PlaneStack> rgb, int i) {
  PlaneStack stack;
  for (std::size_t n = 0; n < rgb[0].pictures.size(); ++n) {
    const int width = rgb[0].pictures[n].width(), height = rgb[0].pictures[n].height();
    Plane<float> plane(width, height);
    for (int y = 0; y < height; ++y) {
      const float* in[3];
      for (int c = 0; c < 3; ++c) in[c] = rgb[c].pictures[n].view().row(y);
      float* out = plane.view().row(y);
      const float* m = opponent_forward[i];
      for (int x = 0; x < width; ++x) out[x] = m[0] * in[0][x] + m[1] * in[1][x] + m[2] * in[2][x];
    }
    stack.pictures.push_back(std::move(plane));
  }
  return stack;
}

/// One level for planes that are nearly alike; none for what nobody sees.
void settle(std::array<float, 3>& levels, bool alike) {
  const auto [least, greatest] = std::ranges::minmax(levels);
  if (alike && greatest <= 1.15f * least) {
    double sum = 0;
    for (const float level : levels) sum += static_cast<double>(level) * static_cast<double>(level);
    levels.fill(static_cast<float>(std::sqrt(sum / 3)));
  }
  if (greatest < no_level) levels.fill(0);
}

class StillEstimate {
 public:
  explicit StillEstimate(std::span<const Frame> pictures) : format_(pictures.front().format) {
    for (int i = 0; i < format_.planes(); ++i) sources_.push_back(load_stack(pictures, i));
    if (is_rgb()) {
      shown_ = opponent(sources_, 0);
      luma_ = examine(shown_, sources_);
    } else {
      luma_ = examine(sources_[0], std::span(sources_).first(1));
    }
  }

  NoiseEstimate judge() {
    NoiseEstimate estimate;
    if (luma_.is_drawn()) return estimate;
    const QuietSpectrum quiet = quiet_spectrum(luma_.values, luma_.blocks);
    if (!quiet.found) {
      if (luma_.usable() >= few_blocks) white(estimate);
      doubt(estimate, "too little of the picture can be judged");
    } else if (is_white(quiet)) {
      white(estimate);
    } else {
      coloured(quiet, estimate);
    }
    return estimate;
  }

 private:
  bool is_rgb() const { return format_.layout == Layout::rgb; }
  bool is_yuv() const { return format_.layout == Layout::yuv; }

  /// Samples are rounded, which is white noise in pictures that have none.
  double rounding() const {
    if (format_.sample == SampleType::f32) return 0;
    const double step = 255.0 / ((1 << format_.bits) - 1) / (is_rgb() ? std::sqrt(3.0) : 1);
    return step * step / 12;
  }
  bool is_white(const QuietSpectrum& quiet) const {
    return !falls(quiet, 0) && !falls(quiet, rounding());
  }
  /// Without so much of its variance.
  static bool falls(const QuietSpectrum& quiet, double rounding) {
    const auto level = [&](int first, int last) {
      const double whole = band_level(quiet.table, first, last);
      return std::sqrt(std::max(1e-6, whole * whole - rounding));
    };
    const double end = std::max(level(11, 13), rounding > 0 ? least_end : 1e-3);
    const double fall = level(5, 5) / end;
    const bool steep_all_along = fall >= steep && level(8, 8) >= steep_to_the_end * end;
    return steep_all_along || (fall >= rather_steep && even_and_flat(quiet));
  }
  static bool even_and_flat(const QuietSpectrum& quiet, double unevenness = even) {
    return quiet.greater_unevenness < unevenness &&
           band_level(quiet.table, 1, 2) < flat * band_level(quiet.table, 3, 4);
  }
  static bool is_texture(const QuietSpectrum& quiet, const CameraNoise& found, float level) {
    const double softness =
        band_level(quiet.table, 1, 2) / std::max(1e-3, band_level(quiet.table, 3, 4));
    const bool unlike_strong_noise = quiet.dispersion >= rather_dispersed ||
                                     quiet.kurtosis >= long_tailed || softness >= rather_soft;
    return quiet.unevenness >= uneven || softness >= soft || quiet.dispersion >= dispersed ||
           quiet.direction >= directed || (level >= strong && unlike_strong_noise) ||
           (found.sharpness >= sharp && !even_and_flat(quiet, rather_even));
  }

  /// Of plane `i` as it is stored. Blocks of R, G and B are those of their luma.
  float stored_level(int i) const {
    if (i == 0 && !is_rgb()) return white_level(luma_.values, luma_.blocks, sources_[0].bounds);
    if (is_rgb())
      return white_level(coefficients(sources_[i], luma_.blocks), luma_.blocks, sources_[i].bounds);
    const Examined plane = examine(sources_[i], std::span(sources_).subspan(i, 1));
    return plane.is_drawn() ? 0 : white_level(plane.values, plane.blocks, sources_[i].bounds);
  }

  void white(NoiseEstimate& estimate) const {
    for (int i = 0; i < format_.planes(); ++i) estimate.level[i] = stored_level(i);
    settle(estimate.level, is_rgb());
    estimate.noise = NoiseModel(estimate.level);
    estimate.coarse = estimate.level[0] / 8;
    if (is_rgb()) white_opponents(estimate);
  }

  /// Where R, G and B share noise, which is white in each: grey pictures stored as RGB, film.
  void white_opponents(NoiseEstimate& estimate) const {
    std::array<float, 3> levels{
        white_level(luma_.values, luma_.blocks, {}),
        white_level(coefficients(opponent(sources_, 1), luma_.blocks), luma_.blocks, {}),
        white_level(coefficients(opponent(sources_, 2), luma_.blocks), luma_.blocks, {})};
    estimate.coarse = levels[0] / 8;
    const float independent = estimate.noise.in_opponent_space().sigma(0);
    constexpr float clearly = 1.3f;
    if (levels[0] < clearly * independent) return;
    settle(levels, false);
    estimate.noise = NoiseModel::of_opponents({PlaneNoise{levels[0], nullptr, nullptr},
                                               {levels[1], nullptr, nullptr},
                                               {levels[2], nullptr, nullptr}});
  }

  void coloured(const QuietSpectrum& quiet, NoiseEstimate& estimate) const {
    const CameraNoise luma = camera_noise(quiet);
    const std::array<PlaneNoise, 3> seen = planes(luma.seen, 1),
                                    told = planes(luma.told, luma.chroma);
    if (is_rgb()) {
      estimate.noise = NoiseModel::of_opponents(told);
      estimate.level = NoiseModel::of_opponents(seen).sigmas();
    } else {
      for (int i = 0; i < format_.planes(); ++i) {
        estimate.noise.plane(i) = told[i];
        estimate.level[i] = seen[i].sigma;
      }
    }
    estimate.coarse = std::sqrt(luma.seen[0]) / 8;
    const float level = *std::ranges::max_element(estimate.level);
    if (level < (is_yuv() ? no_level_of_y : no_level)) {
      estimate = {};
    } else if (is_texture(quiet, luma, level)) {
      doubt(estimate, "texture and coarse noise look alike here");
    }
  }

  /// Those of Y, U, V or of Y, Cb, Cr, for luma's table.
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

  /// Not so of grey pictures with three planes.
  bool has_chroma(int i) const {
    const PlaneStack plane = is_rgb() ? opponent(sources_, i) : PlaneStack{};
    const PlaneStack& shown = is_rgb() ? plane : sources_[i];
    for (const Plane<float>& picture : shown.pictures) {
      const float first = picture.view()(0, 0);
      for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x)
          if (std::abs(picture.view()(x, y) - first) > 2) return true;
    }
    return false;
  }

  /// The safe side.
  static void doubt(NoiseEstimate& estimate, const char* why) {
    estimate.certain = false;
    estimate.why = why;
    const std::array<float, 3> told = estimate.noise.sigmas();
    const float most = *std::ranges::max_element(told);
    if (most <= safe_level) return;
    const float share = safe_level / most;
    estimate.noise = scaled(estimate.noise, share);
    for (float& level : estimate.level) level = std::min(level, safe_level);
    estimate.coarse = std::min(estimate.coarse, safe_level);
  }

  FrameFormat format_;
  std::vector<PlaneStack> sources_;
  PlaneStack shown_;
  Examined luma_;
};

}  // namespace

NoiseEstimate estimate_stills(std::span<const Frame> pictures) {
  return StillEstimate(pictures).judge();
}

}  // namespace lull
