#include "tools/wrap/guides.h"

#include <utility>

#include "core/describe.h"
#include "core/error.h"
#include "core/frame_pool.h"

namespace lull::tools {
namespace {

bool has_same_shape(const FrameFormat& a, const FrameFormat& b) {
  bool alike = a.layout == b.layout;
  for (int i = 0; alike && i < a.planes(); ++i)
    alike = a.plane_width(i) == b.plane_width(i) && a.plane_height(i) == b.plane_height(i);
  return alike;
}

class GuidedDenoiser final : public Denoiser {
 public:
  GuidedDenoiser(std::unique_ptr<Denoiser> denoiser, SideInput guide, const io::MediaSource& input,
                 FirstFrame first_frame)
      : denoiser_(std::move(denoiser)),
        guide_(std::move(guide.source)),
        format_(input.format()),
        pool_(guide_->format()),
        ended_(first_frame.has_value()) {
    // If the input or the guide states values for black and white, lull converts the guide to the
    // scale of the input.
    const io::ValueScale &guide_values = guide_->info().values, &input_values = input.info().values;
    factor_ = static_cast<float>(guide_values.span / input_values.span);
    offset_ = static_cast<float>((guide_values.low - input_values.low) / input_values.span) *
              format_.white;
    while (frames_ < guide.leading_frames + first_frame.value_or(0)) (void)next_guide();
  }

  int latency() const noexcept override { return denoiser_->latency(); }

  std::optional<Frame> push(Frame noisy) override {
    Frame guide = next_guide();
    if (!has_same_shape(guide.format, noisy.format)) refuse(guide.format, noisy.format);
    noisy.guide = std::make_shared<const Frame>(on_scale(std::move(guide)));
    return denoiser_->push(std::move(noisy));
  }

  std::optional<Frame> next() override { return denoiser_->next(); }

  std::optional<Frame> drain() override {
    if (!ended_) {
      ended_ = true;
      // The guide must end together with the input. An exception is a run that filters a part of a
      // clip, because it may read more context frames from the guide than from the input.
      const std::optional<Frame> more = guide_->read();
      if (more && !more->context_only)
        throw BadData("the guide has more than " + std::to_string(frames_) +
                      " frames (the input ends there); give a guide of the same length");
    }
    return denoiser_->drain();
  }

  [[noreturn]] static void refuse(const FrameFormat& guide, const FrameFormat& input) {
    throw BadData(
        "the guide has frames of " + describe(guide) + ", the input of " + describe(input) +
        " (patches are matched at equal positions); give a guide of the same size and kind");
  }
  static void check(const FrameFormat& guide, const FrameFormat& input) {
    if (!has_same_shape(guide, input)) refuse(guide, input);
  }

 private:
  Frame next_guide() {
    std::optional<Frame> guide = guide_->read();
    if (!guide)
      throw BadData("the guide ends after " + std::to_string(frames_) +
                    " frames (the input has more); give a guide of the same length");
    ++frames_;
    return *std::move(guide);
  }

  Frame on_scale(Frame guide) {
    if (guide.format.sample != SampleType::f32) return guide;
    if (factor_ != 1 || offset_ != 0) {
      const Frame original = std::exchange(guide, pool_.acquire());
      for (int i = 0; i < original.format.planes(); ++i) {
        const PlaneView<float> from = original.plane<float>(i), to = guide.plane<float>(i);
        const float unit = format_.white / original.format.white;
        for (int y = 0; y < to.height; ++y)
          for (int x = 0; x < to.width; ++x) to(x, y) = from(x, y) * unit * factor_ + offset_;
      }
    }
    guide.format.white = format_.white;
    return guide;
  }

  std::unique_ptr<Denoiser> denoiser_;
  std::unique_ptr<io::MediaSource> guide_;
  FrameFormat format_;  // format of the input
  FramePool pool_;
  float factor_ = 1, offset_ = 0;  // convert float samples of the guide to the input's scale
  std::int64_t frames_ = 0;
  bool ended_;  // true if the end of the guide was checked, or needs no check
};

}  // namespace

std::optional<SideInput> open_guide(const DenoiseOptions& given, const io::SourceOptions& options,
                                    const io::MediaSource& input) {
  if (!has_guide_file(given.method)) return std::nullopt;
  SideInput guide = open_side_input(guide_name, given.method.guide, given, options);
  GuidedDenoiser::check(guide.source->format(), input.format());
  const bool floats = guide.source->format().sample == SampleType::f32;
  if (floats != (input.format().sample == SampleType::f32) && input.info().values.native)
    throw BadData(
        "only one of guide and input has values in units of its own (they cannot be compared); "
        "give a guide of the same kind");
  return guide;
}

std::unique_ptr<Denoiser> guided(std::unique_ptr<Denoiser> denoiser, SideInput guide,
                                 const io::MediaSource& input, FirstFrame first_frame) {
  return std::make_unique<GuidedDenoiser>(std::move(denoiser), std::move(guide), input,
                                          first_frame);
}

}  // namespace lull::tools
