#include "pipeline/field_denoiser.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/slices.h"
#include "core/validate_format.h"
#include "noise/holes.h"
#include "noise/render/features.h"

namespace lull::pipeline {
namespace {

class FieldDenoiser final : public Denoiser {
 public:
  FieldDenoiser(const FrameFormat& frame, std::unique_ptr<Denoiser> even,
                std::unique_ptr<Denoiser> odd, const ResultSamples& results)
      : field_(field_format(frame)), pool_(result_format(frame, results)) {
    fields_[0].session = std::move(even);
    fields_[1].session = std::move(odd);
  }

  int latency() const noexcept override {
    return std::max(fields_[0].session->latency(), fields_[1].session->latency());
  }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (fields are separated in host memory); decode "
          "it on the CPU");
    masks_.push_back(noisy.mask);
    for (const int parity : {0, 1}) fields_[parity].push(field_of(noisy, parity));
    return next();
  }

  std::optional<Frame> next() override {
    if (fields_[0].done.empty() || fields_[1].done.empty()) return std::nullopt;
    std::array<Frame, 2> halves;
    for (const int parity : {0, 1}) {
      halves[parity] = std::move(fields_[parity].done.front());
      fields_[parity].done.pop_front();
    }
    Frame frame = weave(std::move(halves));
    frame.mask = std::move(masks_.front());
    masks_.pop_front();
    return frame;
  }

  std::optional<Frame> drain() override {
    for (Field& field : fields_)
      if (field.done.empty()) field.drain();
    if (fields_[0].done.empty() != fields_[1].done.empty())
      throw InternalError(
          "one session returned the fields of frames whose other fields are missing");
    return next();
  }

 private:
  struct Field {
    std::unique_ptr<Denoiser> session;
    std::deque<Frame> done;  // results that wait for results of the other session

    void push(Frame noisy) {
      for (auto result = session->push(std::move(noisy)); result; result = session->next())
        done.push_back(*std::move(result));
    }
    void drain() {
      if (auto result = session->drain()) done.push_back(*std::move(result));
    }
  };

  Frame weave(std::array<Frame, 2> halves) {
    if (!halves[0].pixels != !halves[1].pixels)
      throw InternalError("one field of a frame was returned without samples");
    if (!halves[0].pixels) {
      halves[0].format = pool_.format();
      return std::move(halves[0]);
    }
    Frame frame = pool_.acquire();
    frame.copy_info(halves[0]);
    for (int i = 0; i < field_.planes(); ++i)
      for (int y = 0; y < frame.planes[i].height; ++y)
        std::memcpy(frame.planes[i].row(y), halves[y % 2].planes[i].row(y / 2),
                    static_cast<std::size_t>(frame.planes[i].width));
    return frame;
  }

  FrameFormat field_;
  FramePool pool_;
  std::array<Field, 2> fields_;                         // the even rows and the odd rows
  std::deque<std::shared_ptr<const SliceMask>> masks_;  // masks of the frames in progress
};

}  // namespace

Frame field_of(const Frame& frame, int parity) {
  const auto of_plane = [&](const std::shared_ptr<const Frame>& plane) {
    return plane ? std::make_shared<const Frame>(field_of(*plane, parity)) : nullptr;
  };
  Frame field = frame;
  field.format = field_format(frame.format);
  field.repeat_state = RepeatState::unknown;  // the state of a frame does not apply to its fields
  for (int i = 0; i < frame.format.planes(); ++i) {
    const auto& plane = frame.planes[i];
    field.planes[i] = {plane.row(parity), plane.width, plane.height / 2, 2 * plane.stride};
  }
  // A field contains every other row of the guide, mask, holes and features of the frame.
  field.guide = of_plane(frame.guide);
  if (frame.mask) field.mask = std::make_shared<const SliceMask>(frame.mask->field(parity));
  if (frame.holes) field.holes = std::make_shared<const Holes>(frame.holes->field(parity));
  if (frame.features) {
    Features features;
    for (std::size_t i = 0; i < features.planes.size(); ++i)
      features.planes[i] = of_plane(frame.features->planes[i]);
    field.features = std::make_shared<const Features>(features);
  }
  return field;
}

FrameFormat field_format(const FrameFormat& frame) {
  validate(frame);
  const int unit = 2 << frame.chroma_shift_y;
  if (frame.height % unit != 0)
    throw InvalidArgument("fields of a frame of " + std::to_string(frame.height) +
                          " rows (they would differ in height); crop it to a multiple of " +
                          std::to_string(unit));
  FrameFormat field = frame;
  field.height /= 2;
  return field;
}

std::unique_ptr<Denoiser> by_fields(const FrameFormat& frame, std::unique_ptr<Denoiser> even,
                                    std::unique_ptr<Denoiser> odd, const ResultSamples& results) {
  return std::make_unique<FieldDenoiser>(frame, std::move(even), std::move(odd), results);
}

}  // namespace lull::pipeline
