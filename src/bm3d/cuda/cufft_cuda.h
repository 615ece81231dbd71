#pragma once
// The functions of cuFFT. lull loads the library when a session first uses the transform dft, so
// that programs do not need cuFFT for other transforms.

#include <cufft.h>

#include <string>
#include <vector>

namespace lull::bm3d {

struct CufftFunctions {
  decltype(&cufftPlanMany) plan_many = nullptr;
  decltype(&cufftSetStream) set_stream = nullptr;
  decltype(&cufftExecR2C) exec_r2c = nullptr;
  decltype(&cufftExecC2R) exec_c2r = nullptr;
  decltype(&cufftDestroy) destroy = nullptr;
};

/// Returns the names of the cuFFT library in the order in which lull tries them: plain names, which
/// the dynamic loader searches, then paths in the folders of Python packages and CUDA toolkits.
/// `own_path` is the path of the file that contains this code, which may be in a site-packages
/// folder with NVIDIA's packages. `toolkits` are the root folders of CUDA toolkits.
[[nodiscard]] std::vector<std::string> cufft_candidates(const std::string& own_path,
                                                        const std::vector<std::string>& toolkits);

/// Loads the first candidate that exists and has all functions. The library is never unloaded.
/// @throws DeviceUnavailable no candidate can be loaded
[[nodiscard]] CufftFunctions load_cufft(const std::vector<std::string>& candidates);

/// Returns the functions of the cuFFT of this machine. The first call loads the library. Any thread
/// may call this function.
/// @throws DeviceUnavailable cuFFT is not installed
[[nodiscard]] const CufftFunctions& cufft();

}  // namespace lull::bm3d
