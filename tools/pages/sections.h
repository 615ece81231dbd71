#pragma once
// Sections and strings that several HTML pages share.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/media.h"
#include "tools/noise/noise_record.h"
#include "tools/pages/residual.h"

namespace lull::tools {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// Returns an HTML section with the noise estimate of each scene, as text and curves.
[[nodiscard]] std::string noise_section(const NoiseRecord& noise);

/// Returns an HTML section with the verdict on the residual, its criteria and the autocorrelation.
[[nodiscard]] std::string residual_section(const ResidualFindings& findings,
                                           const PlaneNoise& expected,
                                           const ResidualVerdict& verdict);

[[nodiscard]] const char* name_of(ResidualVerdict::Answer answer);

/// Returns the recorded settings of a job except the noise record.
[[nodiscard]] Facts plain_facts(const std::vector<io::JobFact>& facts);
/// Returns the noise record in the recorded settings of a job, or an empty list.
/// @param name  file that contains the record, for messages
/// @throws BadData  the record is damaged
[[nodiscard]] std::vector<NoiseRecord> noise_among(const std::vector<io::JobFact>& facts,
                                                   const std::string& name);

/// Returns a size as text, such as "1.4 MB".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
/// Returns a time as text, such as "2026-11-22 21:35:04 UTC", or an empty string for 0.
/// @param time  seconds since 1970
[[nodiscard]] std::string time_text(std::int64_t time);
/// Formats a value, or "-" for infinity and NaN.
[[nodiscard]] std::string number_text(const char* format, double value);

/// Returns the name of a plane: "Y", "Cb", "Cr" or "R", "G", "B".
[[nodiscard]] const char* plane_name_of(Layout layout, int plane);
[[nodiscard]] const char* plane_colour(Layout layout, int plane);

}  // namespace lull::tools
