#pragma once
// The session of a clip from texts, for elements and filters of other programs. Names and values
// are those of the options of `lull denoise`.

#include <optional>
#include <string>

#include "choose/choose.h"

namespace lull {

/// Values of options as texts; empty: the default of the option.
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
  /// Its noise is the given one times the strength. Without a given level it must be set:
  /// scaled(estimate, strength).
  SessionChoice session;
  bool estimates = false;  // no level is given
  float strength = 1;
};

/// Parses the settings of a clip.
/// @throws InvalidArgument  a value is invalid; the message begins with the name of the setting
[[nodiscard]] ClipChoice choose_clip(const ClipSettings& settings);

}  // namespace lull
