#include <utility>

#include "core/round_up.h"
#include "core/samples.h"
#include "cuda/raw_frame.h"

namespace lull {
namespace {

/// Returns the row pitch of a plane in bytes.
int pitch_of(const FrameFormat& format, int i) {
  constexpr int row_alignment = 64;
  return round_up(format.plane_width(i) * format.bytes_per_sample(), row_alignment);
}

}  // namespace

cuda::DeviceBuffer<float> dither_thresholds(const FrameFormat& format, cudaStream_t stream) {
  const DitherPattern* const pattern =
      format.sample == SampleType::f32 ? nullptr : dither_pattern(format.dither);
  if (pattern == nullptr) return {};
  cuda::DeviceBuffer<float> thresholds(pattern->size());
  cuda::check(cudaMemcpyAsync(thresholds.get(), pattern->data(), thresholds.bytes(),
                              cudaMemcpyHostToDevice, stream));
  cuda::check(cudaStreamSynchronize(stream));
  return thresholds;
}

RawFrame::RawFrame(const FrameFormat& format, cudaStream_t stream,
                   const std::array<float, max_planes>& sigma,
                   const std::array<CurvePair, max_planes>& curves,
                   const std::optional<FrameFormat>& results)
    : format_(format),
      results_(results.value_or(format)),
      sigma_(sigma),
      thresholds_(dither_thresholds(results_, stream)),
      planes_(format),
      filtered_(results_) {
  for (int i = 0; i < format.planes(); ++i) {
    planes_.pitch[i] = pitch_of(format, i);
    memory_[i] = zeroed<std::byte>(  // kernels also read the padding, four samples at a time
        static_cast<std::size_t>(planes_.pitch[i]) * format.plane_height(i), stream);
    planes_.data[i] = memory_[i].get();
    forward_[i] = upload_curve(curves[i].forward, stream);
    output_transforms_[i] = make_output_transform(i, curves[i], stream);
  }
  filtered_.thresholds = thresholds_.get();
  filtered_.data = planes_.data;
  filtered_.pitch = planes_.pitch;
  if (!has_separate_results()) return;
  for (int i = 0; i < format.planes(); ++i) {
    filtered_.pitch[i] = pitch_of(results_, i);
    filtered_memory_[i] = zeroed<std::byte>(
        static_cast<std::size_t>(filtered_.pitch[i]) * format.plane_height(i), stream);
    filtered_.data[i] = filtered_memory_[i].get();
    if (!is_guarded()) continue;
    cells_[i] =
        cuda::DeviceBuffer<CellSum>(static_cast<std::size_t>(guard_cells(format.plane_width(i))) *
                                    guard_cells(format.plane_height(i)));
  }
}

const float* RawFrame::upload_curve(const SampleCurve* curve, cudaStream_t stream) {
  if (curve == nullptr) return nullptr;
  const cuda::DeviceBuffer<float>& table = curves_.emplace_back(curve->values.size());
  cuda::check(cudaMemcpyAsync(table.get(), curve->values.data(), table.bytes(),
                              cudaMemcpyHostToDevice, stream));
  cuda::check(cudaStreamSynchronize(stream));  // the caller may destroy its curve
  return table.get();
}

OutputTransform RawFrame::make_output_transform(int i, const CurvePair& curves,
                                                cudaStream_t stream) {
  OutputTransform back;
  back.curve = upload_curve(curves.inverse, stream);
  back.limits = curves.limits;
  back.columns = clip_shift_cells(format_.plane_width(i));
  const int rows = clip_shift_cells(format_.plane_height(i));
  for (auto [limit, shifts] : {std::pair{&back.limits.low, &back.low_shifts},
                               std::pair{&back.limits.high, &back.high_shifts}})
    if (limit->is_enabled())
      *shifts = shifts_.emplace_back(static_cast<std::size_t>(back.columns) * rows).get();
  return back;
}

void RawFrame::upload(const Frame& frame, cudaStream_t stream) {
  if (frame.on_device) return device_pictures_.read(*frame.on_device, format_, planes_, stream);
  for (int i = 0; i < format_.planes(); ++i)
    staging_.upload(frame.planes[i], memory_[i].get(), planes_.pitch[i], stream);
}

void RawFrame::download(int i, const Frame& frame, cudaStream_t stream) const {
  const auto& to = frame.planes[i];
  cuda::check(cudaMemcpy2DAsync(to.data, to.stride, filtered_.data[i], filtered_.pitch[i], to.width,
                                to.height, cudaMemcpyDefault, stream));
}

void RawFrame::pass_through(int i, const Frame& noisy, const Frame& frame,
                            cudaStream_t stream) const {
  const auto& to = frame.planes[i];
  if (!noisy.on_device && !frame.on_device) return copy_plane(noisy, i, frame);
  if (!have_equal_samples(format_, results_)) {
    convert_samples(planes_, i, format_.plane_width(i), format_.plane_height(i), filtered_, stream);
    return download(i, frame, stream);
  }
  cuda::check(cudaMemcpy2DAsync(to.data, to.stride, planes_.data[i], planes_.pitch[i], to.width,
                                to.height, cudaMemcpyDefault, stream));
}

void RawFrame::to_planes(const std::array<const Margins*, max_planes>& margins,
                         const std::array<float*, max_planes>& planes, cudaStream_t stream) const {
  if (is_guarded()) {
    std::array<CellSum*, max_planes> cells{};
    for (int i = 0; i < format_.planes(); ++i) cells[i] = cells_[i].get();
    guard_samples(planes_, format_, sigma_, cells, filtered_, stream);
  }
  const RawPlanes& seen = is_guarded() ? filtered_ : planes_;
  if (format_.layout == Layout::rgb)
    return samples_to_planes(seen, 0, 3, Colour::opponent, *margins[0], planes, stream, forward_);
  for (int i = 0; i < format_.planes(); ++i)
    if (planes[i] != nullptr)
      samples_to_planes(seen, i, 1, Colour::as_is, *margins[i], {planes[i]}, stream, forward_);
}

void RawFrame::from_plane(int i, const Margins& margins, const float* plane, cudaStream_t stream) {
  planes_to_samples({plane}, i, 1, Colour::as_is, margins, filtered_, stream, output_transforms_);
}

void RawFrame::from_opponents(const Margins& margins, const Planes& planes, cudaStream_t stream) {
  planes_to_samples(planes, 0, 3, Colour::opponent, margins, filtered_, stream, output_transforms_);
}

void RawFrame::restore(const RawPlanes& original, cudaStream_t stream) {
  if (is_guarded()) restore_samples(original, format_, sigma_, filtered_, stream);
}

}  // namespace lull
