#include "tools/wrap/bursts.h"

#include <string>
#include <utility>

#include "burst/burst.h"
#include "core/error.h"
#include "time/frame_relation.h"
#include "tools/sessions/shared_job.h"

namespace lull::tools {

void check_align(const DenoiseOptions& options, const io::MediaSource& source) {
  if (!options.method.align) return;
  const std::string with = "--align with '" + options.input.file + "' (";
  if (source.info().stack || options.input.stack)
    throw InvalidArgument(with + "slices are not a burst); leave it out");
  if (source.info().still) throw InvalidArgument(with + "it is one picture); leave it out");
  if (!options.output.keep &&
      !io::holds_one_frame(options.output.file, source, sink_options(options)))
    throw InvalidArgument(
        "--align without --keep (all frames are aligned to this one); give its number");
}

std::unique_ptr<Denoiser> aligned(std::unique_ptr<Denoiser> denoiser, const DenoiseOptions& options,
                                  const Method& method, const io::MediaSource& source) {
  if (!options.method.align) return denoiser;
  const FrameFormat& format = source.format();
  return burst::aligned(std::move(denoiser), format, main_plane(format.layout == Layout::rgb),
                        *options.output.keep, margin_of(method).before);
}

}  // namespace lull::tools
