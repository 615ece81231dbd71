// Checks the combination of the options, and derives the parameters of the filters from the
// options.

#include <algorithm>
#include <string>

#include "core/error.h"
#include "tools/options/denoise_options.h"
#include "tools/options/option_table.h"

namespace lull::tools {
namespace {

/// Rejects contradictory pairs of options.
void check_pairs(const DenoiseOptions& options) {
  const NoiseOptions& noise = options.noise;
  const OutputOptions& output = options.output;
  const PageOptions& page = options.run.page;
  const SharedJob& job = options.run.job;
  const bool segments = options.run.segment_frames > 0, masks = !options.input.mask.empty();
  const std::pair<bool, const char*> conflicts[] = {
      {noise.sigma && !noise.file.empty(),
       "--noise with --sigma (both specify the noise); leave one out"},
      {noise.sigma && !noise.map.empty(),
       "--noise-map with --sigma (lull then estimates no noise); leave one out"},
      {noise.scale != SigmaScale::automatic && !noise.sigma,
       "--sigma-scale without --sigma (it is the unit of --sigma); leave it out"},
      {output.lossless && output.crf,
       "--lossless with --crf (both set the quality); leave one out"},
      {job.segments && job.folder.empty(),
       "--segment without --job (only a planned job has segments to choose from); give the folder "
       "of the job"},
      {job.plans && job.folder.empty(),
       "lull plan without --job (the plan is written into its folder); give a folder"},
      {job.plans && !segments,
       "lull plan without --segment-frames (a job without segments cannot be shared); give some "
       "hundred frames"},
      {options.run.resume && !segments,
       "--resume without --segment-frames (only a job in segments can be resumed); give the value "
       "that the job was started with"},
      {output.keep && segments,
       "--keep with --segment-frames (one picture has no segments); leave one out"},
      {options.input.zero_outside && !masks,
       "--outside zero without --mask (only a mask has an outside); leave it out"},
      {masks && segments,
       "--mask with --segment-frames (segments do not support masks); leave one out"},
      {!options.input.phase.empty() && segments,
       "--phase with --segment-frames (segments do not support phases); leave one out"},
      {options.input.phase_turn > 0 && options.input.phase.empty(),
       "--phase-turn without --phase (it is the unit of that file); leave it out"},
      {!output.phase.empty() && options.input.phase.empty(),
       "--phase-out without --phase (it writes the filtered phase); give the phase of the input"},
      {!page.reference.empty() && page.file.empty(),
       "--reference without --report (only the report shows it); give --report FILE"},
      {!page.frames.empty() && page.file.empty(),
       "--report-frames without --report (only the report shows it); give --report FILE"}};
  for (const auto& [holds, text] : conflicts)
    if (holds) throw InvalidArgument(text);
}

/// Rejects options that are incompatible with a guide. lull reads a guide only once, in parallel
/// with the input.
void check_guide(const DenoiseOptions& options) {
  if (!has_guide_file(options.method)) return;
  if (options.output.keep_grain)
    throw InvalidArgument(
        "--guide with --grain keep (the grain is measured in single frames, for which no guide is "
        "read); "
        "leave one out");
  if (options.method.guide == "-")
    throw InvalidArgument(
        "--guide - (it must be a file, because standard input is for the input); name a file");
}

}  // namespace

void check_grain(const DenoiseOptions& options) {
  if (!options.output.has_grain()) return;
  if (options.run.segment_frames > 0)
    throw InvalidArgument(
        std::string(options.output.keep_grain ? "--grain keep" : "--grain-table") +
        " with --segment-frames (a table belongs to one run and one encoder); leave one out");
  if (options.output.keep_grain && !io::supports_grain_table(options.output.vcodec))
    throw InvalidArgument(
        "--grain keep " +
        (options.output.vcodec.empty() ? std::string("without --vcodec")
                                       : "with " + options.output.vcodec) +
        " (not every encoder supports film grain tables); give --vcodec libaom-av1");
  if (options.output.keep_grain && options.input.file == "-")
    refuse_grain_of_pipe(options.input.file);
}

void assign_operands(DenoiseOptions& options) {
  for (const std::string& name : options.operands) {
    if (options.input.file.empty()) {
      options.input.file = name;
    } else if (options.output.file.empty()) {
      options.output.file = name;
    } else {
      throw InvalidArgument("'" + name + "' is an unexpected argument (the input is '" +
                            options.input.file + "', the output is '" + options.output.file +
                            "'); leave one out");
    }
  }
  options.operands.clear();
}

void check(const DenoiseOptions& options) {
  if (options.input.file.empty())
    throw InvalidArgument("no input; name it, as in lull INPUT OUTPUT, or with -i FILE");
  if (options.output.file.empty())
    throw InvalidArgument("no output for '" + options.input.file +
                          "'; name it after the input or with " +
                          "-o FILE, as in lull INPUT OUTPUT");
  if (options.output.is_stdout() && options.run.progress.descriptor == 1)
    throw InvalidArgument("--progress-fd 1 with -o " + options.output.file +
                          " (the result is written to it); give another descriptor");
  check_pairs(options);
  check_grain(options);
  check_depth(options);
  check_scale_and_align(options);
  check_method(options);
  check_guide(options);
  (void)source_options(options.input);
}

}  // namespace lull::tools
