#pragma once
// The denoising method and its parameters.

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bm3d/params.h"
#include "bm4d/params.h"
#include "core/params/preset.h"
#include "nlm/params.h"
#include "noise/render/features.h"

namespace lull::tools {

/// The denoising method. `bm3d` denoises pictures and clips, `bm4d` denoises volumes, and `nlm`
/// (non-local means) denoises all of these. With `automatic`, lull chooses the method by the input.
enum class MethodChoice { automatic, bm3d, bm4d, nlm };
/// How lull filters a series. `pca` filters the principal components over the volumes, and `each`
/// filters each volume separately. With `automatic`, lull chooses by the number and the similarity
/// of the volumes.
enum class SeriesChoice { automatic, pca, each };
enum class SecondSearch { window, kept, luma, none };

/// The source of a feature buffer of renders: a layer of the input, or a file.
struct FeatureChoice {
  Feature feature;
  std::string layer, file;  // either the layer or the file is empty
};

/// Names of the guide and the feature buffers, for jobs and messages.
inline constexpr const char* guide_name = "--guide";
[[nodiscard]] inline std::string option_of(Feature feature) {
  return "--feature " + std::string(feature_names[static_cast<std::size_t>(feature)]);
}

struct MethodOptions {
  MethodChoice choice = MethodChoice::automatic;
  SeriesChoice series = SeriesChoice::automatic;
  std::optional<bm3d::Profile> profile;  // empty: depends on the input; see chosen_profile()
  std::optional<int> temporal;           // temporal radius; empty: depends on the input
  const Preset* preset = nullptr;        // profile and radius if no option sets them; may be null
  bool preserves_areas = true;           // whether constant areas are preserved
  bool align = false;                    // the frames are a burst, which must be aligned
  // The guide: the file of a clip in which lull matches patches, or "auto" for the feature buffers
  // of the render. If empty, lull matches patches in the input.
  std::string guide;
  // The feature buffers of the option --feature. With --guide auto, lull also uses feature buffers
  // that the input contains.
  std::vector<FeatureChoice> features;
  /// Functions that change the parameters of the profile, one list per method.
  std::vector<std::function<void(bm3d::Params&)>> overrides;
  std::vector<std::function<void(bm4d::Params&)>> volume_overrides;
  std::vector<std::function<void(nlm::Params&)>> nlm_overrides;
  bool search_step = false;                   // whether --search-step was given
  std::optional<SecondSearch> second_search;  // empty: depends on the profile
  /// For each phase, whether the matcher searches clusters instead of search windows. If empty, the
  /// profile decides.
  std::optional<std::array<bool, 2>> by_clusters;
  std::optional<ClusterParams> clusters;  // empty: default values
};

/// Returns whether the guide is a file, so that the session matches patches in the frames of this
/// file.
[[nodiscard]] inline bool has_guide_file(const MethodOptions& options) {
  return !options.guide.empty() && options.guide != "auto";
}
/// Returns whether the input is a render whose feature buffers the filter uses.
[[nodiscard]] inline bool uses_features(const MethodOptions& options) {
  return options.guide == "auto" || !options.features.empty();
}
/// Returns whether the method is non-local means: by request, or for renders with feature buffers.
[[nodiscard]] inline bool uses_nlm(const MethodOptions& options) {
  return options.choice == MethodChoice::nlm ||
         (options.choice == MethodChoice::automatic && uses_features(options));
}
/// Returns whether non-local means divides the patches into clusters, and averages the patches of
/// each group. Otherwise, non-local means averages the samples in search windows.
[[nodiscard]] bool averages_groups(const MethodOptions& options);
/// Sets the matcher of each phase in `params` from --matcher and --cluster.
void choose_matchers(const MethodOptions& options, bm3d::Params& params);
/// Checks the combination of --matcher and --cluster with other options.
void check_matchers(const MethodOptions& options);

}  // namespace lull::tools
