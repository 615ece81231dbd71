#pragma once
// Shared parts of the tests of the C interface.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/frame.h"
#include "core/samples.h"
#include "lull.h"
#include "support/pictures.h"

namespace lull::test_support {

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Params = std::unique_ptr<lull_params, Freer<lull_params_free>>;
using Session = std::unique_ptr<lull_session, Freer<lull_session_close>>;
using Estimator = std::unique_ptr<lull_estimator, Freer<lull_estimator_close>>;
using NoiseHandle = std::unique_ptr<lull_noise, Freer<lull_noise_free>>;

using Settings = std::vector<std::pair<const char*, const char*>>;

/// Returns parameters for the CPU.
inline Params make_c_params(const Settings& settings) {
  lull_params* params = nullptr;
  EXPECT_EQ(lull_params_new(&params), LULL_OK);
  EXPECT_EQ(lull_params_set(params, "device", "cpu"), LULL_OK);
  for (const auto& [name, value] : settings)
    EXPECT_EQ(lull_params_set(params, name, value), LULL_OK) << lull_last_error();
  return Params(params);
}

inline lull_format c_format(int width, int height, std::int32_t layout = LULL_GREY,
                            std::int32_t sample = LULL_U8, std::int32_t content = LULL_PICTURES) {
  lull_format format{};
  format.size = sizeof(format);
  format.width = width;
  format.height = height;
  format.layout = layout;
  format.sample = sample;
  format.content = content;
  return format;
}

inline Session open_c_session(const lull_format& format, const Settings& settings,
                              const lull_session_options* options = nullptr) {
  lull_session* session = nullptr;
  const Params params = make_c_params(settings);
  EXPECT_EQ(lull_session_open(&format, params.get(), options, &session), LULL_OK)
      << lull_last_error();
  return Session(session);
}

/// Returns a frame of the C interface over the memory of a frame.
inline lull_frame c_frame(const Frame& frame) {
  lull_frame given{};
  given.size = sizeof(given);
  for (int i = 0; i < frame.format.planes(); ++i)
    given.planes[i] = {frame.planes[i].data, frame.planes[i].stride, 0};
  return given;
}

/// Returns a picture with texture and noise of standard deviation 15; planes differ.
inline Frame noisy_frame(const FrameFormat& format, unsigned seed = 1) {
  const Frame frame = make_frame(format);
  for (int i = 0; i < format.planes(); ++i) {
    const Plane<float> clean =
        texture_picture(format.plane_width(i), format.plane_height(i), i * 0.7);
    store_plane(with_noise(clean.view(), 15, seed + static_cast<unsigned>(i)).view(), frame, i);
  }
  return frame;
}

/// Filters one picture with a session of the C interface.
inline Frame denoised_in_c(const Frame& noisy, const Session& session) {
  const lull_frame from = c_frame(noisy);
  Frame clean = make_frame(noisy.format);
  lull_frame to = c_frame(clean);
  EXPECT_EQ(lull_push(session.get(), &from), LULL_OK) << lull_last_error();
  EXPECT_EQ(lull_drain(session.get(), &to), LULL_OK) << lull_last_error();
  EXPECT_EQ(lull_drain(session.get(), &to), LULL_NONE);
  return clean;
}

}  // namespace lull::test_support
