#pragma once
// Collaborative filtering with the 2D DFT by cuFFT (Honzatko's 2015 thesis), only for comparisons.

#include <cufft.h>

#include "bm3d/cuda/filter/kernels.h"
#include "cuda/handles.h"

namespace lull::bm3d {

/// The half spectrum of a real 8x8 patch: 8 rows of 5 coefficients.
inline constexpr int spectrum_columns = patch / 2 + 1;
inline constexpr int spectrum_size = patch * spectrum_columns;

/// A slice of a batch: consecutive groups. `first` is the index of the first group, and `count` is
/// the number of groups.
struct Slice {
  int first = 0, count = 0;
};

/// The DFT filter of one stream. The constructor makes the cuFFT plans and the buffers.
class DftFilter {
 public:
  /// @throws DeviceUnavailable  the device has too little memory, or cuFFT is not installed
  DftFilter(const PhaseParams& phase, Phase which, cudaStream_t stream);

  /// Filters one batch and adds the estimates to the sums, like filter_hard() and filter_wiener()
  /// for other transforms.
  void run(const FilterArgs& args, const Strength& strength);

 private:
  struct Plan {
    cufftHandle handle = 0;
    Plan(cufftType type, int transforms, cudaStream_t stream);
    ~Plan();
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;
  };

  void transform_patches(const float* plane, const FilterArgs& args, const Slice& slice,
                         cufftComplex* spectra);

  GroupTransform group_transform_;
  Phase phase_;
  cudaStream_t stream_;
  int patches_of_slice_;
  Plan forward_, inverse_;
  cuda::DeviceBuffer<float> patches_;
  cuda::DeviceBuffer<cufftComplex> spectra_, basic_spectra_;
  cuda::DeviceBuffer<float> weights_;
};

// ---- kernels (dft.cu) ----

void gather_patches(const float* plane, const FilterArgs& args, const Slice& slice, float* patches,
                    cudaStream_t stream);
/// Filters the spectra of each group in place; `basic` is null in the first phase.
void filter_spectra(const FilterArgs& args, const Slice& slice, GroupTransform group_transform,
                    float sigma, const Strength& strength, const cufftComplex* basic,
                    cufftComplex* spectra, float* weights, cudaStream_t stream);
void scatter_patches(const FilterArgs& args, const Slice& slice, const Sums& sums,
                     const float* patches, const float* weights, cudaStream_t stream);

}  // namespace lull::bm3d
