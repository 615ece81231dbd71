#include "nlm/params.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "core/params/require.h"

namespace lull::nlm {
namespace {

void require(bool holds, const std::string& what, double value, const std::string& range) {
  lull::require(holds, what, value, range + " for nlm");
}

bool is_high(Profile profile) { return profile == Profile::high || profile == Profile::best; }

/// Returns the parameters of the papers (Marques and Pardo; Cuomo et al.): a box around each
/// sample, without a correction of distances.
Params paper_profile() {
  Params p;
  p.block = p.step = 1;
  p.weights = Weights::exponential;
  p.correction = p.mean_term = 0;
  p.border = Border::replicate;
  return p;
}

float max_sigma(const NoiseModel& noise) {
  return std::max({noise.sigma(0), noise.sigma(1), noise.sigma(2)});
}

/// Returns the strength h of the filter, in units of sigma. h is larger for weak noise, and smaller
/// without Params::mean_term or for large windows.
float volume_strength(Profile profile, const NoiseModel& noise) {
  const float weak = std::clamp((23 - max_sigma(noise)) / 15, 0.0f, 1.0f);
  if (profile == Profile::fast) return 0.85f + 0.35f * weak;
  return is_high(profile) ? 0.95f + 0.35f * weak : 1.0f + 0.4f * weak;
}

}  // namespace

// Measured in docs/measurements/nlm.md.
Params make_params(Profile profile, const NoiseModel& noise, int temporal) {
  Params p;
  switch (profile) {
    case Profile::paper:
      p = paper_profile();
      p.patch_radius = 4;
      p.search_radius = 10;
      p.h = 0.8f;  // the paper does not state h
      break;
    case Profile::fast: {
      // A large window improves the result more for strong noise than for weak noise.
      const bool strong = max_sigma(noise) > 30;
      p.search_radius = strong ? 4 : 3;
      p.h = strong ? 1.0f : 1.05f;
      break;
    }
    case Profile::balanced:
      p.step = 1;
      p.h = 0.85f;
      p.mean_term = 6;
      break;
    case Profile::high:
    case Profile::best:
      p.step = 1;
      p.search_radius = 7;
      p.h = 0.8f;
      p.mean_term = 6;
      break;
  }
  p.noise = noise;
  p.temporal = temporal;
  // In temporal filtering, a small search radius suffices, because motion estimation predicts the
  // position of the best candidates. Most other candidates are similar only by chance.
  if (temporal > 0 && profile != Profile::paper) {
    p.search_radius = is_high(profile) ? 3 : 2;
    p.h = is_high(profile) ? 0.9f : 1.0f;
  }
  return p;
}

Params make_volume_params(Profile profile, const NoiseModel& noise) {
  Params p;
  if (profile == Profile::paper) {
    p = paper_profile();
    p.search_radius = 5;
    p.h = std::sqrt(2.0f);  // Coupe's h^2 = 2 beta sigma^2 |B| with beta = 1
  } else {
    p.block = p.step = 1;
    p.search_radius = is_high(profile) ? 3 : 2;
    if (profile == Profile::fast) p.mean_term = 0;
    p.h = volume_strength(profile, noise);
  }
  p.patch_radius = 1;
  p.domain = Domain::volumes;
  p.noise = noise;
  return p;
}

Margin margin(const Params& p) {
  if (p.is_volume()) return {.before = p.reach_slices(), .after = p.reach_slices()};
  return gathering_margin(p.temporal);
}

void validate(const Params& p) {
  validate(p.noise);
  const int max_patch = p.is_volume() ? max_volume_patch_radius : max_patch_radius;
  const int max_search = p.is_volume() ? max_volume_search_radius : max_search_radius;
  require(p.block >= 1 && p.block <= max_block && std::has_single_bit(unsigned(p.block)), "block",
          p.block, "1, 2, 4 or 8");
  require(p.step >= 1 && p.step <= p.block && std::has_single_bit(unsigned(p.step)), "step", p.step,
          "1, 2, 4 or 8, and no more than the block's side " + std::to_string(p.block));
  require(p.patch_radius >= 0 && p.patch_radius <= max_patch, "patch-radius", p.patch_radius,
          "from 0 to " + std::to_string(max_patch));
  require(p.search_radius >= 1 && p.search_radius <= max_search, "search-radius", p.search_radius,
          "from 1 to " + std::to_string(max_search));
  require(p.h > 0 && std::isfinite(p.h), "h", double(p.h), "above 0");
  require(p.correction >= 0 && p.correction <= 2, "correction", double(p.correction),
          "from 0 to 2");
  require(p.mean_term >= 0 && p.mean_term <= 16, "mean-term", double(p.mean_term), "from 0 to 16");
  const int max_radius = p.is_volume() ? 0 : max_temporal;
  require(p.temporal >= 0 && p.temporal <= max_radius, "temporal", p.temporal,
          "from 0 to " + std::to_string(max_radius));
  if (p.holes && (p.is_volume() || p.guided))
    throw InvalidArgument(
        "holes in volumes, or with a guide (only pictures without a guide can have holes); leave "
        "one "
        "out");
  require(p.scene_cut >= 0 && p.scene_cut <= 1, "scene-cut", double(p.scene_cut), "from 0 to 1");
}

}  // namespace lull::nlm
