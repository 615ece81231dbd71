#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bm3d/cuda/cufft_cuda.h"
#include "core/error.h"

namespace lull::bm3d {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const std::string own_version = "libcufft.so." + std::to_string(CUFFT_VER_MAJOR);

std::size_t position(const std::vector<std::string>& candidates, const std::string& name) {
  return std::find(candidates.begin(), candidates.end(), name) - candidates.begin();
}

TEST(CufftLoader, TriesTheVersionOfTheHeadersFirst) {
  const auto candidates = cufft_candidates("/usr/bin/lull", {"/opt/cuda"});
  ASSERT_FALSE(candidates.empty());
  EXPECT_EQ(candidates.front(), own_version);
  EXPECT_THAT(candidates, Contains("libcufft.so.11"));
  EXPECT_THAT(candidates, Contains("libcufft.so.12"));
}

TEST(CufftLoader, FindsTheLibraryOfAToolkit) {
  EXPECT_THAT(cufft_candidates("/usr/bin/lull", {"/opt/cuda"}),
              Contains("/opt/cuda/lib64/" + own_version));
}

TEST(CufftLoader, FindsPackagesThatShareASitePackagesFolder) {
  const std::string site = "/home/user/venv/lib/python3.12/site-packages";
  for (const std::string module : {"/lull/_core.abi3.so", "/vapoursynth/plugins/lull/liblull.so"}) {
    const auto candidates = cufft_candidates(site + module, {"/opt/cuda"});
    EXPECT_THAT(candidates, Contains(site + "/nvidia/cufft/lib/libcufft.so.11"));
    EXPECT_THAT(candidates, Contains(site + "/nvidia/cu13/lib/libcufft.so.12"));
    EXPECT_LT(position(candidates, site + "/nvidia/cufft/lib/" + own_version),
              position(candidates, "/opt/cuda/lib64/" + own_version));
  }
}

TEST(CufftLoader, IgnoresFoldersOfOtherPrograms) {
  for (const std::string& candidate : cufft_candidates("/tmp/a/b/c/lull", {"/opt/cuda"}))
    EXPECT_THAT(candidate, Not(HasSubstr("/tmp")));
}

TEST(CufftLoader, NamesTheMissingLibrary) {
  // The C library can be loaded, but it contains none of cuFFT's functions.
  for (const std::string candidate : {"libno-such-cufft.so.1", "libc.so.6"}) try {
      (void)load_cufft({candidate});
      ADD_FAILURE() << "loaded " << candidate;
    } catch (const DeviceUnavailable& error) {
      EXPECT_THAT(error.what(), HasSubstr(own_version));
      EXPECT_THAT(error.what(), HasSubstr("another transform"));
    }
}

}  // namespace
}  // namespace lull::bm3d
