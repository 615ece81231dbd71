#pragma once
// Converts the arguments of core.lull.Denoise and core.lull.BM3Dv2 to the parameters of a session
// (SessionChoice).

#include <VapourSynth4.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "choose/choose.h"
#include "core/frame.h"

namespace lull::vapoursynth {

/// The arguments of a call of a VapourSynth function.
class Arguments {
 public:
  Arguments(const VSMap* map, const VSAPI* api) : map_(map), api_(api) {}

  bool has(const char* name) const { return api_->mapNumElements(map_, name) > 0; }
  std::optional<int> integer(const char* name) const;
  std::vector<int> integers(const char* name) const;
  std::vector<double> numbers(const char* name) const;
  std::optional<std::string> text(const char* name) const;

 private:
  const VSMap* map_;
  const VSAPI* api_;
};

/// Returns the frame format of a clip.
/// @throws InvalidArgument  lull does not support the format
[[nodiscard]] FrameFormat format_of(const VSVideoInfo& clip);

/// Returns the given value of `sigma` for each plane. The last value also applies to planes without
/// a value. Returns no value if `sigma` is absent, so that the plug-in must estimate the noise.
/// @throws InvalidArgument
[[nodiscard]] std::optional<std::array<float, 3>> sigmas_of(const Arguments& given);

/// Returns the parameters of a session for core.lull.Denoise, except the noise.
[[nodiscard]] SessionChoice denoise_choice(const Arguments& given);

/// Returns the parameters of a session for core.lull.BM3Dv2, including the noise. The arguments
/// have the names of BM3DCUDA.
/// @throws InvalidArgument
[[nodiscard]] SessionChoice bm3dv2_choice(const Arguments& given);

}  // namespace lull::vapoursynth
