#include "python/src/enlarger.h"

#include "choose/choose.h"
#include "core/error.h"
#include "core/params/profile.h"

namespace lull::python {
namespace {

bm3d::Profile profile_of(const std::string& name) {
  const auto profile = parse_name<Profile>(name);
  if (profile) return *profile;
  throw InvalidArgument("profile = '" + name + "' (must be fast, balanced, high, best or paper)");
}

}  // namespace

Enlarger::Enlarger(const FrameFormat& format, double factor, const std::string& profile,
                   const std::string& device)
    : pool_(format),
      enlarger_({.factor = factor, .profile = profile_of(profile), .site = {}}, format,
                choose_backend(device)) {}

Result Enlarger::enlarged(const Image& planes) {
  check_planes(planes, pool_.format());
  const std::lock_guard lock(mutex_);
  return Result(enlarger_.enlarged(frame_of(planes, pool_, false)));
}

}  // namespace lull::python
