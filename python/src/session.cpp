#include "python/src/session.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "noise/render/features.h"

namespace lull::python {
namespace {

std::pmr::memory_resource* memory_for(const SessionChoice& choice) {
  return bm3d::frame_memory(choose_backend(choice.device));
}

/// Returns the planes of a feature buffer as a frame.
/// @throws InvalidArgument  the feature buffer does not exist, or has a wrong number of planes
Frame feature_frame(const std::string& name, const Image& planes, const FrameFormat& picture,
                    bool copy) {
  const bool three = planes.size() == 3;
  if ((planes.size() != 1 && !three) || (name == "normal" && !three) || (name == "depth" && three))
    throw InvalidArgument(
        "the feature " + name + " of " + std::to_string(planes.size()) +
        " channels (a normal needs three, depth one, other features one or three)");
  const FrameFormat format{.width = picture.width,
                           .height = picture.height,
                           .layout = three ? Layout::rgb : Layout::gray,
                           .sample = SampleType::f32,
                           .bits = 32};
  check_planes(planes, format);
  FramePool pool(format);
  return frame_of(planes, pool, copy);
}

std::shared_ptr<const Features> features_of(const FeatureImages& images, const FrameFormat& picture,
                                            bool copy) {
  auto features = std::make_shared<Features>();
  for (const auto& [name, planes] : images) {
    const auto at = std::ranges::find(feature_names, name);
    if (at == feature_names.end()) throw InvalidArgument("there is no feature " + name);
    features->planes[static_cast<std::size_t>(at - feature_names.begin())] =
        std::make_shared<const Frame>(feature_frame(name, planes, picture, copy));
  }
  return features;
}

}  // namespace

Session::Session(const SessionChoice& choice, const FrameFormat& format)
    : format_(format), pool_(format, memory_for(choice)), frames_on_gpus_(format) {
  ChosenSession chosen = open_chosen(choice, format);
  denoiser_ = std::move(chosen.denoiser);
  latency_ = denoiser_->latency();
  device_ = device_name(chosen.backend);
}

Denoiser& Session::denoiser() {
  if (!denoiser_)
    throw Error(ErrorKind::internal,
                "the session is closed (by close(), or a failure); open another");
  return *denoiser_;
}

std::vector<Result> Session::push(const Image& planes, int slice, bool copy, const Image& guide,
                                  const FeatureImages& features) {
  check_planes(planes, format_);
  if (!guide.empty()) check_planes(guide, format_);
  const std::lock_guard lock(mutex_);
  Frame frame = frame_of(planes, pool_, copy);
  if (!guide.empty()) frame.guide = std::make_shared<const Frame>(frame_of(guide, pool_, copy));
  if (!features.empty()) frame.features = features_of(features, format_, copy);
  return push(std::move(frame), slice);
}

std::vector<Result> Session::push_on_device(const cuda::ArrayPicture& image, int slice, bool copy,
                                            const cuda::ArrayPicture* guide) {
  const std::lock_guard lock(mutex_);
  Frame frame = frames_on_gpus_.frame_of(image, copy);
  if (guide != nullptr)
    frame.guide = std::make_shared<const Frame>(frames_on_gpus_.frame_of(*guide, copy));
  return push(std::move(frame), slice);
}

std::vector<Result> Session::push(Frame frame, int slice) {
  Denoiser& session = denoiser();
  frame.pts = count_++;
  frame.duration = 1;
  frame.time_base = {1, 25};
  frame.slice = slice;
  std::vector<Result> ready;
  try {
    if (auto result = session.push(std::move(frame))) ready.emplace_back(*std::move(result));
    while (auto result = session.next()) ready.emplace_back(*std::move(result));
  } catch (...) {
    denoiser_.reset();
    throw;
  }
  return ready;
}

std::optional<Result> Session::drain() {
  const std::lock_guard lock(mutex_);
  Denoiser& session = denoiser();
  try {
    std::optional<Frame> result = session.drain();
    if (!result) count_ = 0;
    return result ? std::optional<Result>(*std::move(result)) : std::nullopt;
  } catch (...) {
    denoiser_.reset();
    throw;
  }
}

void Session::close() {
  const std::lock_guard lock(mutex_);
  denoiser_.reset();
}

}  // namespace lull::python
