#include "tools/wrap/enlarging.h"

#include <optional>
#include <string>
#include <utility>

#include "core/describe.h"
#include "core/error.h"
#include "io/picture.h"
#include "scale/enlarger.h"

namespace lull::tools {
namespace {

scale::Params scale_params(const DenoiseOptions& options, const io::VideoInfo& input) {
  return {.factor = options.output.scale,
          .profile = chosen_profile(options),
          .site = {input.chroma_x, input.chroma_y}};
}

class EnlargedDenoiser final : public Denoiser {
 public:
  EnlargedDenoiser(std::unique_ptr<Denoiser> denoiser, const scale::Params& params,
                   const FrameFormat& format, const FrameFormat& results,
                   const bm3d::Backend& backend)
      : denoiser_(std::move(denoiser)),
        params_(params),
        backend_(backend),
        enlarger_(params, format, backend, results) {}

  int latency() const noexcept override { return denoiser_->latency(); }
  std::optional<Frame> push(Frame noisy) override {
    return enlarged(denoiser_->push(std::move(noisy)));
  }
  std::optional<Frame> next() override { return enlarged(denoiser_->next()); }
  std::optional<Frame> drain() override { return enlarged(denoiser_->drain()); }

 private:
  std::optional<Frame> enlarged(std::optional<Frame> clean) {
    if (!clean) return clean;
    if (!clean->pixels || clean->context_only) {
      clean->format = enlarger_.format();
      return clean;
    }
    Frame large = enlarger_.enlarged(*clean);
    if (const Frame* const alpha = io::alpha_of(*clean)) {
      if (!alpha_enlarger_)
        alpha_enlarger_.emplace(
            params_, alpha->format, backend_,
            result_format(alpha->format, {.bits = large.format.bits, .full_range = true}));
      io::set_alpha(large, alpha_enlarger_->enlarged(*alpha));
    }
    return large;
  }

  std::unique_ptr<Denoiser> denoiser_;
  scale::Params params_;
  bm3d::Backend backend_;
  scale::Enlarger enlarger_;
  std::optional<scale::Enlarger> alpha_enlarger_;
};

}  // namespace

void check_scale(const DenoiseOptions& options, const io::MediaSource& source) {
  if (options.output.scale == 1) return;
  const io::VideoInfo& input = source.info();
  if (input.stack || options.input.stack)
    throw InvalidArgument("--scale with '" + options.input.file +
                          "' (the slices of a volume keep their voxels); leave it out");
  if (input.interlaced)
    throw InvalidArgument("--scale with '" + options.input.file +
                          "' (it is interlaced: lines of two fields would be mixed); deinterlace "
                          "it first");
  const FrameFormat to = scale::scaled_format(source.format(), options.output.scale);
  if (1.0 * to.width * to.height > static_cast<double>(options.input.source.limits.pixels))
    throw BadData("--scale would give frames of " + describe(to) + " (more than " +
                  std::to_string(options.input.source.limits.pixels) +
                  " pixels); give a smaller factor, or --max-pixels");
}

void add_size(const OutputOptions& options, const FrameFormat& format, io::SinkOptions& sink) {
  if (options.scale == 1) return;
  const FrameFormat to = scale::scaled_format(format, options.scale);
  sink.width = to.width;
  sink.height = to.height;
}

double scale_memory(const DenoiseOptions& options, const FrameFormat& format,
                    const std::vector<bm3d::Backend>& backends) {
  if (options.output.scale == 1) return 0;
  // Assumed number of results in memory: in the queue, in the pipeline stages and in the encoder.
  constexpr double waiting = 8;
  const FrameFormat to = scale::scaled_format(format, options.output.scale);
  return scale::host_bytes({.factor = options.output.scale, .profile = chosen_profile(options)},
                           format, backends.front()) +
         waiting * to.planes() * to.width * to.height * to.bytes_per_sample();
}

std::unique_ptr<Denoiser> enlarged(std::unique_ptr<Denoiser> denoiser,
                                   const DenoiseOptions& options, const io::MediaSource& source,
                                   const std::vector<bm3d::Backend>& backends,
                                   const ResultSamples& results) {
  if (options.output.scale == 1) return denoiser;
  const FrameFormat& input = source.format();
  return std::make_unique<EnlargedDenoiser>(std::move(denoiser),
                                            scale_params(options, source.info()),
                                            result_format(input, precise_samples(results)),
                                            result_format(input, results), backends.front());
}

}  // namespace lull::tools
