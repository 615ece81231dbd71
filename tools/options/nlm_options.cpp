// The rows of the option table that are about non-local means, and what they say together.

#include <algorithm>
#include <array>

#include "core/error.h"
#include "nlm/names.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

constexpr std::string_view group = "Non-local means";

constexpr std::pair<std::string_view, nlm::Weights> weights[] = {
    {"exp", nlm::Weights::exponential}, {"poly", nlm::Weights::polynomial}};

/// An option that only nlm has.
template <class Value>
void set_nlm(DenoiseOptions& options, std::string_view option, Value nlm::Params::*member,
             Value value) {
  options.nlm_overrides.emplace_back([=](nlm::Params& params) { params.*member = value; });
  options.nlm_alone.emplace_back(option);
}

constexpr OptionRow rows[] = {
    {"--patch-radius", "N", group,
     "patches have so many samples around their block of 4x4 (0 to 8; around one sample with "
     "paper, and in volumes, 0 to 4 voxels)",
     [](DenoiseOptions& o, const std::string& v) {
       set_nlm(o, "--patch-radius", &nlm::Params::patch_radius,
               count_or_reject("--patch-radius", v, 0, nlm::max_patch_radius));
     }},
    {"--search-radius", "N", group,
     "patches are averaged with those up to so many samples away, 1 to 20; in volumes 1 to 10 "
     "voxels",
     [](DenoiseOptions& o, const std::string& v) {
       set_nlm(o, "--search-radius", &nlm::Params::search_radius,
               count_or_reject("--search-radius", v, 1, nlm::max_search_radius));
     }},
    {"--nlm-h", "X", group,
     "how unlike patches may be that still count, in units of the noise (--strength changes both)",
     [](DenoiseOptions& o, const std::string& v) {
       set_nlm(o, "--nlm-h", &nlm::Params::h, number_or_reject<float>("--nlm-h", v));
     }},
    {"--weights", "exp|poly", group,
     "how weights fall with distance: exponentially, as in the papers, or as a power of a line, "
     "which is cheaper (default: poly; exp with --profile paper)",
     [](DenoiseOptions& o, const std::string& v) {
       set_nlm(o, "--weights", &nlm::Params::weights, choose("--weights", v, weights));
     }},
    {"--guide", "FILE", group,
     "say by this clip which patches are alike, in place of the input, whose samples are averaged: "
     "one of the same size and length, such as a result of another filter",
     [](DenoiseOptions& o, const std::string& v) {
       if (v.empty()) reject("--guide", v, "must be the name of a file");
       o.guide = v;
       o.nlm_alone.emplace_back("--guide");
     }},
};

/// Options that nlm does not have.
constexpr std::string_view others[] = {
    "--window",          "--group",       "--step",   "--tau",
    "--transform",       "--kaiser",      "--lambda", "--group-transform",
    "--lambda-mean",     "--mu2",         "--phases", "--guide-noise",
    "--temporal-window", "--place-bonus", "--batch",  "--cube",
    "--mu2-mean",        "--matcher",     "--cluster"};

nlm::Profile profile_of(const DenoiseOptions& options) {
  switch (options.profile) {
    case bm3d::Profile::fast:
      return nlm::Profile::fast;
    case bm3d::Profile::high:
      return nlm::Profile::high;
    case bm3d::Profile::paper:
      return nlm::Profile::paper;
    case bm3d::Profile::balanced:
      break;
  }
  return nlm::Profile::balanced;
}

}  // namespace

std::span<const OptionRow> nlm_option_rows() { return rows; }

void check_nlm(const DenoiseOptions& options) {
  if (options.method != MethodChoice::nlm) {
    if (!options.nlm_alone.empty())
      throw InvalidArgument(options.nlm_alone.front() +
                            " without --method nlm (only nlm has it); give both, or neither");
    return;
  }
  for (const auto& [name, value] : options.given)
    if (std::ranges::find(others, name) != std::end(others))
      throw InvalidArgument(name + " with --method nlm (nlm does not have it); leave one out");
  if (!options.guide.empty()) {
    if (options.interlaced == Interlaced::fields)
      throw InvalidArgument(
          "--guide with --interlaced fields (a guide is not taken apart); leave one out");
    if (options.keep_grain || !options.job.folder.empty())
      throw InvalidArgument(std::string("--guide with ") +
                            (options.keep_grain ? "--grain keep" : "--job") +
                            " (frames are read in another order there); leave one out");
    if (options.guide == "-" || options.guide == options.output)
      throw InvalidArgument("--guide " + options.guide +
                            " (it must be a file, and not the output); choose another");
  }
  const bool volumes = may_be_volume(options);
  (void)make_nlm_params(options, given_noise(options), volumes, options.temporal.value_or(0));
}

nlm::Params make_nlm_params(const DenoiseOptions& options, const NoiseModel& noise, bool volumes,
                            int temporal) {
  const NoiseModel all = options.strength == 1 ? noise : scaled(noise, options.strength);
  nlm::Params params = volumes ? nlm::make_volume_params(profile_of(options), all)
                               : nlm::make_params(profile_of(options), all, temporal);
  for (const auto& override_one : options.nlm_overrides) override_one(params);
  params.guided = !options.guide.empty();
  nlm::validate(params);
  return params;
}

}  // namespace lull::tools
