#pragma once
// Parts that pages have in common.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "io/media.h"
#include "tools/noise/noise_record.h"
#include "tools/pages/residual.h"

namespace lull::tools {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// What was found, in words and, of each scene, as curves: HTML.
[[nodiscard]] std::string noise_section(const NoiseRecord& noise);

/// Whether what was taken away looks like noise, by what, and its autocorrelation: HTML.
/// `more`: HTML that follows the answer.
[[nodiscard]] std::string residual_section(const ResidualFindings& findings,
                                           const PlaneNoise& expected,
                                           const ResidualVerdict& verdict);

[[nodiscard]] const char* name_of(ResidualVerdict::Answer answer);

/// The facts of a job without the noise's, which is long and has a section of its own.
[[nodiscard]] Facts plain_facts(const std::vector<io::JobFact>& facts);
/// The noise among them. @throws BadData
[[nodiscard]] std::vector<NoiseRecord> noise_among(const std::vector<io::JobFact>& facts,
                                                   const std::string& name);

/// "1.4 MB"
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
/// "2026-11-22 21:35:04 UTC"; empty for 0. `time`: seconds since 1970.
[[nodiscard]] std::string time_text(std::int64_t time);
/// "inf" and what is no number are "-".
[[nodiscard]] std::string number_text(const char* format, double value);

/// Y, Cb, Cr or R, G, B.
[[nodiscard]] const char* plane_name_of(Layout layout, int plane);
[[nodiscard]] const char* plane_colour(Layout layout, int plane);

}  // namespace lull::tools
