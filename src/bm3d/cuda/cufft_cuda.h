#pragma once
// The functions of cuFFT. The library is loaded when a session first uses the transform dft, so
// that lull does not link to it.

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

/// Returns the names under which the library is searched, in this order: first plain names, which
/// LD_LIBRARY_PATH and the cache of the dynamic loader resolve, then paths in the folders of Python
/// packages and CUDA toolkits. `own_path`: path of the file that contains this code. If this file
/// is in a site-packages folder of Python, NVIDIA's packages are next to it. `toolkits`: root
/// folders of CUDA toolkits.
[[nodiscard]] std::vector<std::string> cufft_candidates(const std::string& own_path,
                                                        const std::vector<std::string>& toolkits);

/// Loads the first candidate that exists and has all functions. The library stays loaded.
/// @throws DeviceUnavailable no candidate can be loaded
[[nodiscard]] CufftFunctions load_cufft(const std::vector<std::string>& candidates);

/// Returns the functions of the cuFFT of this machine. The first call loads the library. Any thread
/// may call this function.
/// @throws DeviceUnavailable cuFFT is not installed
[[nodiscard]] const CufftFunctions& cufft();

}  // namespace lull::bm3d
