#pragma once
// The functions of cuFFT. lull loads the library when a session first uses the transform `dft`.

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

/// Returns the names of the cuFFT library in search order: names for the dynamic loader, then paths
/// in the folders of Python packages and CUDA toolkits. `own_path` is the path of the calling
/// program or library, and `toolkits` contains the root folders of CUDA toolkits.
[[nodiscard]] std::vector<std::string> cufft_candidates(const std::string& own_path,
                                                        const std::vector<std::string>& toolkits);

/// Loads the first of the libraries `candidates` that exists and has all required functions, and
/// never unloads it.
/// @throws DeviceUnavailable  no candidate has all required functions
[[nodiscard]] CufftFunctions load_cufft(const std::vector<std::string>& candidates);

/// Returns the functions of the cuFFT library. The first call loads the library. Thread-safe.
/// @throws DeviceUnavailable  cuFFT is not installed
[[nodiscard]] const CufftFunctions& cufft();

}  // namespace lull::bm3d
