#pragma once
// What scripts say: arguments of core.lull.Denoise and core.lull.BM3Dv2 as choices of a session.

#include <VapourSynth4.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "choose/choose.h"
#include "core/frame.h"

namespace lull::vapoursynth {

/// The arguments of one call.
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

/// The frames of a clip. @throws InvalidArgument  lull has none like them
[[nodiscard]] FrameFormat format_of(const VSVideoInfo& clip);

/// `sigma` for each plane: one is for all, and the last for the planes that follow. Nothing where
/// none is given: the noise is to be found. @throws InvalidArgument
[[nodiscard]] std::optional<std::array<float, 3>> sigmas_of(const Arguments& given);

/// What Denoise was called with, its noise left out. @throws InvalidArgument
[[nodiscard]] SessionChoice denoise_choice(const Arguments& given);

/// The same of BM3Dv2, whose names are those of BM3DCUDA; with its noise. @throws InvalidArgument
[[nodiscard]] SessionChoice bm3dv2_choice(const Arguments& given);

}  // namespace lull::vapoursynth
