// Tests the quality of the profile `best` on pictures of Set12, with noise in float that is not
// clipped.

#include <gtest/gtest.h>

#include "bm3d/each_backend.h"
#include "io/media.h"
#include "support/sessions.h"

namespace lull::bm3d {
namespace {

struct Expected {
  const char* picture;
  float sigma;
  double decibels;  // measured on the cpu backend, minus 0.035
};
constexpr Expected expected[] = {
    {"01.png", 25, 29.60}, {"04.png", 10, 33.82}, {"07.png", 50, 26.06}};

TEST(LinearQuality, CpuReachesTheMeasuredQuality) {
  const auto data = data_folder();
  if (!data) GTEST_SKIP() << "LULL_TEST_DATA is not set; made pictures are tested in session_test";
  for (const auto& [picture, sigma, decibels] : expected) {
    const auto source = io::open_source((*data / "set12" / picture).string());
    const Plane<float> clean = plane_of(*source->read(), 0);
    const int width = clean.width(), height = clean.height();
    const FrameFormat format = gray(width, height, SampleType::f32, 32);
    const Frame noisy = make_frame(format);
    store_plane(with_noise(clean.view(), static_cast<double>(sigma)).view(), noisy, 0);
    const auto session =
        open(make_params(Profile::best, {sigma, sigma, sigma}), format, {.kind = BackendKind::cpu});
    const Frame result = run_clip(*session, {noisy}).at(0);
    EXPECT_GT(psnr(plane_of(result, 0).view(), clean.view()), decibels)
        << picture << ", sigma " << sigma;
  }
}

}  // namespace
}  // namespace lull::bm3d
