#include "time/device_motion.h"

namespace lull {
namespace {

std::size_t cells_of_frame(int width, int height) {
  return static_cast<std::size_t>(motion_cells(width)) * motion_cells(height);
}

}  // namespace

DeviceMotion::DeviceMotion(const FrameFormat& format, const std::array<float, max_planes>& sigma,
                           int slots, cudaStream_t upload_stream, cudaStream_t compute_stream)
    : format_(format),
      sigma_(sigma),
      upload_stream_(upload_stream),
      compute_stream_(compute_stream) {
  const int plane = main_plane(format.layout == Layout::rgb);
  width_ = format.plane_width(plane);
  height_ = format.plane_height(plane);
  main_sigma_ = sigma[plane];
  if (!has_coarse_plane()) return;
  const std::size_t size = static_cast<std::size_t>(width_) * height_;
  fine_ = {slots, size, compute_stream};
  coarse_ = {slots, size / (coarse * coarse), compute_stream};
  predicted_ = {slots, size / (coarse * coarse), compute_stream};
  motion_ = {slots, max_frames * cells_of_frame(width_, height_), compute_stream};
  // The upload stream uses the cleared buffers too, so the constructor waits until `compute_stream`
  // has cleared them.
  cuda::check(cudaStreamSynchronize(compute_stream));
}

FrameDifference DeviceMotion::difference(const RawPlanes& frame, const RawPlanes& before) {
  count_difference(frame, before, format_, sigma_, difference_.on_device(), upload_stream_);
  const DifferenceCounts& counts = difference_.read(upload_stream_);
  FrameDifference d{.identical = true, .textured = counts.textured, .shared = counts.shared};
  for (int i = 0; i < format_.planes(); ++i) {
    const bool equal = counts.unequal[i] == 0;
    d.identical = d.identical && equal;
    d.different[i] = sigma_[i] == 0 ? (equal ? 0 : 1) : counts.different[i];
  }
  return d;
}

void DeviceMotion::load_predicted(int slot, const RawPlanes& frame, const FrameFormat& format) {
  if (has_coarse_plane()) make_bytes(frame, format, {nullptr, predicted_.at(slot)}, upload_stream_);
}

PredictionCost DeviceMotion::prediction(int slot, int earlier) {
  PredictionCost cost;
  if (!has_coarse_plane()) return cost;
  const int width = width_ / coarse, height = height_ / coarse;
  count_prediction(predicted_.at(slot), predicted_.at(earlier), width, height,
                   coarse_noise(main_sigma_), prediction_.on_device(), upload_stream_);
  const PredictionCounts& counts = prediction_.read(upload_stream_);
  cost.predicted = counts.predicted;
  cost.own = counts.own;
  cost.blocks = (width / prediction_block) * (height / prediction_block);
  return cost;
}

void DeviceMotion::load(int slot, const RawPlanes& frame, const FrameFormat& format) {
  if (has_coarse_plane()) make_bytes(frame, format, main_bytes(slot), compute_stream_);
}

void DeviceMotion::find(std::span<const SlotFrame> frames) {
  if (!has_coarse_plane()) return;
  std::array<MainBytes, 2 * max_temporal> others;
  std::array<Motion*, 2 * max_temporal> to;
  const std::size_t count = frames.size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    others[i] = main_bytes(frames[i + 1].frame);
    to[i] = cells_at(frames[0].frame, frames[i + 1].offset);
  }
  find_motion(main_bytes(frames[0].frame), {others.data(), count}, {to.data(), count}, width_,
              height_, main_sigma_, compute_stream_);
}

Motion* DeviceMotion::cells_at(int slot, int offset) const {
  return motion_.at(slot) + (offset + max_temporal) * cells_of_frame(width_, height_);
}

}  // namespace lull
