#include "bm3d/cuda/dft_cuda.h"

#include <algorithm>
#include <string>

#include "bm3d/cuda/cufft_cuda.h"
#include "core/error.h"

namespace lull::bm3d {
namespace {

void check(cufftResult status, const char* what) {
  if (status == CUFFT_SUCCESS) return;
  const std::string text = std::string("cuFFT: ") + what + " failed (status " +
                           std::to_string(static_cast<int>(status)) + ")";
  if (status == CUFFT_ALLOC_FAILED) throw OutOfDeviceMemory(text + "; use smaller batches");
  throw InternalError(text);
}

constexpr int slice_groups = 4096;  // with 32 members per group: 115 MB of patches and spectra

}  // namespace

DftFilter::Plan::Plan(cufftType type, int transforms, cudaStream_t stream) {
  int size[2] = {patch, patch};
  check(cufft().plan_many(&handle, 2, size, nullptr, 1, 0, nullptr, 1, 0, type, transforms),
        "planning");
  check(cufft().set_stream(handle, stream), "setting the stream");
}

DftFilter::Plan::~Plan() { (void)cufft().destroy(handle); }

DftFilter::DftFilter(const PhaseParams& phase, Phase which, cudaStream_t stream)
    : group_transform_(phase.group_transform),
      phase_(which),
      stream_(stream),
      patches_of_slice_(slice_groups * group_capacity(phase.matching())),
      forward_(CUFFT_R2C, patches_of_slice_, stream),
      inverse_(CUFFT_C2R, patches_of_slice_, stream) {
  const std::size_t patches = patches_of_slice_;
  patches_ = cuda::DeviceBuffer<float>(patches * patch * patch);
  spectra_ = cuda::DeviceBuffer<cufftComplex>(patches * spectrum_size);
  if (which == Phase::second)
    basic_spectra_ = cuda::DeviceBuffer<cufftComplex>(patches * spectrum_size);
  weights_ = cuda::DeviceBuffer<float>(slice_groups);
  // cuFFT also transforms the unused patches of a group, so their memory must contain valid floats.
  cuda::check(cudaMemsetAsync(patches_.get(), 0, patches_.bytes(), stream));
}

void DftFilter::transform_patches(const float* plane, const FilterArgs& args, const Slice& slice,
                                  cufftComplex* spectra) {
  gather_patches(plane, args, slice, patches_.get(), stream_);
  check(cufft().exec_r2c(forward_.handle, patches_.get(), spectra), "the transform");
}

void DftFilter::run(const FilterArgs& args, const Strength& strength) {
  const int groups = args.batch.tiles_x * args.batch.tiles_y * references_per_tile;
  for (Slice slice; slice.first < groups; slice.first += slice_groups) {
    slice.count = std::min(slice_groups, groups - slice.first);
    for (int i = 0; i < args.planes; ++i) {
      if (phase_ == Phase::second)
        transform_patches(args.basic[i], args, slice, basic_spectra_.get());
      transform_patches(args.noisy[i], args, slice, spectra_.get());
      filter_spectra(args, slice, group_transform_, args.sigma[i], strength, basic_spectra_.get(),
                     spectra_.get(), weights_.get(), stream_);
      check(cufft().exec_c2r(inverse_.handle, spectra_.get(), patches_.get()),
            "the inverse transform");
      scatter_patches(args, slice, args.sums[i], patches_.get(), weights_.get(), stream_);
    }
  }
}

}  // namespace lull::bm3d
