#include "bm3d/cuda/cufft_cuda.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>

#include "core/error.h"

namespace lull::bm3d {
namespace {

// Versions of cuFFT with the function signatures that lull uses.
constexpr int known_versions[] = {CUFFT_VER_MAJOR, 12, 11};

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

template <class Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool find_functions(void* library, CufftFunctions& functions) {
  return find_function(library, "cufftPlanMany", functions.plan_many) &&
         find_function(library, "cufftSetStream", functions.set_stream) &&
         find_function(library, "cufftExecR2C", functions.exec_r2c) &&
         find_function(library, "cufftExecC2R", functions.exec_c2r) &&
         find_function(library, "cufftDestroy", functions.destroy);
}

/// Returns the folders of NVIDIA's cuFFT packages from PyPI. These packages are in the
/// site-packages folder that contains `own_path`. If there is no such folder, the result is empty.
std::vector<std::string> python_package_folders(const std::filesystem::path& own_path) {
  std::filesystem::path folder = own_path.parent_path();
  while (folder.has_relative_path()) {
    if (folder.filename() == "site-packages" || folder.filename() == "dist-packages")
      return {folder / "nvidia/cufft/lib", folder / "nvidia/cu13/lib"};
    folder = folder.parent_path();
  }
  return {};
}

/// Returns the path of the program or shared library that contains this code.
std::string find_own_path() {
  Dl_info info{};
  const bool found = dladdr(reinterpret_cast<const void*>(&find_own_path), &info) != 0;
  std::error_code error;
  const auto path =
      std::filesystem::canonical(found && info.dli_fname ? info.dli_fname : "", error);
  return error ? std::string() : path.string();
}

std::vector<std::string> find_toolkits() {
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable); root && *root) roots.push_back(root);
  roots.push_back("/usr/local/cuda");
  return roots;
}

}  // namespace

std::vector<std::string> cufft_candidates(const std::string& own_path,
                                          const std::vector<std::string>& toolkits) {
  std::vector<std::string> folders = python_package_folders(own_path);
  for (const std::string& root : toolkits)
    for (const char* library_folder : {"/lib64", "/lib"}) folders.push_back(root + library_folder);
  std::vector<std::string> candidates;
  std::set<int> seen;
  for (const int version : known_versions) {
    if (!seen.insert(version).second) continue;
    const std::string name = "libcufft.so." + std::to_string(version);
    candidates.push_back(name);
    for (const std::string& folder : folders) candidates.push_back(folder + "/" + name);
  }
  return candidates;
}

CufftFunctions load_cufft(const std::vector<std::string>& candidates) {
  for (const std::string& candidate : candidates) {
    Library library(dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL));
    CufftFunctions functions;
    if (!library || !find_functions(library.get(), functions)) continue;
    (void)library.release();  // the library stays loaded, because plans may outlive any owner
    return functions;
  }
  throw DeviceUnavailable(
      "no cuFFT for the transform dft (this machine has none of libcufft.so." +
      std::to_string(CUFFT_VER_MAJOR) +
      " and its predecessors); install it with the CUDA toolkit or as nvidia-cufft from PyPI, put "
      "its folder into LD_LIBRARY_PATH, or choose another transform");
}

const CufftFunctions& cufft() {
  static const CufftFunctions functions =
      load_cufft(cufft_candidates(find_own_path(), find_toolkits()));
  return functions;
}

}  // namespace lull::bm3d
