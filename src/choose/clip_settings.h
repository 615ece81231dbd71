#pragma once
// Parses the settings of a clip, which plug-ins of other programs receive as strings. The settings
// have the same names and values as the options of `lull denoise`.

#include <optional>
#include <string>

#include "choose/choose.h"

namespace lull {

/// The settings as the user enters them. An empty string selects the default.
struct ClipSettings {
  std::string method;    // bm3d or nlm
  std::string preset;    // a name of core/params/preset.h
  std::string profile;   // replaces that of the preset
  std::string temporal;  // R or auto; replaces that of the preset
  std::string sigma;     // S, Y:Cb:Cr or auto
  std::string strength;  // X, light, medium or strong
  std::string device;
  int threads = 0;
};

struct ClipChoice {
  /// The session parameters. If the settings contain a noise level, `session.noise` is this level
  /// multiplied by the strength. If not, the caller must set `session.noise` to scaled(estimate,
  /// strength).
  SessionChoice session;
  bool estimates = false;  // no noise level is given
  float strength = 1;
};

/// Parses the settings of a clip.
/// @throws InvalidArgument  a value is invalid; the message begins with the name of the setting
[[nodiscard]] ClipChoice choose_clip(const ClipSettings& settings);

}  // namespace lull
