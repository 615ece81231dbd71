#include <utility>

#include "bm3d/cuda/frame_transfer.h"
#include "bm3d/phase_plan.h"
#include "bm3d/stabilisers.h"
#include "cuda/nvtx.h"
#include "match/guide.h"

namespace lull::bm3d {

FrameTransfer::Input::Input(const Params& params, const FrameFormat& format, cudaStream_t stream,
                            const std::array<float, 3>& sigma, const Curves& curves,
                            const ResultSamples& results)
    : raw(format, stream, sigma, curves, result_format(format, results)),
      guide(sigma, stabilisers_of(params, Layout::gray), Colour::opponent) {}

FrameTransfer::Output::Output(const FrameFormat& format, cudaStream_t stream,
                              const std::array<float, 3>& sigma, const Curves& curves,
                              const ResultSamples& results)
    : raw(format, stream, sigma, curves, result_format(format, results)) {}

FrameTransfer::FrameTransfer(const Params& params, const FrameFormat& format,
                             const ResultSamples& results, bool results_on_device, int slots)
    : params_(params),
      format_(format),
      compute_stream_(cuda::make_stream()),
      upload_stream_(cuda::make_stream(cuda::Priority::high)),
      download_stream_(cuda::make_stream()),
      pool_(result_format(format, results), results_on_device),
      levels_(params.noise.levels_in_samples()),
      clean_(slots),
      motion_(format, levels_, slots, upload_stream_.get(), compute_stream_.get()) {
  const Stabilisers stabilisers = stabilisers_of(params, format.layout);
  const Curves curves = curves_of(stabilisers);
  for (auto& in : inputs_)
    in = std::make_unique<Input>(params, format, compute_stream_.get(), levels_, curves, results);
  for (auto& out : outputs_)
    out = std::make_unique<Output>(format, compute_stream_.get(), levels_, curves, results);
  for (int i = 0; format.sample == SampleType::f32 && i < format.planes(); ++i)
    original_[i] = {slots, inputs_[0]->raw.plane_bytes(i), compute_stream_.get()};
  pool_.reserve(max_results + cuda::expected_queued_results);
}

void FrameTransfer::wait() noexcept {
  for (const auto* stream : {&upload_stream_, &compute_stream_, &download_stream_})
    (void)cudaStreamSynchronize(stream->get());
}

bool FrameTransfer::changes(int plane) const {
  return params_.noise.sigma(plane) > 0 && fits_patch(format_, plane);
}

void FrameTransfer::take(const Frame& frame) {
  const cuda::NvtxRange range("upload a frame");
  // Throws for an invalid frame before the worker stores the frame. Otherwise, the worker would
  // compare the next frame with the invalid one.
  (void)guide_of(frame, params_.guided);
  if (params_.holes) (void)holes_of(frame);
  last_frame_ = frame;
  last_input_ ^= 1;
  Input& in = *inputs_[last_input_];
  cuda::check(cudaStreamWaitEvent(upload_stream_.get(), in.consumed.get()));
  in.raw.upload(frame, upload_stream_.get());
  if (params_.guided) in.guide.upload(frame, upload_stream_.get());
  cuda::check(cudaEventRecord(in.uploaded.get(), upload_stream_.get()));
}

FrameDifference FrameTransfer::difference() {
  return motion_.difference(inputs_[last_input_]->raw.planes(),
                            inputs_[last_input_ ^ 1]->raw.planes());
}

void FrameTransfer::load(int slot, const PlaneMargins& margins,
                         const std::array<float*, max_planes>& planes,
                         const std::array<float*, max_planes>& guide_planes) {
  Input& in = *inputs_[last_input_];
  const RawPlanes& matched_planes = (params_.guided ? in.guide.raw() : in.raw).planes();
  const FrameFormat& format = params_.guided ? in.guide.format() : format_;
  if (params_.scene_cut > 0) motion_.load_predicted(slot, matched_planes, format);
  copy_unfiltered_planes(slot);
  std::array<const Margins*, max_planes> layouts{};
  for (int i = 0; i < format_.planes(); ++i) layouts[i] = &margins[i];
  cuda::check(cudaStreamWaitEvent(compute_stream_.get(), in.uploaded.get()));
  in.raw.to_planes(layouts, planes, compute_stream_.get());
  if (params_.guided) in.guide.raw().to_planes(layouts, guide_planes, compute_stream_.get());
  store_original(in.raw, slot);
  motion_.load(slot, matched_planes, format);
  cuda::check(cudaEventRecord(in.consumed.get(), compute_stream_.get()));
}

void FrameTransfer::loaded() {
  // When the upload is complete, the caller of the session may release the frame.
  cuda::check(cudaStreamSynchronize(upload_stream_.get()));
  last_frame_ = {};
}

RawFrame& FrameTransfer::next_output() {
  Output& out = *outputs_[finished_ % max_results];
  cuda::check(cudaStreamWaitEvent(compute_stream_.get(), out.downloaded.get()));
  return out.raw;
}

void FrameTransfer::convert(const PlaneMargins& margins, const Planes& planes, RawFrame& to) {
  if (format_.layout == Layout::rgb)
    return to.from_opponents(margins[0], planes, compute_stream_.get());
  for (int i = 0; i < format_.planes(); ++i)
    if (changes(i)) to.from_plane(i, margins[i], planes[i], compute_stream_.get());
}

Frame FrameTransfer::finish(int slot) {
  const cuda::NvtxRange range("download a result");
  Output& out = *outputs_[finished_++ % max_results];
  Frame clean = clean_[slot].pixels ? std::exchange(clean_[slot], {}) : pool_.acquire();
  out.raw.restore(original(slot), compute_stream_.get());
  cuda::check(cudaEventRecord(out.ready.get(), compute_stream_.get()));
  cuda::check(cudaStreamWaitEvent(download_stream_.get(), out.ready.get()));
  for (int i = 0; i < format_.planes(); ++i)
    if (changes(i)) out.raw.download(i, clean, download_stream_.get());
  cuda::check(cudaEventRecord(out.downloaded.get(), download_stream_.get()));
  return cuda::publish_frame(std::move(clean));
}

void FrameTransfer::await() {
  const cuda::NvtxRange range("wait for the oldest result");
  cuda::check(cudaEventSynchronize(outputs_[awaited_++ % max_results]->downloaded.get()));
}

void FrameTransfer::copy_unfiltered_planes(int slot) {
  for (int i = 0; i < format_.planes(); ++i) {
    if (changes(i)) continue;
    Frame& clean = clean_[slot];
    if (!clean.pixels) clean = pool_.acquire();
    inputs_[last_input_]->raw.pass_through(i, last_frame_, clean, upload_stream_.get());
  }
}

/// Returns the uploaded float samples of a frame, for RawFrame::restore().
RawPlanes FrameTransfer::original(int slot) const {
  RawPlanes planes = inputs_[0]->raw.planes();
  for (int i = 0; i < format_.planes(); ++i) planes.data[i] = original_[i].at(slot);
  return planes;
}

void FrameTransfer::store_original(const RawFrame& raw, int slot) {
  if (format_.sample != SampleType::f32) return;
  for (int i = 0; i < format_.planes(); ++i)
    cuda::check(cudaMemcpyAsync(original_[i].at(slot), raw.planes().data[i], raw.plane_bytes(i),
                                cudaMemcpyDeviceToDevice, compute_stream_.get()));
}

}  // namespace lull::bm3d
