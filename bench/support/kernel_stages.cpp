#include "bench/support/kernel_stages.h"

#include <algorithm>

#include "bm3d/kaiser.h"
#include "core/error.h"
#include "core/round_up.h"
#include "cuda/shared_memory.h"
#include "match/guide.h"

namespace lull::bench {
namespace {

using namespace bm3d;

/// Returns a batch that covers the complete picture for any picture size. The stages are timed
/// separately, so each stage needs the complete output of the previous one.
Batch complete_batch(const ReferenceGrid& grid) {
  const auto tiles = [](int references) {
    return (references + reference_tile_side - 1) / reference_tile_side;
  };
  return {0, 0, tiles(grid.count_x), tiles(grid.count_y)};
}

template <class T>
cuda::DeviceBuffer<T> zeroed(std::size_t size) {
  cuda::DeviceBuffer<T> buffer(size);
  cuda::check(cudaMemset(buffer.get(), 0, buffer.bytes()));
  return buffer;
}

}  // namespace

KernelStages::KernelStages(const Params& params, const Frame& noisy,
                           const cuda::DeviceLimits& device)
    : device_(device) {
  const FrameFormat& format = noisy.format;
  if (format.layout != Layout::gray)
    throw InvalidArgument("the frame has several planes (kernels are timed on a grey one)");
  if (params.hard.transform == Transform::dft || params.wiener.transform == Transform::dft)
    throw InvalidArgument(
        "the DFT is not supported (most of its time is spent in cuFFT); choose dct or bior");
  stream_ = cuda::make_stream();
  margins_ = Margins(format.width, format.height,
                     std::max(params.hard.window, params.wiener.window), patch);
  const int pitch = round_up(format.width * format.bytes_per_sample(), 64);
  samples_ = cuda::DeviceBuffer<std::byte>(static_cast<std::size_t>(pitch) * format.height);
  raw_ = RawPlanes(format);
  raw_.data[0] = samples_.get();
  raw_.pitch[0] = pitch;
  cuda::check(cudaMemcpy2D(samples_.get(), pitch, noisy.planes[0].data, noisy.planes[0].stride,
                           noisy.planes[0].width, format.height, cudaMemcpyHostToDevice));
  for (auto* plane : {&noisy_, &basic_, &result_}) *plane = zeroed<float>(margins_.size());
  guide_ = zeroed<std::uint8_t>(margins_.size());
  half_norms_ = zeroed<std::int32_t>(margins_.size());
  numerator_ = zeroed<unsigned long long>(margins_.size());
  denominator_ = zeroed<std::uint32_t>(margins_.size());
  std::size_t references = 0, max_displacements = 0;
  for (const PhaseParams* phase : {&params.hard, &params.wiener}) {
    const Batch batch = complete_batch(ReferenceGrid(format.width, format.height, phase->step));
    const std::size_t count =
        static_cast<std::size_t>(references_per_tile) * batch.tiles_x * batch.tiles_y;
    references = std::max(references, count);
    max_displacements = std::max(max_displacements, count * group_capacity(phase->matching()));
  }
  displacements_ = cuda::DeviceBuffer<std::uint32_t>(max_displacements);
  log2_counts_ = cuda::DeviceBuffer<std::uint8_t>(references);

  hard_covariances_ = Covariances(params.noise, params.hard.transform, stream_.get());
  wiener_covariances_ = Covariances(params.noise, params.wiener.transform, stream_.get());

  add_load();
  add_phase("first",
            {params.hard,
             plan_match(params.hard.matching(), device),
             {noisy_.get()},
             nullptr,
             basic_.get(),
             {params.lambda, params.lambda_mean},
             &hard_covariances_,
             distance_bias({{0}}, format, params.noise)},
            params.noise.sigma(0));
  if (params.phases == 2)
    add_phase("second",
              {params.wiener,
               plan_match(params.wiener.matching(), device),
               {basic_.get(), noisy_.get(), params.guide_noise},
               basic_.get(),
               result_.get(),
               {params.mu2},
               &wiener_covariances_,
               nullptr},
              params.noise.sigma(0));
  add_store(params.phases == 2 ? result_.get() : basic_.get());
  cuda::check(cudaDeviceSynchronize());
}

void KernelStages::add_load() {
  stages_.push_back({"samples_to_planes", 0, [this] {
                       samples_to_planes(raw_, 0, 1, Colour::as_is, margins_, {noisy_.get()},
                                         stream_.get());
                     }});
}

void KernelStages::add_store(const float* estimate) {
  stages_.push_back({"planes_to_samples", 0, [this, estimate] {
                       planes_to_samples({estimate}, 0, 1, Colour::as_is, margins_, raw_,
                                         stream_.get());
                     }});
}

void KernelStages::add_phase(const std::string& name, const PhaseSetup& setup, float sigma) {
  FilterArgs args;
  args.noisy[0] = noisy_.get();
  args.basic[0] = setup.basic;
  args.sums[0] = {numerator_.get(), denominator_.get()};
  args.sigma[0] = sigma;
  args.margins = margins_;
  args.grid = ReferenceGrid(margins_.width, margins_.height, setup.params.step);
  args.batch = complete_batch(args.grid);
  args.groups = {displacements_.get(), log2_counts_.get(), group_capacity(setup.params.matching())};
  args.window = kaiser_window(setup.params.kaiser);
  const float scale = std::min(1.0f, max_guide_scale(setup.params.tau));
  const Guide guide{guide_.get(), half_norms_.get(), scale};
  const std::int64_t references = std::int64_t{args.grid.count_x} * args.grid.count_y;

  stages_.push_back({name + "/guide", 0, [this, setup, guide, args] {
                       make_guide_and_clear_sums(setup.guide, margins_, guide.scale, guide.offset,
                                                 guide_.get(), half_norms_.get(), {1, args.sums},
                                                 stream_.get());
                     }});
  stages_.push_back({name + "/match", references, [this, setup, guide, args] {
                       MatchParams matching = setup.params.matching();
                       matching.bias = setup.bias.get();
                       match(guide, margins_, args.grid, args.batch, matching, setup.plan,
                             args.groups, stream_.get());
                     }});
  stages_.push_back({name + "/filter", references, [this, setup, args] {
                       (setup.basic == nullptr ? filter_hard : filter_wiener)(
                           args, setup.params, setup.strength, stream_.get(), device_,
                           {setup.covariances->of(0)});
                     }});
  stages_.push_back({name + "/normalise", 0, [this, setup, args] {
                       normalise({1, args.sums, {noisy_.get()}, {setup.estimate}}, margins_,
                                 args.window, stream_.get());
                     }});
}

}  // namespace lull::bench
