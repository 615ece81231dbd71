#include "pipeline/field_denoiser.h"

#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"

namespace lull::pipeline {
namespace {

class FieldDenoiser final : public Denoiser {
 public:
  FieldDenoiser(const FrameFormat& frame, std::unique_ptr<Denoiser> session)
      : field_(field_format(frame)), session_(std::move(session)), pool_(frame) {}

  int latency() const noexcept override { return (session_->latency() + 1) / 2; }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (fields are taken apart in the host's memory); decode "
          "it on the CPU");
    std::optional<Frame> whole;
    for (const int parity : {0, 1})
      if (std::optional<Frame> result = session_->push(field_of(noisy, parity)))
        if (auto frame = take(*std::move(result))) whole = std::move(frame);
    return whole;
  }

  std::optional<Frame> drain() override {
    while (std::optional<Frame> result = session_->drain())
      if (auto frame = take(*std::move(result))) return frame;
    return std::nullopt;
  }

 private:
  Frame field_of(const Frame& frame, int parity) const {
    Frame field = frame;
    field.format = field_;
    for (int i = 0; i < field_.planes(); ++i) {
      const auto& plane = frame.planes[i];
      field.planes[i] = {plane.row(parity), plane.width, plane.height / 2, 2 * plane.stride};
    }
    return field;
  }

  // Of two results in a row the first is a frame's even rows.
  std::optional<Frame> take(Frame field) {
    if (!even_) {
      even_ = std::move(field);
      return std::nullopt;
    }
    Frame frame = pool_.acquire();
    frame.take_identity(*even_);
    for (int i = 0; i < field_.planes(); ++i)
      for (int y = 0; y < frame.planes[i].height; ++y)
        std::memcpy(frame.planes[i].row(y), (y % 2 == 0 ? *even_ : field).planes[i].row(y / 2),
                    static_cast<std::size_t>(frame.planes[i].width));
    even_.reset();
    return frame;
  }

  FrameFormat field_;
  std::unique_ptr<Denoiser> session_;
  FramePool pool_;
  std::optional<Frame> even_;
};

}  // namespace

FrameFormat field_format(const FrameFormat& frame) {
  const int unit = 2 << frame.chroma_shift_y;
  if (frame.height % unit != 0)
    throw InvalidArgument("fields of a frame of " + std::to_string(frame.height) +
                          " rows (they would differ in height); crop it to a multiple of " +
                          std::to_string(unit));
  FrameFormat field = frame;
  field.height /= 2;
  return field;
}

std::unique_ptr<Denoiser> by_fields(const FrameFormat& frame, std::unique_ptr<Denoiser> session) {
  return std::make_unique<FieldDenoiser>(frame, std::move(session));
}

}  // namespace lull::pipeline
