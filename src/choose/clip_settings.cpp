#include "choose/clip_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/params/preset.h"
#include "core/params/profile.h"

namespace lull {
namespace {

[[noreturn]] void refuse_setting(const char* name, const std::string& value,
                                 const std::string& allowed) {
  throw InvalidArgument(std::string(name) + " = '" + value + "' (must be " + allowed +
                        "); choose another value");
}

/// Parses a finite number, independent of the locale.
std::optional<float> finite_number(std::string_view text) {
  float value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

const Preset& preset_of(const std::string& name) {
  if (name.empty()) return *std::ranges::find(presets, "medium", &Preset::name);
  const auto* preset = std::ranges::find(presets, name, &Preset::name);
  if (preset == std::end(presets))
    refuse_setting("preset", name, "veryfast, faster, fast, medium, slow, slower or veryslow");
  return *preset;
}

/// Returns the default temporal radius of `lull denoise` for a profile.
int radius_of(Profile profile) {
  if (profile == Profile::best) return 4;
  return profile == Profile::balanced || profile == Profile::high ? 2 : 0;
}

std::array<float, 3> levels_of(const std::string& text) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = text;;) {
    const std::size_t colon = rest.find(':');
    parts.push_back(rest.substr(0, colon));
    if (colon == rest.npos) break;
    rest.remove_prefix(colon + 1);
  }
  std::array<float, 3> sigma{};
  if (parts.size() != 1 && parts.size() != 3)
    refuse_setting("sigma", text, "auto, one number, or Y:Cb:Cr");
  for (std::size_t i = 0; i < 3; ++i) {
    const auto value = finite_number(parts[parts.size() == 1 ? 0 : i]);
    if (!value || *value < 0 || std::signbit(*value))
      refuse_setting("sigma", text, "auto, or numbers from 0");
    sigma[i] = *value;
  }
  return sigma;
}

float strength_of(const std::string& text) {
  if (text.empty() || text == "medium") return 1;
  if (text == "light") return 0.7f;
  if (text == "strong") return 1.4f;
  const auto value = finite_number(text);
  if (!value || !(*value >= 0.1f && *value <= 10))
    refuse_setting("strength", text, "light, medium, strong or a number from 0.1 to 10");
  return *value;
}

}  // namespace

ClipChoice choose_clip(const ClipSettings& settings) {
  ClipChoice choice;
  SessionChoice& session = choice.session;
  const Preset& preset = preset_of(settings.preset);
  const bool own_profile = !settings.profile.empty();
  const auto profile = own_profile ? parse_name<Profile>(settings.profile) : preset.profile;
  if (!profile) refuse_setting("profile", settings.profile, "fast, balanced, high, best or paper");
  session.profile = name_of(*profile);
  session.temporal = own_profile && settings.preset.empty() ? radius_of(*profile) : preset.temporal;
  if (!settings.temporal.empty() && settings.temporal != "auto") {
    const auto radius = finite_number(settings.temporal);
    if (!radius || *radius != std::floor(*radius) || *radius < 0 || *radius > max_temporal)
      refuse_setting("temporal", settings.temporal, "auto, or a whole number from 0 to 8");
    session.temporal = static_cast<int>(*radius);
  }
  if (!settings.method.empty()) session.method = settings.method;
  if (session.method != "bm3d" && session.method != "nlm")
    refuse_setting("method", settings.method, "bm3d or nlm");
  if (!settings.device.empty()) session.device = settings.device;
  session.threads = settings.threads;
  choice.strength = strength_of(settings.strength);
  choice.estimates = settings.sigma.empty() || settings.sigma == "auto";
  if (!choice.estimates) {
    const NoiseModel noise(levels_of(settings.sigma));
    session.noise = choice.strength == 1 ? noise : scaled(noise, choice.strength);
  }
  return choice;
}

}  // namespace lull
