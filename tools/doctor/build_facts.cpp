#include "tools/doctor/build_facts.h"

#include <hwy/targets.h>

#include <cstdint>
#include <string_view>

#include "core/commit.h"
#include "core/version.h"
#include "cuda/device_list.h"
#include "io/digest.h"
#include "tools/sessions/device_choice.h"

namespace lull::tools {
namespace {

/// Returns the instruction sets of the build. The most capable instruction set comes first.
std::string compiled_targets() {
  if (std::string_view(LULL_SIMD) == "native") return "those of the machine that built it";
  // Instruction sets that cmake/LullTargets.cmake excludes from the build.
  constexpr std::int64_t excluded = HWY_SSSE3 | HWY_SCALAR | HWY_EMU128;
  std::string text;
  for (int bit = 0; bit < 63; ++bit) {
    const std::int64_t target = std::int64_t{1} << bit;
    if ((static_cast<std::int64_t>(HWY_TARGETS) & ~excluded & target) != 0)
      text += (text.empty() ? "" : ", ") + std::string(hwy::TargetName(target));
  }
  return text;
}

}  // namespace

std::string version_text() {
  const std::string toolkit = cuda::toolkit_version();
  return "lull " + std::string(version) + "\ncommit " + commit + "\nFFmpeg " +
         io::library_versions() + "\nCUDA " + (toolkit.empty() ? "none" : toolkit) +
         "\ninstruction sets " + compiled_targets() + " (this CPU: " + cpu_target() + ")";
}

}  // namespace lull::tools
